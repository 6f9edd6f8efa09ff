package arcs

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// passHashes is the approximate number of hashes that are in memory at once.
const passHashes = 1 << 24

// Fit builds the dictionary of the attributes of the gold arcs. Sentence i is tokens offsets[i] to offsets[i+1]-1, and
// heads[t] is the head of token t, counted from the first token of its sentence; a root's head is the token itself.
// Attributes are numbered by falling count, and by hash among equal counts.
func (t *Template) Fit(data Columns, offsets []int, heads []int32, o templates.Options) (*Dictionary, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := checkHeads(offsets, heads); err != nil {
		return nil, err
	}
	d := &Dictionary{}
	for _, part := range []struct {
		to      *(*Numbers)
		program func(*machine) *program
	}{
		{&d.Arc, func(m *machine) *program { return &m.arc }},
		{&d.Label, func(m *machine) *program { return &m.label }},
	} {
		var err error
		if o.HashBits > 0 {
			*part.to, err = HashedNumbers(o.HashBits)
		} else {
			var hashes []uint64
			if hashes, err = (&census{t, data, offsets, heads, part.program, passHashes}).count(o); err == nil {
				*part.to, err = NewNumbers(hashes)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// checkHeads returns a bad-input error if a head lies outside its sentence.
func checkHeads(offsets []int, heads []int32) error {
	for i := range max(0, len(offsets)-1) {
		lo, hi := offsets[i], offsets[i+1]
		if lo < 0 || hi < lo || hi > len(heads) {
			return structured.BadInput("sentence %d is tokens %d to %d, expected some of the %d that have heads", i, lo, hi-1,
				len(heads))
		}
		for t, h := range heads[lo:hi] {
			if h < 0 || int(h) >= hi-lo {
				return structured.BadInput("head %d of token %d of sentence %d, expected 0 to %d", h, t, i, hi-lo-1)
			}
		}
	}
	return nil
}

// census counts the attributes of gold arcs for one score. Each pass keeps the hashes of one range, split into shards.
type census struct {
	template *Template
	data     Columns
	offsets  []int
	heads    []int32
	program  func(*machine) *program
	memory   int // approximate number of hashes per pass
}

// counted is an attribute and the number of gold arcs on which it occurs.
type counted struct {
	hash  uint64
	count int
}

const shards = 64 // per pass

// count returns the hashes of the attributes that occur at least o.MinCount times, in the order of their numbers.
func (c *census) count(o templates.Options) ([]uint64, error) {
	sentences := max(0, len(c.offsets)-1)
	threads := max(1, min(host.Threads(o.Threads), sentences))
	extractors := make([]*Extractor, threads)
	for k := range extractors {
		extractors[k] = NewExtractor(c.template, nil)
		if err := extractors[k].Open(c.data); err != nil {
			return nil, err
		}
	}
	lines := 0
	for _, codes := range c.program(extractors[0].m).codes() {
		for _, code := range codes {
			lines++
			if code.starred {
				lines++
			}
		}
	}
	passes := 1 << bits.Len(uint(lines*len(c.heads)/c.memory))
	var kept []counted
	found := make([][][]uint64, threads) // hashes of a pass, by thread and shard
	for k := range found {
		found[k] = make([][]uint64, shards)
	}
	for pass := range passes {
		for k := range found {
			for shard := range found[k] {
				found[k][shard] = found[k][shard][:0]
			}
		}
		var begun atomic.Int64
		err := host.Parallel(threads, sentences, func() int { return int(begun.Add(1)) - 1 }, func(k, i int) error {
			c.sentence(extractors[k], i, pass, passes, found[k])
			return nil
		})
		if err != nil {
			return nil, err
		}
		ofShard := make([][]counted, shards)
		err = host.Parallel(threads, shards, func() *[]uint64 { return new([]uint64) }, func(all *[]uint64, shard int) error {
			*all = (*all)[:0]
			for k := range found {
				*all = append(*all, found[k][shard]...)
			}
			slices.Sort(*all)
			ofShard[shard] = frequent(*all, o.MinCount)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, list := range ofShard {
			kept = append(kept, list...)
		}
	}
	slices.SortFunc(kept, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.hash, b.hash))
	})
	hashes := make([]uint64, len(kept))
	for i, a := range kept {
		hashes[i] = a.hash
	}
	return hashes, nil
}

// sentence appends the hashes of the gold arcs of sentence i that belong to a pass, by shard.
func (c *census) sentence(e *Extractor, i, pass, passes int, found [][]uint64) {
	lo, hi := c.offsets[i], c.offsets[i+1]
	s := &e.sentence
	s.load(e.m, lo, hi)
	p := c.program(e.m)
	shift := 64 - bits.TrailingZeros(uint(passes))
	keep := func(hash uint64) {
		if hash>>shift == uint64(pass) {
			shard := hash << (64 - shift) >> (64 - bits.TrailingZeros(shards))
			found[shard] = append(found[shard], hash)
		}
	}
	for d := range hi - lo {
		h := int(c.heads[lo+d])
		if h == d {
			h = -1
		}
		for _, codes := range p.codes() {
			for j := range codes {
				codes[j].hashes(e.m, s, d, h, keep)
			}
		}
	}
}

// hashes calls yield for each attribute that a line makes of an arc: one per value that the line spreads over, first
// without and then, if the line is starred, with direction and distance.
func (c *code) hashes(m *machine, s *sentence, d, h int, yield func(uint64)) {
	head, dependent := s.fold(m, c.seed[0], c.head, h), s.fold(m, c.seed[1], c.dependent, d)
	if head == 0 || dependent == 0 {
		return
	}
	b := bin(d, h)
	both := func(hash uint64) {
		yield(hash)
		if c.starred {
			yield(fold(hash, binHashes[b]))
		}
	}
	hash := c.hash(s, head, dependent, d, h, b)
	if c.spread == none {
		both(hash)
		return
	}
	for _, value := range s.gaps[c.spread].each(min(d, h), max(d, h)) {
		both(fold(hash, value))
	}
}

// frequent returns the hashes that occur at least minCount times in a sorted list, with their counts.
func frequent(sorted []uint64, minCount int) []counted {
	var kept []counted
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[to] == sorted[from] {
			to++
		}
		if to-from >= minCount {
			kept = append(kept, counted{sorted[from], to - from})
		}
		from = to
	}
	return kept
}
