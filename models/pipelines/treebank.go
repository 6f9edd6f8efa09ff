package pipelines

import (
	"io"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// ReadTreebank reads one file of CoNLL-U, or several with commas between them. With trees, sentences need heads that
// are a tree with one root. say decides on bad sentences.
func ReadTreebank(paths string, trees bool, say *remarks.Remarks) ([]conllu.Sentence, error) {
	return readTreebank(paths, say, func(s *conllu.Sentence, path string) error {
		if err := checkTokens(s, path); err != nil || !trees {
			return err
		}
		return checkTree(s, path)
	})
}

// ReadGold is ReadTreebank for what the pipeline predicts, of no sentence that is too long for it.
func (p *Pipeline) ReadGold(paths string, say *remarks.Remarks) ([]conllu.Sentence, error) {
	return readTreebank(paths, say, func(s *conllu.Sentence, path string) error {
		err := checkTokens(s, path)
		if err == nil && p.Parses() {
			err = checkTree(s, path)
		}
		if err == nil {
			err = p.checkWords(s, path, All())
		}
		return err
	})
}

// readTreebank reads sentences, and leaves out those that fail a check, or refuses them.
func readTreebank(paths string, say *remarks.Remarks,
	check func(s *conllu.Sentence, path string) error) ([]conllu.Sentence, error) {
	var all []conllu.Sentence
	for _, path := range formats.Files(paths) {
		some, err := conllu.ReadFile(path, say)
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			if err = check(&s, path); err == nil {
				all = append(all, s)
			} else if err = say.Bad(err); err != nil {
				return nil, err
			}
		}
	}
	if len(all) == 0 {
		return nil, structured.BadInput("%s: no sentence is left", paths)
	}
	return all, nil
}

// checkTokens refuses a token without characters: no text has it.
func checkTokens(s *conllu.Sentence, name string) error {
	for _, t := range s.Tokens {
		if strings.TrimSpace(t.Form) == "" {
			return structured.BadInput("%s: a token %q in the sentence of line %d has no characters but white space", name,
				t.Form, s.Line)
		}
	}
	return nil
}

// copyOf copies sentences so that the fields of words can change.
func copyOf(sentences []conllu.Sentence) []conllu.Sentence {
	all := slices.Clone(sentences)
	for i := range all {
		all[i].Words = slices.Clone(all[i].Words)
	}
	return all
}

// asSeen returns sentences with the forms of words as models see them.
func asSeen(sentences []conllu.Sentence) []conllu.Sentence {
	all := copyOf(sentences)
	for i := range all {
		for k := range all[i].Words {
			form := &all[i].Words[k].Fields[conllu.Form]
			*form = characters.Seen(*form)
		}
	}
	return all
}

func writeTreebank(path string, sentences []conllu.Sentence) error {
	return host.WriteFile(path, func(w io.Writer) error {
		var text []byte
		for i := range sentences {
			text = sentences[i].Append(text[:0])
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
		return nil
	})
}
