package inputs

import (
	"github.com/dsp-go/dsp/structured"
)

// Training is training data as a process has them that may have peers. What is counted or numbered over the text of all
// is counted over Own and agreed upon (structured.Peers); Complete then gives All the inputs that were made for Own.
type Training struct {
	All   *structured.Dataset // all examples: their gold outputs, and all else that does not come from text
	Own   *structured.Dataset // those of the share, with their text: All itself for a process alone
	Share structured.Share    // which these are
}

// Alone returns training data without peers.
func Alone(d *structured.Dataset) Training { return Training{d, d, structured.Whole(d)} }

// Divided returns the share of the examples whose attributes this process has: all, unless they were made of the text
// of its own examples.
func (t Training) Divided() structured.Share {
	if t.Own == t.All || t.Own.Attributes == nil {
		return structured.Whole(t.All)
	}
	return t.Share
}

// Complete gives all examples the inputs that each process has made for its own: all of them numbers of words, of
// characters and of vectors, and rows of attributes, which are empty where others have them. All processes call it
// alike.
func (t Training) Complete(in Inputs) error {
	all, own := t.All, t.Own
	if all == own {
		return nil
	}
	if own.Attributes != nil {
		all.Attributes = t.Share.Spread(own.Attributes, all.Offsets)
		all.EdgeAttributes = t.Share.Spread(own.EdgeAttributes, all.Offsets)
		all.Dictionary = own.Dictionary
	}
	if in.Template != nil {
		in.Template.SpreadWhole(all, own, t.Share)
	}
	if own.Ids != nil {
		all.Vocab, all.Ids = own.Vocab, make([]int32, all.Positions()*len(own.Vocab))
		if err := t.gather(all.Ids, own.Ids, len(own.Vocab)); err != nil {
			return err
		}
	}
	if own.Characters != nil {
		if err := t.completeCharacters(); err != nil {
			return err
		}
	}
	if rows, ok := own.Source.(*wordRowSource); ok {
		numbers := make([]int32, all.Positions())
		all.Source, all.Dim = &wordRowSource{rows.vectors, numbers}, own.Dim
		return t.gather(numbers, rows.numbers, 1)
	}
	return nil
}

// gather completes numbers of all positions, so many of each, of which this process has its own.
func (t Training) gather(all, own []int32, width int) error {
	mine := all[t.All.Offsets[t.Share.First]*width : t.All.Offsets[t.Share.Last]*width]
	copy(mine, own)
	return structured.AllGatherNumbers(t.Share.Peers, all, mine)
}

// completeCharacters gives all examples the characters of their words.
func (t Training) completeCharacters() error {
	own, lengths := t.Own.Characters, make([]int32, t.All.Positions())
	mine := make([]int32, t.Own.Positions())
	for w := range mine {
		mine[w] = int32(own.Offsets[w+1] - own.Offsets[w])
	}
	if err := t.gather(lengths, mine, 1); err != nil {
		return err
	}
	all := &structured.Segments{Offsets: make([]int, 1, len(lengths)+1), Vocab: own.Vocab}
	for w, n := range lengths {
		all.Offsets = append(all.Offsets, all.Offsets[w]+int(n))
	}
	all.Ids = make([]int32, all.Offsets[len(lengths)])
	at := func(example int) int { return all.Offsets[t.All.Offsets[example]] }
	to := all.Ids[at(t.Share.First):at(t.Share.Last)]
	copy(to, own.Ids)
	t.All.Characters = all
	return structured.AllGatherNumbers(t.Share.Peers, all.Ids, to)
}
