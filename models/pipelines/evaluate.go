package pipelines

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/conllu/conll18"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// EvaluateOptions say what a pipeline gets.
type EvaluateOptions struct {
	GoldWords bool // the gold tokens, words and sentences in place of raw text
	Threads   int
}

func (p *Pipeline) Parses() bool { return p.stages[treesStage] != nil }

// Evaluate compares what the pipeline makes of the raw text of a treebank, or of its words, with the treebank.
func (p *Pipeline) Evaluate(ctx context.Context, gold []conllu.Sentence, name string, o EvaluateOptions) (conll18.Scores, error) {
	gold, system, err := p.annotate(ctx, gold, name, o)
	if err != nil {
		return nil, err
	}
	scores, err := conll18.Evaluate(gold, name, system, predictionsName)
	if err != nil {
		return nil, err
	}
	return p.measured(scores), nil
}

// EvaluateParts is Evaluate that compares the parts of the text as well.
func (p *Pipeline) EvaluateParts(ctx context.Context, gold []conllu.Sentence, name string, o EvaluateOptions) (conll18.Scores, []conll18.Part, error) {
	gold, system, err := p.annotate(ctx, gold, name, o)
	if err != nil {
		return nil, nil, err
	}
	scores, err := conll18.Evaluate(gold, name, system, predictionsName)
	if err != nil {
		return nil, nil, err
	}
	parts, err := conll18.Parts(gold, name, system, predictionsName, p.fills)
	for k := range parts {
		parts[k].Scores = p.measured(parts[k].Scores)
	}
	return p.measured(scores), parts, err
}

// fills reports whether a stage fills a field.
func (p *Pipeline) fills(field int) bool {
	switch field {
	case conllu.Head, conllu.Deprel:
		return p.Parses()
	}
	return p.stages[conllu.FieldNames[field]] != nil
}

// predictionsName is what messages call what the pipeline predicts.
const predictionsName = "the predictions"

// measured returns the scores that a pipeline can have: without trees, those up to the lemmas.
func (p *Pipeline) measured(all conll18.Scores) conll18.Scores {
	if p.Parses() {
		return all
	}
	return all[:slices.Index(conll18.Names, "uas")]
}

// annotate returns what the pipeline makes of a treebank, and the treebank as it is compared: both have trees, if only
// some that say nothing.
func (p *Pipeline) annotate(ctx context.Context, gold []conllu.Sentence, name string, o EvaluateOptions) (as, system []conllu.Sentence, err error) {
	options := Options{Fill: All(), Threads: o.Threads}
	var out bytes.Buffer
	if o.GoldWords {
		var in []byte
		for i := range gold {
			in = appendBare(in, &gold[i])
		}
		err = p.PredictTreebank(ctx, bytes.NewReader(in), name, &out, options)
	} else {
		err = p.PredictText(ctx, strings.NewReader(characters.Text(gold)), name, &out, options)
	}
	if err != nil {
		return nil, nil, err
	}
	if system, err = conllu.ReadAll(&out, predictionsName); err != nil || p.Parses() {
		return gold, system, err
	}
	gold = copyOf(gold)
	for _, sentences := range [][]conllu.Sentence{gold, system} {
		for i := range sentences {
			chain(&sentences[i])
		}
	}
	return gold, system, nil
}

// appendBare appends the tokens and words of a sentence without their annotation.
func appendBare(to []byte, s *conllu.Sentence) []byte {
	bare := conllu.Sentence{Tokens: s.Tokens, Words: make([]conllu.Word, len(s.Words))}
	for k := range s.Words {
		fields := &bare.Words[k].Fields
		for f := range fields {
			fields[f] = conllu.Empty
		}
		fields[conllu.Form], fields[conllu.Misc] = s.Words[k].Fields[conllu.Form], s.Words[k].Fields[conllu.Misc]
	}
	return bare.Append(to)
}

// chain gives a sentence some tree.
func chain(s *conllu.Sentence) {
	for k := range s.Words {
		s.Words[k].Fields[conllu.Head], s.Words[k].Fields[conllu.Deprel] = "1", conllu.Empty
		if k == 0 {
			s.Words[k].Fields[conllu.Head] = "0"
		}
	}
}

// checkTree refuses a sentence whose heads are not a tree with one root.
func checkTree(s *conllu.Sentence, name string) error {
	heads := make([]int32, len(s.Words))
	for k := range s.Words {
		head, ok := headOf(s.Words[k].Fields[conllu.Head], len(s.Words))
		if !ok {
			return structured.BadInput("%s: the sentence of line %d has head %q of word %d, expected %s", name, s.Line,
				s.Words[k].Fields[conllu.Head], k+1, trees.HeadRange(len(s.Words)))
		}
		heads[k] = head
	}
	if err := trees.Check(heads); err != nil {
		return structured.BadInput("%s: the sentence of line %d: %w", name, s.Line, err)
	}
	return nil
}

func headOf(field string, words int) (int32, bool) {
	head, err := strconv.Atoi(field)
	return int32(head), err == nil && head >= 0 && head <= words
}
