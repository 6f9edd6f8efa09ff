package pipelines

import (
	"io"
	"slices"

	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// ReadTreebank reads one file of CoNLL-U, or several with commas between them.
func ReadTreebank(paths string) ([]conllu.Sentence, error) {
	var all []conllu.Sentence
	for _, path := range formats.Files(paths) {
		some, err := conllu.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// copyOf copies sentences so that the fields of words can change.
func copyOf(sentences []conllu.Sentence) []conllu.Sentence {
	all := slices.Clone(sentences)
	for i := range all {
		all[i].Words = slices.Clone(all[i].Words)
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
