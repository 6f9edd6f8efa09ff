package predictions

import (
	"strconv"

	"github.com/dsp-go/dsp/structured"
)

// transcriptLayout writes a line for each example, as in a file lines.txt: the name of the example, if it has one, a
// tab, and the string. With scores, another tab and the probability of the string follow. N best strings have a line
// each.
type transcriptLayout struct {
	names *structured.Alphabet
	o     Options
}

// transcriptJSONLayout writes an object for each example: id, text, symbols, score, probability, and nbest [{text,
// symbols, score, probability}, …] and samples [[symbols], …] where they are asked for.
type transcriptJSONLayout struct{ transcriptLayout }

// Transcripts is the layout of strings, as objects of JSON or as lines of text.
func Transcripts(names *structured.Alphabet, o Options, asJSON bool) Layout {
	l := transcriptLayout{names, o}
	if asJSON {
		return &transcriptJSONLayout{l}
	}
	return &l
}

func (l *transcriptLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	outputs := p.NBest
	if l.o.NBest == 0 {
		outputs = []Output{p.Output}
	}
	for k := range outputs {
		if d.IDs != nil && d.IDs[i] != "" {
			text = append(append(text, d.IDs[i]...), '\t')
		}
		text = append(text, l.text(outputs[k].Labels)...)
		if l.o.Probability || l.o.NBest > 0 {
			text = strconv.AppendFloat(append(text, '\t'), outputs[k].Probability, 'g', 6, 64)
		}
		text = append(text, '\n')
	}
	return text, -1
}

// text joins the symbols of a string.
func (l *transcriptLayout) text(y []int32) string {
	text := []byte{}
	for k, s := range y {
		if k > 0 && l.o.Spaced {
			text = append(text, ' ')
		}
		text = append(text, l.names.Name(s)...)
	}
	return string(text)
}

func (l *transcriptJSONLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	text, number := appendID(text, d, i)
	text = l.output(append(text, ','), &p.Output)
	if l.o.NBest > 0 {
		text = append(text, `,"nbest":`...)
		text = list(text, len(p.NBest), func(text []byte, k int) []byte {
			return append(l.output(append(text, '{'), &p.NBest[k]), '}')
		})
	}
	text = appendQuestions(text, l.o, p, l.symbols)
	return append(appendUncalibrated(text, l.o), "}\n"...), number
}

// output appends the members of a string.
func (l *transcriptJSONLayout) output(text []byte, o *Output) []byte {
	text = append(append(text, `"text":`...), quoted(l.text(o.Labels))...)
	return appendScores(l.symbols(append(text, `,"symbols":`...), o.Labels), o)
}

// symbols appends the symbols of a string.
func (l *transcriptJSONLayout) symbols(text []byte, y []int32) []byte {
	return list(text, len(y), func(text []byte, k int) []byte { return append(text, quoted(l.names.Name(y[k]))...) })
}
