package pairs

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Statistics count in how many sentence pairs words occur, alone and together, in lower case. They are immutable, so
// many goroutines may read them at the same time.
type Statistics struct {
	source, target side
	offsets        []int   // [source words+1] where the partners of each source word begin
	partners       []int32 // target words, in order
	together       []int32 // sentence pairs with both words
	counted        []uint64
}

// side holds the words of one language and the number of sentence pairs with each.
type side struct {
	words  *structured.Alphabet
	counts []int32
}

// leastDice is the coefficient below which two words count as never occurring together. It bounds the memory of
// Statistics.
const leastDice = 0.02

// Count counts the words of all pairs of the corpora; their links do not matter. threads 0 means all cores; the result
// does not depend on it.
func Count(threads int, corpora ...*alignments.Corpus) (*Statistics, error) {
	s := &Statistics{source: side{words: structured.NewAlphabet()}, target: side{words: structured.NewAlphabet()}}
	var sources, targets lists // the distinct words of each sentence
	for _, c := range corpora {
		if c.Words == nil {
			return nil, structured.BadInput("%s: no words, which attributes of word pairs are made of", c.Name)
		}
		for i := range c.Len() {
			sources.add(s.source.add(c.Source(i)))
			targets.add(s.target.add(c.Target(i)))
			s.counted = append(s.counted, pairHash(lowered(c.Source(i)), lowered(c.Target(i))))
		}
	}
	slices.Sort(s.counted)
	s.counted = slices.Compact(s.counted)
	return s, s.join(threads, &sources, &targets)
}

// add counts the words of a sentence and returns their numbers, without repetitions.
func (a *side) add(sentence []string) []int32 {
	ids := make([]int32, len(sentence))
	for k, w := range sentence {
		ids[k] = a.words.Intern(strings.ToLower(w))
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for len(a.counts) < a.words.Len() {
		a.counts = append(a.counts, 0)
	}
	for _, w := range ids {
		a.counts[w]++
	}
	return ids
}

// lists are lists of numbers, one after the other.
type lists struct {
	offsets []int
	ids     []int32
}

func (l *lists) add(ids []int32) {
	if l.offsets == nil {
		l.offsets = []int{0}
	}
	l.ids = append(l.ids, ids...)
	l.offsets = append(l.offsets, len(l.ids))
}

func (l *lists) of(i int) []int32 { return l.ids[l.offsets[i]:l.offsets[i+1]] }

func (l *lists) len() int { return max(0, len(l.offsets)-1) }

// inverted returns, for each of n numbers, the lists that have it.
func (l *lists) inverted(n int) *lists {
	to := &lists{offsets: make([]int, n+1), ids: make([]int32, len(l.ids))}
	for _, w := range l.ids {
		to.offsets[w+1]++
	}
	for w := range n {
		to.offsets[w+1] += to.offsets[w]
	}
	next := slices.Clone(to.offsets)
	for i := range l.len() {
		for _, w := range l.of(i) {
			to.ids[next[w]] = int32(i)
			next[w]++
		}
	}
	return to
}

// join counts the sentence pairs that have two words.
func (s *Statistics) join(threads int, sources, targets *lists) error {
	words := s.source.words.Len()
	with := sources.inverted(words)
	const block = 256 // source words per unit of work
	type part struct{ partners, together, sizes []int32 }
	parts := make([]part, (words+block-1)/block)
	err := host.Parallel(threads, len(parts), func() []int32 { return make([]int32, s.target.words.Len()) },
		func(counts []int32, b int) error {
			var touched []int32
			p := &parts[b]
			for w := b * block; w < min(words, (b+1)*block); w++ {
				touched = touched[:0]
				for _, i := range with.of(w) {
					for _, t := range targets.of(int(i)) {
						if counts[t] == 0 {
							touched = append(touched, t)
						}
						counts[t]++
					}
				}
				slices.Sort(touched)
				kept := len(p.partners)
				for _, t := range touched {
					if coefficient(counts[t], s.source.counts[w], s.target.counts[t]) >= leastDice {
						p.partners, p.together = append(p.partners, t), append(p.together, counts[t])
					}
					counts[t] = 0
				}
				p.sizes = append(p.sizes, int32(len(p.partners)-kept))
			}
			return nil
		})
	s.offsets = append(make([]int, 0, words+1), 0)
	for _, p := range parts {
		s.partners, s.together = append(s.partners, p.partners...), append(s.together, p.together...)
		for _, n := range p.sizes {
			s.offsets = append(s.offsets, s.offsets[len(s.offsets)-1]+int(n))
		}
	}
	return err
}

// Dice returns the Dice coefficient of two words in lower case, 0 if it is less than 0.02 or a word is unknown.
func (s *Statistics) Dice(source, target string) float64 {
	return s.dice(s.source.words.Index(source), s.target.words.Index(target), 0)
}

// dice is Dice by numbers, −1 for unknown words, without the counts of own sentence pairs that have both words.
func (s *Statistics) dice(source, target, own int32) float64 {
	if source < 0 || target < 0 {
		return 0
	}
	lo, hi := s.offsets[source], s.offsets[source+1]
	at, ok := slices.BinarySearch(s.partners[lo:hi], target)
	if !ok {
		return 0
	}
	return coefficient(s.together[lo+at]-own, s.source.counts[source]-own, s.target.counts[target]-own)
}

// coefficient returns 2·both / (source + target), or 0 for 0/0.
func coefficient(both, source, target int32) float64 {
	if both <= 0 {
		return 0
	}
	return 2 * float64(both) / (float64(source) + float64(target))
}

// has reports whether a sentence pair in lower case was counted.
func (s *Statistics) has(source, target []string) bool {
	_, ok := slices.BinarySearch(s.counted, pairHash(source, target))
	return ok
}

// Words returns the numbers of source and target words.
func (s *Statistics) Words() (source, target int) { return s.source.words.Len(), s.target.words.Len() }

func lowered(words []string) []string {
	to := make([]string, len(words))
	for k, w := range words {
		to[k] = strings.ToLower(w)
	}
	return to
}

// pairHash hashes a sentence pair: 64-bit FNV-1a (Fowler, Noll and Vo) with the finaliser of MurmurHash3 (Appleby).
// Saved models contain these hashes, so it must never change.
func pairHash(source, target []string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, words := range [][]string{source, target} {
		for _, w := range words {
			for k := range len(w) {
				h = (h ^ uint64(w[k])) * 0x100000001b3
			}
			h = (h ^ ' ') * 0x100000001b3
		}
		h = (h ^ '\n') * 0x100000001b3
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
