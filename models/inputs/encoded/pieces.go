package encoded

import (
	"github.com/dsp-go/dsp/models/data/pieces"
	"github.com/dsp-go/dsp/structured"
)

func (r *Reader) cutPieces(d *structured.Dataset, words []string, o Options, report *Report) error {
	sentences, err := r.cutAll(d, words, o.Threads)
	if err != nil {
		return err
	}
	p := &structured.Pieces{First: []int{0}, Offsets: []int{0}, Ids: []int32{}, Words: make([][2]int, len(words))}
	for _, s := range sentences {
		report.Pieces += len(s.ids)
		windows := pieces.Windows(s.ends, r.most)
		if len(windows) > 1 {
			report.Long++
		}
		word := 0
		for _, window := range windows {
			if len(s.ids) > 0 {
				word = r.addSequence(p, &s, word, window)
			}
		}
		p.First = append(p.First, len(p.Offsets)-1)
	}
	d.Pieces = p
	return nil
}

// addSequence adds a window of a sentence to p. word is the first word that it holds the beginning of; the next
// window's is returned. A word that no window holds is read in the window where it begins.
func (r *Reader) addSequence(p *structured.Pieces, s *sentence, word int, w pieces.Window) int {
	p.Ids = append(p.Ids, r.Tokenizer.Prefix...)
	shift := len(p.Ids) - w.From
	p.Ids = append(append(p.Ids, s.ids[w.From:w.To]...), r.Tokenizer.Suffix...)
	p.Offsets = append(p.Offsets, len(p.Ids))
	for ; word < len(s.ends) && s.begin(word) < w.End; word++ {
		from, to := s.begin(word), min(s.ends[word], w.To)
		if r.Pieces == First {
			to = from + 1
		}
		p.Words[s.first+word] = [2]int{from + shift, to + shift}
	}
	return word
}
