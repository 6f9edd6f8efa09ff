package pipelines

import (
	"embed"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/edits"
)

//go:embed templates/*.template
var stageTemplates embed.FS

// A stage learns one step from text to trees. It is an ordinary model of --task tag or, the last one, of --task parse.
type stage struct {
	name     string // its folder, and the name of its template
	field    int    // of the words that it fills; -1 for those that make words, and trees
	settings func(c *config.Config)
	rows     bool // it reads the rows of an encoder, if there is one

	// table returns what the stage reads of sentences; with gold, which are the same sentences, it has labels.
	table func(seen, gold []conllu.Sentence) *table
	// simplify rewrites labels of the table that the stage learns from; nil if it learns all. Rare ones it takes away,
	// which a table to compare with keeps; what it only writes in another way, it writes so there, too.
	simplify func(t, compared *table)
	// fill writes the labels of a table of these sentences into them.
	fill func(sentences []conllu.Sentence, labels []string)
}

// The names of the stages.
const (
	charactersStage = "characters"
	wordsStage      = "words"
	upos            = "upos"
	xpos            = "xpos"
	feats           = "feats"
	lemma           = "lemma"
	treesStage      = "trees"
)

// tagStages are the stages that fill a field of words, in their order: each reads what those before it filled.
var tagStages = []stage{
	{name: upos, field: conllu.UPOS, rows: true, table: fieldTable(conllu.UPOS), fill: fillField(conllu.UPOS)},
	{name: xpos, field: conllu.XPOS, settings: independent, rows: true, table: fieldTable(conllu.XPOS, conllu.UPOS),
		fill: fillField(conllu.XPOS)},
	{name: feats, field: conllu.Feats, settings: many, rows: true,
		table: fieldTable(conllu.Feats, conllu.UPOS, conllu.XPOS), fill: fillField(conllu.Feats)},
	{name: lemma, field: conllu.Lemma, settings: scripts, table: lemmaTable, simplify: dropRareScripts, fill: fillLemma},
}

// independent leaves out the scores of neighbouring labels: they are many, and the labels of the stages before say what
// the neighbours are. What sdca remembers of an example grows with the square of the number of labels; bcpfw remembers
// labels.
func independent(c *config.Config) {
	c.Edges, c.Loss, c.Method = "none", "hinge", "bcpfw"
	// with the default, a few passes end far from the optimum, and more tags are wrong (docs/guide/pipelines.md)
	c.MinCount, c.Reg = 2, 40
}

// many is for stages with hundreds of labels: an attribute has a weight for each of them, so rare attributes are left
// out, too.
func many(c *config.Config) {
	independent(c)
	c.MinCount = 4
}

// scripts is for lemmas, for which regularising more was not better.
func scripts(c *config.Config) {
	many(c)
	c.Reg = config.Default().Reg
}

// template returns the text of a stage's template.
func template(name string) string {
	text, err := stageTemplates.ReadFile("templates/" + name + ".template")
	if err != nil {
		panic(err) // the files are embedded, so this cannot fail
	}
	return string(text)
}

// fieldTable returns the function that makes tables of a field as the label, which is learned from the form and other
// fields.
func fieldTable(label int, read ...int) func(seen, gold []conllu.Sentence) *table {
	return func(seen, gold []conllu.Sentence) *table {
		t := wordTable(seen, read...)
		for i := range gold {
			for k := range gold[i].Words {
				t.labels = append(t.labels, gold[i].Words[k].Fields[label])
			}
		}
		return t
	}
}

// wordTable returns a table with a position for each word: its form as models see it, and some fields.
func wordTable(seen []conllu.Sentence, read ...int) *table {
	names := []string{"word"}
	for _, field := range read {
		names = append(names, conllu.FieldNames[field])
	}
	t := newTable(names...)
	cells := make([]string, len(names))
	for i := range seen {
		for k := range seen[i].Words {
			fields := &seen[i].Words[k].Fields
			cells[0] = characters.Seen(fields[conllu.Form])
			for c, field := range read {
				cells[c+1] = fields[field]
			}
			t.add(cells...)
		}
		t.end()
	}
	return t
}

func fillField(field int) func(sentences []conllu.Sentence, labels []string) {
	return func(sentences []conllu.Sentence, labels []string) {
		each(sentences, labels, func(w *conllu.Word, label string) { w.Fields[field] = label })
	}
}

