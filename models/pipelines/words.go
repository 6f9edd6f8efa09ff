package pipelines

import (
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// LimitWords sets how many words a sentence has at most; 0: as many as the stages take.
func (p *Pipeline) LimitWords(most int) {
	if p.maxWords = most; p.Model(treesStage) != nil {
		p.Model(treesStage).MaxWords = most
	}
}

// parses reports whether trees are to be filled in, and there is a stage for them.
func (p *Pipeline) parses(f Fill) bool {
	return (f[conllu.Head] || f[conllu.Deprel]) && p.Model(treesStage) != nil
}

// longestSentence returns how many words a sentence has at most of which some fields are filled in.
func (p *Pipeline) longestSentence(f Fill) int {
	task := tasks.Task{}
	if p.parses(f) {
		task = tasks.Of(&p.Model(treesStage).Config)
	}
	return task.LongestSentence(p.maxWords)
}

// checkWords refuses a sentence that is too long, before anything is made of it: the memory of trees grows with the
// square of its length.
func (p *Pipeline) checkWords(s *conllu.Sentence, name string, f Fill) error {
	n, most := len(s.Words), p.longestSentence(f)
	if n <= most {
		return nil
	}
	if s.Line > 0 {
		return structured.BadInput("%s:%d: a sentence of %d words, expected at most %d; --max-words %[3]d "+
			"takes it, if memory does", name, s.Line, n, most)
	}
	const shown = 3
	return structured.BadInput("%s: a sentence of %d words, expected at most %d; it begins with %q; --max-words %[2]d "+
		"takes it, if memory does; an empty line ends a sentence",
		name, n, most, formsOf(s.Words[:min(shown, n)]))
}

// KeepShort leaves out sentences that are too long for what is filled in, or refuses them, as say decides; nil refuses.
// The name of the data is for messages.
func (p *Pipeline) KeepShort(all []conllu.Sentence, name string, f Fill,
	say *remarks.Remarks) ([]conllu.Sentence, error) {
	kept := all[:0]
	for i := range all {
		err := p.checkWords(&all[i], name, f)
		if err == nil {
			kept = append(kept, all[i])
		} else if err = say.Bad(err); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// formsOf returns the forms of words, with blanks between them.
func formsOf(words []conllu.Word) string {
	forms := ""
	for k := range words {
		if k > 0 {
			forms += " "
		}
		forms += words[k].Fields[conllu.Form]
	}
	return forms
}
