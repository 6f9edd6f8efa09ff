package predictions

import (
	"strconv"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// spanLayout writes the entities of each sequence under a line "# name": a line for each, with tabs between type, first
// and last token (from 0), where it starts and ends in the text in characters (_ if unknown), its probability and its
// text. An empty line ends the sequence.
type spanLayout struct{ types *structured.Alphabet }

// SpanLines is the layout of entities as lines of text. The labels must be entity tags.
func SpanLines(labels *structured.Alphabet) Layout {
	return &spanLayout{chains.NewEntities(labels).Types()}
}

func (l *spanLayout) Add(to []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	to, number := append(to, "# "...), -1
	if d.IDs != nil && d.IDs[i] != "" {
		to = append(to, d.IDs[i]...)
	} else {
		number = len(to)
	}
	to = append(to, '\n')
	places := text.PlacesOf(d, i)
	for _, s := range p.Spans {
		to = append(append(to, l.types.Name(s.Type)...), '\t')
		to = append(strconv.AppendInt(to, int64(s.First), 10), '\t')
		to = append(strconv.AppendInt(to, int64(s.Last), 10), '\t')
		if start, end, ok := places.Range(s.First, s.Last); ok {
			to = append(strconv.AppendInt(to, int64(start), 10), '\t')
			to = append(strconv.AppendInt(to, int64(end), 10), '\t')
		} else {
			to = append(to, "_\t_\t"...)
		}
		to = append(strconv.AppendFloat(to, s.Probability, 'f', 6, 64), '\t')
		to = append(append(to, places.Text(s.First, s.Last)...), '\n')
	}
	return append(to, '\n'), number
}

// appendSpans appends the member "spans": an array of objects with type, first, last, start and end if they are known,
// text and probability.
func appendSpans(to []byte, d *structured.Dataset, i int, p *Prediction, types [][]byte) []byte {
	places := text.PlacesOf(d, i)
	return list(append(to, `,"spans":`...), len(p.Spans), func(to []byte, k int) []byte {
		s := &p.Spans[k]
		to = append(append(to, `{"type":`...), types[s.Type]...)
		to = strconv.AppendInt(append(to, `,"first":`...), int64(s.First), 10)
		to = strconv.AppendInt(append(to, `,"last":`...), int64(s.Last), 10)
		if start, end, ok := places.Range(s.First, s.Last); ok {
			to = strconv.AppendInt(append(to, `,"start":`...), int64(start), 10)
			to = strconv.AppendInt(append(to, `,"end":`...), int64(end), 10)
		}
		if words := places.Text(s.First, s.Last); words != "" {
			to = append(append(to, `,"text":`...), quoted(words)...)
		}
		return append(appendProbability(to, s.Probability), '}')
	})
}