// each hands the words of sentences with their labels to set.
func each(sentences []conllu.Sentence, labels []string, set func(w *conllu.Word, label string)) {
	at := 0
	for i := range sentences {
		for k := range sentences[i].Words {
			set(&sentences[i].Words[k], labels[at])
			at++
		}
	}
}

// fewest is how often a script must make lemmas to be a label. Rarer ones are of names and slips.
const fewest = 2

// asWritten is the script of lemmas that are the form itself.
var asWritten = edits.Lemma("X", "X").String()

// written is the label of lemmas that are the form with its invisible characters, which models do not see.
const written = "form"

// lemmaTable makes tables whose labels are the scripts that make lemmas of forms as models see them.
func lemmaTable(seen, gold []conllu.Sentence) *table {
	t := wordTable(seen, conllu.UPOS, conllu.XPOS, conllu.Feats)
	for i := range gold {
		for k := range gold[i].Words {
			fields := &gold[i].Words[k].Fields
			t.labels = append(t.labels, lemmaLabel(fields[conllu.Form], fields[conllu.Lemma]))
		}
	}
	return t
}

func lemmaLabel(form, lemma string) string {
	seen := characters.Seen(form)
	if lemma == form && form != seen {
		return written
	}
	return edits.Lemma(seen, lemma).String()
}

// dropRareScripts has words whose script is rare be learned as if the lemma were the form. A script that only one form
// has, in any case, and that writes more of the lemma than it keeps of the form is no rule for others: it becomes the
// lemma itself, so that what makes monsieur of M. makes no jonsieur of J.
func dropRareScripts(t, compared *table) {
	count, forms := map[string]int{}, map[string]map[string]bool{}
	for k, label := range t.labels {
		count[label]++
		if forms[label] == nil {
			forms[label] = map[string]bool{}
		}
		forms[label][strings.ToLower(t.columns[0][k])] = true
	}
	single := func(label string) bool {
		return label != asWritten && label != written && count[label] >= fewest && len(forms[label]) == 1
	}
	for _, table := range []*table{t, compared} {
		for k, label := range table.labels {
			if single(label) {
				table.labels[k] = literal(label, table.columns[0][k])
			} else if table == t && count[label] < fewest {
				t.labels[k] = asWritten
			}
		}
	}
}

// literal returns the script of the lemma itself for one that makes it of a form and writes more of it than it keeps;
// else that one.
func literal(script, form string) string {
	s, err := edits.Parse(script)
	if err != nil {
		return script
	}
	lemma, ok := s.Apply(form)
	if written := utf8.RuneCountInString(s.Before) + utf8.RuneCountInString(s.After); !ok ||
		2*written <= utf8.RuneCountInString(lemma) {
		return script
	}
	return edits.Literal(lemma).String()
}

func fillLemma(sentences []conllu.Sentence, labels []string) {
	each(sentences, labels, func(w *conllu.Word, label string) {
		form := w.Fields[conllu.Form]
		if label == written {
			w.Fields[conllu.Lemma] = form
			return
		}
		seen := characters.Seen(form)
		w.Fields[conllu.Lemma] = seen
		if s, err := edits.Parse(label); err == nil {
			if made, ok := s.Apply(seen); ok {
				w.Fields[conllu.Lemma] = made
			}
		}
	})
}

// characterTable makes the table of the characters of gold sentences.
func characterTable(gold []conllu.Sentence) *table {
	t := newTable(characters.Columns...)
	for _, c := range characters.Chains(gold) {
		for k := range c.Rows {
			t.columns[k] = append(t.columns[k], c.Rows[k]...)
		}
		t.labels = append(t.labels, c.Labels...)
		t.end()
	}
	return t
}

// constant returns the only label of a table; false if it has several, or none.
func (t *table) constant() (string, bool) {
	found := map[string]bool{}
	for _, label := range t.labels {
		found[label] = true
	}
	if len(found) != 1 {
		return "", false
	}
	return slices.Collect(maps.Keys(found))[0], true
}

// stageNames lists the stages, in their order.
func stageNames() []string {
	names := []string{charactersStage, wordsStage}
	for _, s := range tagStages {
		names = append(names, s.name)
	}
	return append(names, treesStage)
}

// rowStages lists the stages of tags that read the rows of an encoder.
func rowStages() []string {
	var names []string
	for _, s := range tagStages {
		if s.rows {
			names = append(names, s.name)
		}
	}
	return names
}

// list joins names for a message.
func list(names []string) string { return strings.Join(names, ", ") }
