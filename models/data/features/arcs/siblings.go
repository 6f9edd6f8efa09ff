package arcs

import "github.com/dsp-go/dsp/structured"

// Attributes of neighbouring dependents of a head on the same side of it (trees.SiblingRows). They see tags: those of
// the head h, of the dependent d and of the one before it, s, or that there is none, with the side of the head; s and d
// alone; and both with the distance of d from s, or from h if there is no s.
const siblingAttributes = 4

// noSibling stands for the tag of none.
const noSibling = 1

// siblingHashes returns the hashes of the attributes of a row; sibling is −1 for none. Positions are those of tags,
// which are hashes.
func siblingHashes(tags []uint64, h, s, d int) [siblingAttributes]uint64 {
	side, tag, from := uint64(0), uint64(noSibling), h
	if d < h {
		side = 1
	}
	if s >= 0 {
		tag, from = tags[s], s
	}
	distance := uint64(max(d-from, from-d))
	switch {
	case distance > 8:
		distance = 5
	case distance > 4:
		distance = 4
	case distance > 2:
		distance = 3
	}
	pair := fold(fold(side+3, tag), tags[d])
	all := fold(pair, tags[h])
	return [siblingAttributes]uint64{fold(all, 11), fold(fold(all, 12), distance), fold(pair, 13),
		fold(fold(pair, 14), distance)}
}

// siblingTags returns the hashes of the tags of a column.
func siblingTags(column []string) []uint64 {
	tags, known := make([]uint64, len(column)), map[string]uint64{}
	for t, tag := range column {
		hash, ok := known[tag]
		if !ok {
			hash = textHash(tag)
			known[tag] = hash
		}
		tags[t] = hash
	}
	return tags
}

// FitSiblings numbers the attributes of siblings that gold trees have at least minCount times. The column holds the
// tags of all sentences, which begin at offsets, and heads those of Fit: places in the sentence, from 0, and a root's
// dependent is its own head.
func FitSiblings(column []string, offsets []int, heads []int32, minCount int) (*Numbers, error) {
	tags := siblingTags(column)
	counts, order := map[uint64]int{}, []uint64{}
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i], offsets[i+1]
		eachSibling(heads[lo:hi], func(h, s, d int) {
			for _, hash := range siblingHashes(tags[lo:hi], h, s, d) {
				if counts[hash]++; counts[hash] == max(1, minCount) {
					order = append(order, hash)
				}
			}
		})
	}
	return NewNumbers(order)
}

// eachSibling calls visit with every word that has a head, with the dependent of the head before it on its side, −1 for
// none.
func eachSibling(heads []int32, visit func(h, s, d int)) {
	n := len(heads)
	last := make([]int, n) // of each head, 1 + the last dependent on the side
	use := func(d int) {
		h := int(heads[d])
		visit(h, last[h]-1, d)
		last[h] = d + 1
	}
	for d := range n {
		if int(heads[d]) < d {
			use(d)
		}
	}
	clear(last)
	for d := n - 1; d >= 0; d-- {
		if int(heads[d]) > d {
			use(d)
		}
	}
}

// AppendSiblings appends the attributes of the rows of trees.SiblingRows of a sentence with these tags.
func AppendSiblings(numbers *Numbers, column []string, to *structured.Sparse) {
	tags := siblingTags(column)
	row := func(h, s, d int) {
		for _, hash := range siblingHashes(tags, h, s, d) {
			if k := numbers.find(hash); k != none {
				to.Index = append(to.Index, k)
			}
		}
		to.Offsets = append(to.Offsets, len(to.Index))
	}
	for d := range tags {
		for h := range tags {
			if h == d {
				continue
			}
			row(h, -1, d)
			for s := min(h, d) + 1; s < max(h, d); s++ {
				row(h, s, d)
			}
		}
	}
}
