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

// Parses reports whether the pipeline has a stage of trees.
func (p *Pipeline) Parses() bool { return p.stages[treesStage] != nil }

// Evaluate compares what the pipeline makes of the raw text of a treebank, or of its words, with the treebank.
func (p *Pipeline) Evaluate(ctx context.Context, gold []conllu.Sentence, name string,
	o EvaluateOptions) (conll18.Scores, error) {
	parses := p.Parses()
	options := Options{Fill: All(), Threads: o.Threads}
	var out bytes.Buffer
	var err error
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
		return nil, err
	}
	system, err := conllu.ReadAll(&out, "the predictions")
	if err != nil {
		return nil, err
	}
	if parses {
		return conll18.Evaluate(gold, name, system, "the predictions")
	}
	gold = copyOf(gold)
	for _, sentences := range [][]conllu.Sentence{gold, system} {
		for i := range sentences {
			chain(&sentences[i])
		}
	}
	scores, err := conll18.Evaluate(gold, name, system, "the predictions")
	if err != nil {
		return nil, err
	}
	return scores[:slices.Index(conll18.Names, "uas")], nil
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
