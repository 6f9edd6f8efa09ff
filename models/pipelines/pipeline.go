// Package pipelines learns the way from raw text to dependency trees out of a treebank, in stages: characters (where
// tokens and sentences end), words (those of tokens that are written as one), UPOS, XPOS, FEATS and LEMMA, and trees.
//
// A stage is an ordinary model that is trained on an ordinary file; a pipeline is a folder of them, and a file that
// lists them. Every stage learns from what the stages before it predict for sentences that they were not trained on, so
// that it knows their mistakes.
package pipelines

import (
	"bytes"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/edits"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// Pipeline is a trained pipeline. Many workers may use it at once.
type Pipeline struct {
	Version     string // of the dsp that trained it
	Fingerprint string // of all its stages
	stages      map[string]*part
	several     map[string]bool // forms, in lower case, of tokens that may be of several words
	encoder     *encoded.Reader // whose rows stages read, or nil
	refers      bool            // it is elsewhere
	ranks       *models.Ranks   // that share what it predicts, or nil
	maxWords    int             // of a sentence; 0: as many as its stages take
}

// part is a trained stage.
type part struct {
	constant string        // the only label that the treebank had for it, if model is nil
	model    *models.Model // or nil
}

// Stages returns the names of the stages, in their order.
func (p *Pipeline) Stages() []string {
	var names []string
	for _, name := range stageNames() {
		if p.stages[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// Model returns the model of a stage; nil for a stage that it has not, or that has nothing to decide.
func (p *Pipeline) Model(stage string) *models.Model {
	if s := p.stages[stage]; s != nil {
		return s.model
	}
	return nil
}

// Refers reports whether the encoder is elsewhere, and not in the pipeline's folder.
func (p *Pipeline) Refers() bool { return p.refers }

// Encoder returns the encoder whose rows stages read; nil if there is none.
func (p *Pipeline) Encoder() *encoded.Reader { return p.encoder }

// Worker runs the stages of a pipeline. It serves one goroutine at a time.
type Worker struct {
	pipeline  *Pipeline
	answerers map[string]*models.Answerer
}

// ShareWith has p share what it predicts with other ranks, all of which call its methods alike; nil ends that. Rank 0
// alone reads the input of PredictText and PredictTreebank.
func (p *Pipeline) ShareWith(r *models.Ranks) { p.ranks = r }

func (p *Pipeline) NewWorker() *Worker {
	w := &Worker{p, map[string]*models.Answerer{}}
	for name, s := range p.stages {
		if s.model != nil {
			w.answerers[name] = s.model.NewAnswerer()
		}
	}
	return w
}

// labels returns the labels that a stage predicts for a table, whose words may have rows of the encoder.
func (w *Worker) labels(stage string, t *table, rows *structured.Dataset) ([]string, error) {
	all := make([]string, 0, len(t.columns[0]))
	if t.sequences() == 0 {
		return all, nil
	}
	a := w.answerers[stage]
	if a == nil {
		for range t.columns[0] {
			all = append(all, w.pipeline.stages[stage].constant)
		}
		return all, nil
	}
	model, d := w.pipeline.stages[stage].model, t.dataset(stage)
	if model.Encoder != nil {
		giveRows(d, rows)
	}
	names := model.Labels
	return all, a.Predict(d, predictions.Options{}, func(_ int, p *predictions.Prediction) error {
		for _, label := range p.Labels {
			all = append(all, names.Name(label))
		}
		return nil
	})
}

// Given says what of the splitting of a raw text is given.
type Given int

// What may be given.
const (
	GivenParagraphs Given = iota // an empty line ends one
	GivenLines                   // every line ends a paragraph
	GivenSentences               // every line is a sentence
	GivenTokens                  // every line is a sentence, and white space separates its tokens
)

// Split returns the sentences of a text, with their tokens and words but without tags and trees. MISC has the places of
// tokens in the text, in characters from start.
func (w *Worker) Split(text string, start int, given Given) ([]conllu.Sentence, error) {
	paragraphs := Pieces(text, given)
	t := newTable(characters.Columns...)
	for _, p := range paragraphs {
		for k, column := range characters.Rows(p.Text) {
			t.columns[k] = append(t.columns[k], column...)
		}
		t.end()
	}
	var labels []string
	if w.pipeline.stages[charactersStage] != nil {
		var err error
		if labels, err = w.labels(charactersStage, t, nil); err != nil {
			return nil, err
		}
	}
	var all []conllu.Sentence
	for i, p := range paragraphs {
		var own []string
		if labels != nil {
			from, to := t.sequence(i)
			own = labels[from:to]
		}
		switch given {
		case GivenTokens:
			own = p.Given(own)
		case GivenSentences:
			own = characters.OneSentence(own)
		}
		p.Start += start
		sentences := p.Sentences(own)
		if given < GivenSentences {
			sentences = cut(sentences)
		}
		for k, tokens := range sentences {
			s := newSentence(tokens)
			if k == 0 {
				s.Comments = append(s.Comments, "# newpar")
			}
			all = append(all, s)
		}
	}
	if w.pipeline.stages[wordsStage] == nil {
		for i := range all {
			expand(&all[i], nil)
		}
		return all, nil
	}
	all = ask(all, w.pipeline.several)
	rules, err := w.labels(wordsStage, multiwordTable(all, nil), nil)
	if err != nil {
		return nil, err
	}
	at := 0
	for i := range all {
		n := 0
		for _, token := range all[i].Tokens {
			if token.Multi {
				n++
			}
		}
		expand(&all[i], rules[at:at+n])
		at += n
	}
	return all, nil
}

// Pieces returns the paragraphs of a text, which may be split one by one.
func Pieces(text string, given Given) []characters.Paragraph {
	return characters.Paragraphs(text, given >= GivenLines)
}

// longest is how many tokens a sentence has at most. A longer one is cut, because the work of a parser grows with pairs
// of words, and text without points, such as a log, must stay readable.
const longest = 400

// cut cuts sentences that are too long.
func cut(sentences [][]characters.Token) [][]characters.Token {
	var all [][]characters.Token
	for _, s := range sentences {
		for ; len(s) > longest; s = s[longest:] {
			all = append(all, s[:longest])
		}
		all = append(all, s)
	}
	return all
}

// newSentence returns a sentence without words.
func newSentence(tokens []characters.Token) conllu.Sentence {
	var s conllu.Sentence
	for _, t := range tokens {
		misc := []byte(nil)
		if !t.SpaceAfter {
			misc = append(misc, "SpaceAfter=No|"...)
		}
		s.Tokens = append(s.Tokens,
			conllu.Token{Form: t.Form, Misc: string(appendRange(misc, t.Start, t.End)), Multi: t.Multiword})
	}
	return s
}

// expand makes the words of a sentence's tokens: by a rule for each token of several words, whose form is the only word
// if there is no rule, it makes one word, or it does not fit.
func expand(s *conllu.Sentence, rules []string) {
	for k := range s.Tokens {
		t := &s.Tokens[k]
		words, seen := []string{t.Form}, characters.Seen(t.Form)
		if t.Multi && len(rules) > 0 {
			rule, err := edits.ParseRule(rules[0])
			rules = rules[1:]
			if made, ok := rule.Apply(seen); err == nil && ok && len(made) > 1 {
				words = made
			}
		}
		t.Multi = len(words) > 1
		t.First, t.Last = len(s.Words), len(s.Words)+len(words)-1
		for _, form := range words {
			w := conllu.Word{}
			for f := range w.Fields {
				w.Fields[f] = conllu.Empty
			}
			w.Fields[conllu.Form] = form
			if !t.Multi {
				w.Fields[conllu.Misc] = t.Misc
			}
			s.Words = append(s.Words, w)
		}
	}
}

// Fill says which fields of words are predicted. A stage reads the fields before its own, whether they are predicted or
// given.
type Fill [conllu.FieldCount]bool

// Filled lists the names of fields that a pipeline fills, in their order.
var Filled = []string{"upos", "xpos", "feats", "lemma", "head", "deprel"}

// All fills all fields.
func All() Fill {
	f, err := ParseFill(strings.Join(Filled, ","))
	if err != nil {
		panic(err) // the names are known
	}
	return f
}

// ParseFill reads a list of fields: upos,head.
func ParseFill(text string) (Fill, error) {
	var f Fill
	for name := range strings.SplitSeq(text, ",") {
		known := false
		for k, field := range conllu.FieldNames {
			for _, filled := range Filled {
				if name == field && name == filled {
					f[k], known = true, true
				}
			}
		}
		if !known {
			return f, structured.BadInput("--fill %q: expected fields of CoNLL-U that a pipeline fills, with "+
				"commas between them: %s", text, list(Filled))
		}
	}
	return f, nil
}

// rows computes the rows of the words of sentences, once for all stages that fill fields; nil if none of these reads
// rows.
func (w *Worker) rows(sentences []conllu.Sentence, f Fill) (rows *structured.Dataset, err error) {
	reads := func(stage string) bool {
		m := w.pipeline.Model(stage)
		return m != nil && m.Encoder != nil
	}
	needed := (f[conllu.Head] || f[conllu.Deprel]) && reads(treesStage)
	for _, s := range tagStages {
		needed = needed || f[s.field] && reads(s.name)
	}
	if needed && len(sentences) > 0 {
		rows, _, err = rowsOf(w.pipeline.encoder, sentences, "sentences", encoded.Options{Threads: 1})
	}
	return rows, err
}

// Annotate fills fields of sentences.
func (w *Worker) Annotate(sentences []conllu.Sentence, f Fill) error {
	rows, err := w.rows(sentences, f)
	if err != nil {
		return err
	}
	for _, s := range tagStages {
		if !f[s.field] || w.pipeline.stages[s.name] == nil {
			continue
		}
		labels, err := w.labels(s.name, s.table(sentences, nil), rows)
		if err != nil {
			return err
		}
		s.fill(sentences, labels)
	}
	if len(sentences) == 0 || !w.pipeline.parses(f) {
		return nil
	}
	return w.parse(sentences, f, rows)
}

// parse fills the trees of sentences.
func (w *Worker) parse(sentences []conllu.Sentence, f Fill, rows *structured.Dataset) error {
	var text []byte
	for i := range sentences {
		text = appendWords(text, &sentences[i])
	}
	model := w.pipeline.stages[treesStage].model
	names := model.Labels
	bank, err := treebank.Reader{Names: names, Unlabeled: true, Threads: 1}.Read(bytes.NewReader(text), treesStage)
	if err != nil {
		return err
	}
	d := bank.Dataset()
	d.Lines = nil
	if model.Encoder != nil {
		giveRows(d, rows)
	}
	return w.answerers[treesStage].Predict(d, predictions.Options{}, func(i int, p *predictions.Prediction) error {
		tree := trees.FromOutput(p.Labels)
		for k := range sentences[i].Words {
			fields := &sentences[i].Words[k].Fields
			if f[conllu.Head] {
				fields[conllu.Head] = number(int(tree.Heads[k]))
			}
			if f[conllu.Deprel] {
				fields[conllu.Deprel] = names.Name(tree.Relations[k])
			}
		}
		return nil
	})
}

// appendWords appends the words of a sentence as CoNLL-U, as models see them, without what a parser does not read.
func appendWords(to []byte, s *conllu.Sentence) []byte {
	plain := conllu.Sentence{Words: make([]conllu.Word, len(s.Words))}
	for k := range s.Words {
		fields := s.Words[k].Fields
		fields[conllu.Head], fields[conllu.Deprel], fields[conllu.Deps], fields[conllu.Misc] = conllu.Empty, conllu.Empty,
			conllu.Empty, conllu.Empty
		fields[conllu.Form] = characters.Seen(fields[conllu.Form])
		plain.Words[k].Fields = fields
	}
	return plain.Append(to)
}
