package arcs

import (
	"slices"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// scratch is the working memory for one score.
type scratch struct {
	heads, dependents []uint64 // [n+1 or n, width] hashes of the values at heads and dependents for pairs and mixed codes
	lists             [2]lists // attributes of heads alone and of dependents alone
	starred, plain    []uint64 // hashes of the attributes of an arc, from lines with a star and without
	candidates        []uint64 // those that pass the filter
}

// lists caches the attributes of single tokens by class of direction and distance.
type lists struct {
	spans [][2]int32 // [tokens, bins] from and to; from is −1 until computed
	index []int32
}

// rows makes the rows of a sentence.
func (x *scratch) rows(m *machine, p *program, s *sentence, numbers *Numbers, to *Rows) {
	n := s.n
	width := len(p.pairs) + len(p.mixed)
	x.heads, x.dependents = vec.Grow(x.heads, (n+1)*width), vec.Grow(x.dependents, n*width)
	for j := range width {
		c := p.bothSides(j)
		for h := -1; h < n; h++ {
			x.heads[(h+1)*width+j] = s.fold(m, c.seed[0], c.head, h)
		}
		for d := range n {
			x.dependents[d*width+j] = s.fold(m, c.seed[1], c.dependent, d)
		}
	}
	for k := range x.lists {
		l := &x.lists[k]
		l.index = l.index[:0]
		l.spans = vec.Grow(l.spans, (n+1)*bins)
		for i := range l.spans {
			l.spans[i][0] = -1
		}
	}
	to.Offsets = append(vec.Grow(to.Offsets, n*n+1)[:0], 0)
	index := to.Index[:0]
	for d := range n {
		for head := range n {
			h := head
			if h == d {
				h = -1
			}
			b := bin(d, h)
			ofHead := x.lists[0].of(m, p.heads, s, numbers, h, b, 0)
			ofDependent := x.lists[1].of(m, p.dependents, s, numbers, d, b, 1)
			index = append(append(index, ofDependent...), ofHead...)
			x.starred, x.plain = x.starred[:0], x.plain[:0]
			x.hashBothSides(p, s, d, h, b)
			index = x.numbered(numbers, index, binHashes[b])
			to.Offsets = append(to.Offsets, len(index))
		}
	}
	to.Index = index
}

// bothSides returns code j of those that look at both sides.
func (p *program) bothSides(j int) *code {
	if j < len(p.pairs) {
		return &p.pairs[j]
	}
	return &p.mixed[j-len(p.pairs)]
}

// of returns the attributes of a single token in an arc of class b; side is 0 for heads and 1 for dependents.
func (l *lists) of(m *machine, codes []code, s *sentence, numbers *Numbers, token, b, side int) []int32 {
	span := &l.spans[(token+1-side)*bins+b]
	if span[0] < 0 {
		span[0] = int32(len(l.index))
		for i := range codes {
			c := &codes[i]
			taps := c.head
			if side == 1 {
				taps = c.dependent
			}
			a := s.fold(m, c.seed[side], taps, token)
			if a == 0 {
				continue
			}
			hash := mix(a ^ max(1, c.seed[1-side]))
			for _, p := range c.properties {
				hash = fold(hash, p.local(b))
			}
			l.index = numbers.add(l.index, hash, c.starred, b)
		}
		span[1] = int32(len(l.index))
	}
	return l.index[span[0]:span[1]]
}

// local returns the hash of the value of direction or distance in an arc of class b.
func (p property) local(b int) uint64 {
	if p.aggregate == direction {
		return directionHashes[b]
	}
	return distanceHashes[b]
}

// hashBothSides computes the hashes of the attributes that look at both sides of an arc of class b.
func (x *scratch) hashBothSides(p *program, s *sentence, d, h, b int) {
	width := len(p.pairs) + len(p.mixed)
	heads := x.heads[(h+1)*width:][:width]
	dependents := x.dependents[d*width:][:width]
	for j, head := range heads[:len(p.pairs)] {
		if head == 0 || dependents[j] == 0 {
			continue
		}
		hash := mix(head ^ dependents[j])
		if j < p.starred {
			x.starred = append(x.starred, hash)
		} else {
			x.plain = append(x.plain, hash)
		}
	}
	for j := range p.mixed {
		head, dependent := heads[len(p.pairs)+j], dependents[len(p.pairs)+j]
		if head == 0 || dependent == 0 {
			continue
		}
		c := &p.mixed[j]
		to := &x.plain
		if c.starred {
			to = &x.starred
		}
		hash := c.hash(s, head, dependent, d, h, b)
		if c.spread == none {
			*to = append(*to, hash)
			continue
		}
		for _, value := range s.gaps[c.spread].each(min(d, h), max(d, h)) {
			*to = append(*to, fold(hash, value))
		}
	}
}

// numbered appends the numbers of the attributes of an arc; class is the hash of its class of direction and distance.
// The order is: starred, plain, starred with the class. Branch prediction cannot guess whether an attribute has a
// number, so the loops that check it are branch-free.
func (x *scratch) numbered(numbers *Numbers, index []int32, class uint64) []int32 {
	if numbers.bits > 0 {
		for _, hashes := range [][]uint64{x.starred, x.plain} {
			for _, hash := range hashes {
				index = append(index, numbers.find(hash))
			}
		}
		for _, hash := range x.starred {
			index = append(index, numbers.find(fold(hash, class)))
		}
		return index
	}
	x.candidates = vec.Grow(x.candidates, 2*len(x.starred)+len(x.plain))
	candidates := x.candidates
	k := 0
	for _, hash := range x.starred {
		candidates[k] = hash
		k += numbers.passes(hash)
	}
	stars := k
	for _, hash := range x.plain {
		candidates[k] = hash
		k += numbers.passes(hash)
	}
	for _, hash := range candidates[:stars] {
		hash = fold(hash, class)
		candidates[k] = hash
		k += numbers.passes(hash)
	}
	at := len(index)
	index = slices.Grow(index, k)[:at+k]
	for _, hash := range candidates[:k] {
		number := numbers.find(hash)
		index[at] = number
		at += 1 + int(number>>31)
	}
	return index[:at]
}

// hash returns the hash of an attribute from those of head and dependent, without the value that a code spreads over.
func (c *code) hash(s *sentence, head, dependent uint64, d, h, b int) uint64 {
	hash := mix(head ^ dependent)
	for _, p := range c.properties {
		switch p.aggregate {
		case set:
			hash = fold(hash, s.gaps[p.gap].set(min(d, h), max(d, h)))
		case count:
			hash = fold(hash, countHashes[min(mostCounted, s.gaps[p.gap].count(p.counted, min(d, h), max(d, h)))])
		default:
			hash = fold(hash, p.local(b))
		}
	}
	return hash
}

// add appends the number of the attribute with that hash and, if the line is starred, that of the attribute with class
// b of direction and distance. The latter never occurs more often than the former, so a dictionary that has it has
// both.
func (n *Numbers) add(index []int32, hash uint64, starred bool, b int) []int32 {
	number := n.find(hash)
	if number == none {
		return index
	}
	index = append(index, number)
	if starred {
		if number = n.find(fold(hash, binHashes[b])); number != none {
			index = append(index, number)
		}
	}
	return index
}
