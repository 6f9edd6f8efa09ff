package predictions

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// jsonLayout is the layout of predictions as objects of JSON.
type jsonLayout struct {
	namer namer
	names [][]byte // of the labels, in quotes
	types [][]byte // of entities, in quotes
	o     Options
}

// JSON is the layout of labels as an object per line.
func JSON(labels *structured.Alphabet, o Options) Layout { return newJSONLayout(labels, o) }

func newJSONLayout(labels *structured.Alphabet, o Options) *jsonLayout {
	j := &jsonLayout{o: o, namer: newNamer(labels, o)}
	for _, name := range labels.Names() {
		j.names = append(j.names, quoted(name))
	}
	if rules := chains.NewEntities(labels); rules != nil {
		for _, name := range rules.Types().Names() {
			j.types = append(j.types, quoted(name))
		}
	}
	return j
}

func quoted(text string) []byte {
	var b bytes.Buffer
	encode := json.NewEncoder(&b)
	encode.SetEscapeHTML(false)
	_ = encode.Encode(text) // of a text: no error
	return bytes.TrimRight(b.Bytes(), "\n")
}

func (j *jsonLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	text, number := appendID(text, d, i)
	text = appendBound(j.output(append(text, ','), &p.Output), p)
	if j.o.NBest > 0 {
		text = append(text, `,"nbest":`...)
		text = list(text, len(p.NBest), func(text []byte, k int) []byte {
			return append(j.output(append(text, '{'), &p.NBest[k]), '}')
		})
	}
	text = appendQuestions(text, j.o, p, j.labels)
	// An infinite margin, of a label that no output has or all have, is null.
	if p.Margins != nil {
		return append(j.perLabel(text, p, "label_margins", "margins", appendFinite), "}\n"...), number
	}
	text = j.perLabel(text, p, "confidence", "marginals", appendFloat)
	if j.o.Spans {
		text = appendSpans(text, d, i, p, j.types)
	}
	return j.end(text), number
}

// end ends an object, which says so if its probabilities are uncalibrated.
func (j *jsonLayout) end(text []byte) []byte { return append(appendUncalibrated(text, j.o), "}\n"...) }

// appendUncalibrated appends that probabilities are uncalibrated, if they are.
func appendUncalibrated(text []byte, o Options) []byte {
	if o.Uncalibrated {
		text = append(text, `,"calibrated":false`...)
	}
	return text
}

// perLabel appends, if they are asked for, the values of the predicted labels [V] under the key chosen, and the values
// of all labels [V×Y] under the key all. Tags that are not the model's labels come with their names, in the order of
// the values.
func (j *jsonLayout) perLabel(text []byte, p *Prediction, chosen, all string,
	number func(text []byte, x float32) []byte) []byte {
	of, labels := j.namer.shares(p), p.Labels
	if j.o.Confidence {
		names := j.namer.names(labels)
		text = append(append(append(text, `,"`...), chosen...), `":`...)
		text = list(text, len(labels), func(text []byte, t int) []byte { return number(text, of.at(t, labels[t], names[t])) })
	}
	if j.o.Marginals {
		text = append(append(append(text, `,"`...), all...), `":`...)
		text = list(text, len(labels), func(text []byte, t int) []byte {
			return list(text, of.names.Len(), func(text []byte, l int) []byte { return number(text, of.row(t)[l]) })
		})
		if of.tags {
			text = append(text, `,"tags":`...)
			text = list(text, of.names.Len(), func(text []byte, l int) []byte {
				return append(text,
					quoted(of.names.Name(int32(l)))...)
			})
		}
	}
	return text
}

// appendID begins an object with the name of example i; number is where in the text its number belongs, −1 where it has
// a name.
func appendID(text []byte, d *structured.Dataset, i int) (longer []byte, number int) {
	text = append(text, `{"id":`...)
	if d.IDs != nil && d.IDs[i] != "" {
		return append(text, quoted(d.IDs[i])...), -1
	}
	text = append(text, '"')
	return append(text, '"'), len(text)
}

// output appends the members of an output.
func (j *jsonLayout) output(text []byte, o *Output) []byte {
	return appendScores(j.labels(append(text, `"labels":`...), o.Labels), o)
}

// labels appends the names of a sequence of labels.
func (j *jsonLayout) labels(text []byte, labels []int32) []byte {
	if j.namer.convert != nil {
		names := j.namer.names(labels)
		return list(text, len(names), func(text []byte, t int) []byte { return append(text, quoted(names[t])...) })
	}
	return list(text, len(labels), func(text []byte, t int) []byte { return append(text, j.names[labels[t]]...) })
}

// appendQuestions appends, where they are asked for, the entropy of the outputs, and samples of them as output appends
// each.
func appendQuestions(text []byte, o Options, p *Prediction, output func(text []byte, y []int32) []byte) []byte {
	if o.Entropy {
		text = strconv.AppendFloat(append(text, `,"entropy":`...), p.Entropy, 'g', -1, 64)
	}
	if o.Samples > 0 {
		text = list(append(text, `,"samples":`...), len(p.Samples),
			func(text []byte, k int) []byte { return output(text, p.Samples[k]) })
	}
	return text
}

// appendScores appends the score and the probability of an output.
func appendScores(text []byte, o *Output) []byte {
	text = strconv.AppendFloat(append(text, `,"score":`...), o.Score, 'g', -1, 64)
	return appendProbability(text, o.Probability)
}

// list appends an array of n elements.
func list(text []byte, n int, element func(text []byte, k int) []byte) []byte {
	text = append(text, '[')
	for k := range n {
		if k > 0 {
			text = append(text, ',')
		}
		text = element(text, k)
	}
	return append(text, ']')
}

func appendFloat(text []byte, x float32) []byte {
	return strconv.AppendFloat(text, float64(x), 'g', -1, 32)
}

// LeftOutJSON returns the object of an example that is bad, with the reason as its error, and the place of its number
// in it.
func LeftOutJSON(reason string) (text []byte, number int) {
	text = []byte(`{"id":"`)
	number = len(text)
	return append(append(append(text, `","error":`...), quoted(reason)...), "}\n"...), number
}
