package features

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// Known tells the words that training data have often from all others, which it describes by their spelling. A word
// that is not known has the first class that the rare words of the training data have often enough, from fine to
// coarse: such as <initial~ing>, letters in lower case but for the first one and an ending of three letters, then
// <initial~ng>, <initial~g>, <initial> and <>. Rare words in the training data have the same classes, so that a model
// learns how unknown words behave.
type Known struct {
	words, classes structured.Alphabet
}

// leastClass is how often rare words have a class that is fine.
const leastClass = 5

// count returns the distinct words in the order of their first occurrences, and how often each occurs.
func count(words []string) (distinct *structured.Alphabet, times []int) {
	distinct = structured.NewAlphabet()
	for _, word := range words {
		k := int(distinct.Add(word))
		if k == len(times) {
			times = append(times, 0)
		}
		times[k]++
	}
	return distinct, times
}

// newKnown returns what is known after data with so many of these words: those that occur at least so many times, and
// the classes of the others.
func newKnown(words *structured.Alphabet, times []int, least int) *Known {
	k := &Known{}
	var rare []int32
	for word, n := range times {
		if n >= least {
			k.words.Add(words.Name(int32(word)))
		} else {
			rare = append(rare, int32(word))
		}
	}
	for level := range classLevels {
		counts := map[string]int{}
		for _, word := range rare {
			counts[class(words.Name(word), level)] += times[word]
		}
		rare = slices.DeleteFunc(rare, func(word int32) bool {
			c := class(words.Name(word), level)
			kept := counts[c] >= leastClass || level >= coarseLevel
			if kept {
				k.classes.Add(c)
			}
			return kept
		})
	}
	return k
}

const (
	classLevels = 5
	coarseLevel = 3 // from here on a class is kept however rare it is
)

// class returns the class of a word's spelling, from level 0, the finest one, to the coarsest.
func class(word string, level int) string {
	if level == classLevels-1 {
		return "<>"
	}
	look := kind(word)
	if look == "" {
		if n := digits(word); n != "" {
			look = n + "-digits"
		}
	}
	if look != "" {
		return "<" + look + ">"
	}
	look = caps(word)
	if strings.Contains(word, "-") {
		look += "-"
	}
	if end, ok := suffix(strings.ToLower(word), coarseLevel-level); ok && level < coarseLevel {
		look += "~" + end
	}
	return "<" + look + ">"
}

// Len returns the number of known words.
func (k *Known) Len() int { return k.words.Len() }

func (k *Known) Names() []*structured.Alphabet { return []*structured.Alphabet{&k.words, &k.classes} }

// Cell returns a word that is known, and the class of any other one; it is empty if none fits.
func (k *Known) Cell(word string) string {
	if k.words.Index(word) >= 0 {
		return word
	}
	for level := range classLevels {
		if c := class(word, level); k.classes.Index(c) >= 0 {
			return c
		}
	}
	return ""
}

func (k *Known) cells(words []string) []string {
	cells := make([]string, len(words))
	for t, word := range words {
		cells[t] = k.Cell(word)
	}
	return cells
}

// Pack returns words and classes as text.
func (k *Known) Pack() []byte {
	groups := [][]string{k.words.Names(), k.classes.Names()}
	return appendGroups(nil, knownGroups, func(i int) []string { return groups[i] })
}

var knownGroups = []string{"words", "classes"}

// UnpackKnown returns what Pack wrote.
func UnpackKnown(packed string) (*Known, error) {
	k := &Known{}
	return k, eachGroup(packed, func(group, member string) error {
		switch group {
		case knownGroups[0]:
			k.words.Add(member)
		case knownGroups[1]:
			k.classes.Add(member)
		default:
			return structured.BadInput("a group %q, expected words or classes", group)
		}
		return nil
	})
}

// Learn counts the words of training data d, if a line reads the column known and d has none: words that occur at least
// so many times are known. Peers, of which each has its own examples, count the words of all.
func (t *Template) Learn(d *structured.Dataset, least int, peers structured.Peers) error {
	if !t.readsKnown(d) {
		return nil
	}
	words, times := count(d.Column(text.WordColumn))
	words, times, _, err := peers.Agree(words, times, 0)
	if err != nil {
		return err
	}
	t.Known = newKnown(words, times, least)
	return nil
}

// readsKnown reports whether a line reads the column known, which d does not have itself.
func (t *Template) readsKnown(d *structured.Dataset) bool {
	return !slices.Contains(d.ColumnNames, knownColumn) && t.ReadsColumn(knownColumn)
}
