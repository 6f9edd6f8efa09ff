package features

import (
	"runtime"
	"slices"
	"sync"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
)

// Options of Fit.
type Options struct {
	MinCount int // attributes that occur fewer times in the training data are left out
	HashBits int // > 0: attributes of positions have no dictionary, but numbers below 1<<HashBits, by structured.HashAttribute
	Threads  int // 0: all cores; the result does not depend on it
}

const mostHashBits = 31

// Fit makes the dictionary of the attributes that d has, numbered in the order in which they occur first, and d's
// Attributes and EdgeAttributes. From then on, optional lines of t whose columns d lacks are gone, and the columns of
// the others are required: t.String() is what to keep with a model. Hashed attributes cannot be counted out.
func (t *Template) Fit(d *structured.Dataset, o Options) error {
	switch {
	case o.HashBits < 0 || o.HashBits > mostHashBits:
		return structured.BadInput("attributes hashed to %d bits, expected 1 to %d, or 0 for a dictionary", o.HashBits, mostHashBits)
	case o.HashBits > 0 && o.MinCount > 1:
		return structured.BadInput("hashed attributes have no counts: a minimum of %d needs a dictionary", o.MinCount)
	}
	t.settle(d)
	parts, err := t.extract(d, o.Threads, func() *Extractor {
		dictionary := &structured.Dictionary{HashBits: o.HashBits, Edge: structured.NewAlphabet()}
		if o.HashBits == 0 {
			dictionary.Node = structured.NewAlphabet()
		}
		e := newExtractor(t, dictionary)
		if o.HashBits == 0 {
			e.nodes.number = dictionary.Node.AddBytes
		}
		e.edges.number = dictionary.Edge.AddBytes
		return e
	})
	if err != nil {
		return err
	}
	d.Dictionary = &structured.Dictionary{HashBits: o.HashBits}
	nodes := func(p *part) (*structured.Sparse, *structured.Alphabet) { return p.nodes, p.dictionary.Node }
	edges := func(p *part) (*structured.Sparse, *structured.Alphabet) { return p.edges, p.dictionary.Edge }
	if o.HashBits == 0 {
		d.Dictionary.Node = agree(parts, o.MinCount, nodes)
	}
	if parts[0].edges != nil {
		d.Dictionary.Edge = agree(parts, o.MinCount, edges)
	}
	d.Attributes, d.EdgeAttributes = joined(parts, nodes), joined(parts, edges)
	return nil
}

// Apply makes the Attributes and EdgeAttributes of d, numbered by dict, and sets its Dictionary. Attributes that dict lacks
// are left out. Threads 0 are all cores; the result does not depend on them.
func (t *Template) Apply(d *structured.Dataset, dict *structured.Dictionary, threads int) error {
	parts, err := t.extract(d, threads, func() *Extractor { return t.Bind(dict) })
	if err != nil {
		return err
	}
	d.Dictionary = dict
	d.Attributes = joined(parts, func(p *part) (*structured.Sparse, *structured.Alphabet) { return p.nodes, nil })
	d.EdgeAttributes = joined(parts, func(p *part) (*structured.Sparse, *structured.Alphabet) { return p.edges, nil })
	return nil
}

// part is what one thread extracts: of consecutive examples, with numbers of its own.
type part struct {
	nodes, edges *structured.Sparse
	dictionary   *structured.Dictionary
}

// extract cuts d into parts of about equally many positions, at least one, and extracts their attributes at the same time.
func (t *Template) extract(d *structured.Dataset, threads int, extractor func() *Extractor) ([]part, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = max(1, min(threads, d.Positions()/blockPositions))
	parts := make([]part, threads)
	failures := make([]error, threads)
	var running sync.WaitGroup
	for k := range parts {
		cut := func(k int) int { // the first example of part k
			at, _ := slices.BinarySearch(d.Offsets, d.Positions()*k/threads)
			return at
		}
		lo, hi := cut(k), cut(k+1)
		if k == threads-1 {
			hi = d.Len()
		}
		running.Go(func() {
			failures[k] = host.Guard(func() (err error) {
				e := extractor()
				parts[k].dictionary = e.dictionary
				parts[k].nodes, parts[k].edges, err = e.extract(d, lo, hi)
				return err
			})
		})
	}
	running.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// agree gives the parts one alphabet of the attributes that occur often enough, in order of first occurrence, and
// renumbers and drops accordingly.
func agree(parts []part, minCount int, of func(*part) (*structured.Sparse, *structured.Alphabet)) *structured.Alphabet {
	_, all := of(&parts[0])
	numbers := make([][]int32, len(parts)) // of each part's attributes
	for k := range parts {
		_, names := of(&parts[k])
		numbers[k] = make([]int32, names.Len())
		for i, name := range names.Names() {
			numbers[k][i] = all.Add(name)
		}
	}
	if minCount > 1 {
		all = frequent(all, minCount, parts, numbers, of)
	} else if len(parts) == 1 {
		return all
	}
	var running sync.WaitGroup
	for k := range parts {
		running.Go(func() {
			x, _ := of(&parts[k])
			renumber(x, numbers[k])
		})
	}
	running.Wait()
	return all
}

// frequent returns the alphabet of those attributes that occur at least minCount times, and changes numbers to theirs.
func frequent(all *structured.Alphabet, minCount int, parts []part, numbers [][]int32,
	of func(*part) (*structured.Sparse, *structured.Alphabet)) *structured.Alphabet {
	counts := make([]int, all.Len())
	for k := range parts {
		x, _ := of(&parts[k])
		for _, i := range x.Index {
			counts[numbers[k][i]]++
		}
	}
	kept := structured.NewAlphabet()
	number := make([]int32, all.Len())
	for i, name := range all.Names() {
		number[i] = none
		if counts[i] >= minCount {
			number[i] = kept.Add(name)
		}
	}
	for k := range numbers {
		for i, n := range numbers[k] {
			numbers[k][i] = number[n]
		}
	}
	return kept
}

// renumber changes the attributes of x to their numbers, and drops those that have none.
func renumber(x *structured.Sparse, number []int32) {
	kept, from := 0, 0
	for t := range x.Offsets[1:] {
		for _, i := range x.Index[from:x.Offsets[t+1]] {
			if n := number[i]; n >= 0 {
				x.Index[kept] = n
				kept++
			}
		}
		from, x.Offsets[t+1] = x.Offsets[t+1], kept
	}
	x.Index = x.Index[:kept]
}

// joined returns the rows of all parts, without their spare room, or nil where they have none.
func joined(parts []part, of func(*part) (*structured.Sparse, *structured.Alphabet)) *structured.Sparse {
	if all, _ := of(&parts[0]); all == nil {
		return nil
	}
	entries, rows := 0, 0
	for k := range parts {
		x, _ := of(&parts[k])
		entries, rows = entries+len(x.Index), rows+len(x.Offsets)-1
	}
	joint := &structured.Sparse{Offsets: append(make([]int, 0, rows+1), 0), Index: make([]int32, 0, entries)}
	for k := range parts {
		x, _ := of(&parts[k])
		at := len(joint.Index)
		for _, offset := range x.Offsets[1:] {
			joint.Offsets = append(joint.Offsets, at+offset)
		}
		joint.Index = append(joint.Index, x.Index...)
	}
	return joint
}
