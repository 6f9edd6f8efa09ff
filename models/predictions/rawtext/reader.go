// Package rawtext predicts for raw text, which it splits into sentences and tokens itself.
package rawtext

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// Reader makes the data of a model from sentences of raw text. It serves many goroutines at once.
type Reader struct {
	model   *models.Model
	trees   bool
	columns []inputs.Column
}

// NewReader returns the reader of a model. A model that does not read words is bad input, and so is one that reads
// other columns unless taggers fill them (models.Model.TagFirst).
func NewReader(m *models.Model) (*Reader, error) {
	c := &m.Config
	task := tasks.Of(c)
	columns, err := m.Columns(c, m.Width)
	if err != nil {
		return nil, err
	}
	r := &Reader{model: m, columns: columns, trees: formats.Find(task.FileFormat).Trees && !task.Labels}
	switch {
	case !task.Labels && !r.trees:
		return nil, structured.BadInput("raw text is for models that tag or parse words; --task %s predicts %s", c.Task,
			task.Outputs)
	case formats.Find(c.Format).Numbered:
		return nil, structured.BadInput("raw text: the model reads attributes that another program made (--format %s), not "+
			"words; train one on columns, whose attributes dsp makes", c.Format)
	case m.Given(m.Dim) > 0 && len(columns) > 0:
		return nil, structured.BadInput("raw text: the model reads %d dense features of each token beside its words, which "+
			"raw text does not have; give tokens, one per line, and --dense", m.Given(m.Dim))
	case len(columns) == 0:
		return nil, structured.BadInput("raw text: the model reads dense features, not words")
	}
	read, missing := r.missing()
	missing = slices.DeleteFunc(missing, func(name string) bool { return m.Tags(name) || r.trees && m.Tags("upos") })
	if !read || len(missing) > 0 {
		what := strings.Join(missing, ", ")
		if what == "" {
			return nil, structured.BadInput("raw text: the model has no column called %s", text.WordColumn)
		}
		noun, advice := "column", "--tagger MODEL"
		if len(missing) > 1 {
			noun, advice = "columns", "--tagger COLUMN=MODEL"
		}
		if r.trees {
			advice = "--tagger MODEL of upos; the others may then be empty"
		}
		return nil, structured.BadInput("raw text: the model reads the %s %s beside the words, which raw text does not "+
			"have; have other models make them (%s), give "+
			"such columns, one token per line, or train a model on the words alone", noun, what, advice)
	}
	return r, nil
}

// missing returns whether the words are a column, and the other columns that the model reads.
func (r *Reader) missing() (words bool, others []string) {
	for k, c := range r.columns {
		switch {
		case c.Name == text.WordColumn:
			words = true
		case c.Read && c.Name == "":
			others = append(others, strconv.Itoa(k))
		case c.Read:
			others = append(others, c.Name)
		}
	}
	return words, others
}

// dataset makes a data set of sentences, at least one, without the inputs of the network; taggers fill columns that are
// empty. Ranges count from character start.
func (r *Reader) dataset(all []tokens.Sentence, runes []rune, start int, name string) (*structured.Dataset, error) {
	d := &structured.Dataset{Name: name, Offsets: []int{0}}
	if r.trees {
		b, err := treebank.Reader{Names: r.model.Labels, Unlabeled: true,
			Threads: 1}.Read(bytes.NewReader(conllu(all, runes, start)), name)
		if err != nil {
			return nil, err
		}
		d = b.Dataset()
		d.Lines = nil
	} else {
		for _, s := range all {
			d.Offsets = append(d.Offsets, d.Positions()+len(s.Tokens))
		}
		for _, c := range r.columns {
			d.ColumnNames = append(d.ColumnNames, c.Name)
			column := make([]string, d.Positions())
			if c.Name == text.WordColumn {
				column = words(all)
			}
			d.Columns = append(d.Columns, column)
		}
	}
	for _, s := range all {
		for _, t := range s.Tokens {
			d.Ranges = append(d.Ranges, [2]int64{int64(start + t.Start), int64(start + t.End)})
		}
	}
	return d, nil
}

func words(all []tokens.Sentence) []string {
	var column []string
	for _, s := range all {
		for _, t := range s.Tokens {
			column = append(column, t.Text)
		}
	}
	return column
}

// conllu writes sentences in CoNLL-U, with their text in a comment, and SpaceAfter=No and TokenRange in the last
// column.
func conllu(all []tokens.Sentence, runes []rune, start int) []byte {
	var to []byte
	for _, s := range all {
		to = append(to, "# text = "...)
		for t, token := range s.Tokens {
			if t > 0 && s.Tokens[t-1].End < token.Start {
				to = append(to, ' ')
			}
			to = append(to, token.Text...)
		}
		to = append(to, '\n')
		for t, token := range s.Tokens {
			to = append(strconv.AppendInt(to, int64(t+1), 10), '\t')
			to = append(append(to, token.Text...), "\t_\t_\t_\t_\t_\t_\t_\t"...)
			if touches(s.Tokens, t, runes) {
				to = append(to, "SpaceAfter=No|"...)
			}
			to = strconv.AppendInt(append(to, "TokenRange="...), int64(start+token.Start), 10)
			to = append(strconv.AppendInt(append(to, ':'), int64(start+token.End), 10), '\n')
		}
		to = append(to, '\n')
	}
	return to
}

// touches reports whether no white space follows token t of a sentence.
func touches(s []tokens.Token, t int, runes []rune) bool {
	if t+1 < len(s) {
		return s[t+1].Start == s[t].End
	}
	return s[t].End < len(runes) && !tokens.Invisible(runes[s[t].End])
}
