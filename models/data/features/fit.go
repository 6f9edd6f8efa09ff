package features

import (
	"slices"
	"sync"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Fit builds the dictionary of the attributes in d, numbered in order of first occurrence, and sets d's Attributes and
// EdgeAttributes, and its table of segments if t has lines about them: their attributes are those that gold segments
// have. It also fixes the columns of t: it removes optional lines whose columns d lacks, and makes the columns of the
// others required. A model should store t.String(). Hashed attributes cannot have a minimum count. Peers, of which each
// has its own examples, agree on the dictionary that one process with all of them would build.
func (t *Template) Fit(d *structured.Dataset, o templates.Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	if err := t.checkLists(d); err != nil {
		return err
	}
	if err := t.checkWhole(); err != nil {
		return err
	}
	t.fixColumns(d)
	known := o.KnownOrNone()
	whole, err := t.fitWhole(d, known.Segment, o)
	if err != nil {
		return err
	}
	parts, err := t.extract(d, o.Threads, func(part int) *Extractor {
		if part > 0 { // agree numbers the first part's before the others'
			return t.growing(o.HashBits, &structured.Dictionary{})
		}
		return t.growing(o.HashBits, known)
	})
	if err != nil {
		return err
	}
	nodes := func(p *part) (*structured.Sparse, *structured.Alphabet) { return p.nodes, p.dictionary.Node }
	edges := func(p *part) (*structured.Sparse, *structured.Alphabet) { return p.edges, p.dictionary.Edge }
	d.Dictionary = &structured.Dictionary{HashBits: o.HashBits, Segment: whole}
	if o.HashBits == 0 {
		d.Dictionary.Node = agree(parts, nodes)
	}
	if parts[0].edges != nil {
		d.Dictionary.Edge = agree(parts, edges)
	}
	d.Attributes, d.EdgeAttributes = joined(parts, nodes), joined(parts, edges)
	if err := o.Peers.NumberAttributes(d, known, o.MinCount); err != nil {
		return err
	}
	return t.applyWhole(d, whole, o.Threads)
}

// Grow returns an Extractor for data that comes piece by piece, of which d is the first. Its dictionary grows with the
// attributes that it meets, numbered in order of first occurrence. Like Fit it fixes the columns of t; of o it takes
// HashBits.
func (t *Template) Grow(d *structured.Dataset, o templates.Options) (*Extractor, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := t.checkLists(d); err != nil {
		return nil, err
	}
	if t.HasWhole() {
		return nil, structured.BadInput("%s has lines that begin with S, about whole segments: data that come piece by "+
			"piece, as for a pack, cannot have them", t.Name)
	}
	if t.readsKnown(d) && t.Known == nil {
		return nil, structured.BadInput("%s reads the column known, for which all words of the training data are counted "+
			"first: data that come piece by piece, as for a pack, cannot have it", t.Name)
	}
	t.fixColumns(d)
	return t.growing(o.HashBits, &structured.Dictionary{}), nil
}

// growing returns an Extractor whose dictionary grows from a known one.
func (t *Template) growing(hashBits int, known *structured.Dictionary) *Extractor {
	dictionary := &structured.Dictionary{HashBits: hashBits, Edge: known.Edge.Clone()}
	if hashBits == 0 {
		dictionary.Node = known.Node.Clone()
	}
	e := newExtractor(t, dictionary)
	if hashBits == 0 {
		e.nodes.number = dictionary.Node.AddBytes
	}
	e.edges.number = dictionary.Edge.AddBytes
	return e
}

// Apply sets the Attributes and EdgeAttributes of d and its table of segments, numbered by dict, and its Dictionary.
// Attributes that dict lacks are left out. 0 threads mean all cores; the result does not depend on them.
func (t *Template) Apply(d *structured.Dataset, dict *structured.Dictionary, threads int) error {
	parts, err := t.extract(d, threads, func(int) *Extractor { return t.Bind(dict) })
	if err != nil {
		return err
	}
	d.Dictionary = dict
	d.Attributes = joined(parts, func(p *part) (*structured.Sparse, *structured.Alphabet) { return p.nodes, nil })
	d.EdgeAttributes = joined(parts, func(p *part) (*structured.Sparse, *structured.Alphabet) { return p.edges, nil })
	return t.applyWhole(d, dict.Segment, threads)
}

// part holds what one thread extracts from consecutive examples, with its own numbers.
type part struct {
	nodes, edges *structured.Sparse
	dictionary   *structured.Dictionary
}

// extract splits the examples into parts of about equally many positions, at least one, and extracts their attributes
// in parallel.
func (t *Template) extract(d *structured.Dataset, threads int, extractor func(part int) *Extractor) ([]part, error) {
	positions := d.Positions()
	parts := make([]part, max(1, min(host.Threads(threads), positions/blockPositions)))
	cut := func(k int) int { // the first example of part k
		if k == len(parts) {
			return d.Len()
		}
		at, _ := slices.BinarySearch(d.Offsets, positions*k/len(parts))
		return at
	}
	return parts, host.Parallel(len(parts), len(parts), host.None, func(_ struct{}, k int) (err error) {
		e := extractor(k)
		parts[k].dictionary = e.dictionary
		parts[k].nodes, parts[k].edges, err = e.extract(d, cut(k), cut(k+1))
		return err
	})
}

// agree builds one alphabet for all parts, in order of first occurrence after what is known, with which that of the
// first part begins. It renumbers the parts' attributes.
func agree(parts []part, attributesOf func(*part) (*structured.Sparse, *structured.Alphabet)) *structured.Alphabet {
	_, common := attributesOf(&parts[0])
	if len(parts) == 1 {
		return common
	}
	numbers := make([][]int32, len(parts)) // per part: the common number of each of its attributes
	for k := range parts {
		_, names := attributesOf(&parts[k])
		numbers[k] = make([]int32, names.Len())
		for i, name := range names.Names() {
			numbers[k][i] = common.Add(name)
		}
	}
	var running sync.WaitGroup
	for k := range parts {
		running.Go(func() {
			x, _ := attributesOf(&parts[k])
			x.Renumber(numbers[k])
		})
	}
	running.Wait()
	return common
}

// joined concatenates the rows of all parts and empties them, or returns nil if they have none.
func joined(parts []part, attributesOf func(*part) (*structured.Sparse, *structured.Alphabet)) *structured.Sparse {
	if common, _ := attributesOf(&parts[0]); common == nil {
		return nil
	}
	entries, rows := 0, 0
	for k := range parts {
		x, _ := attributesOf(&parts[k])
		entries, rows = entries+len(x.Index), rows+len(x.Offsets)-1
	}
	if first, _ := attributesOf(&parts[0]); len(parts) == 1 {
		return first // what was reserved in excess was never written, so it takes no memory
	}
	joint := &structured.Sparse{Offsets: append(make([]int, 0, rows+1), 0), Index: make([]int32, 0, entries)}
	for k := range parts {
		x, _ := attributesOf(&parts[k])
		at := len(joint.Index)
		for _, offset := range x.Offsets[1:] {
			joint.Offsets = append(joint.Offsets, at+offset)
		}
		joint.Index = append(joint.Index, x.Index...)
		*x = structured.Sparse{} // the next part may take its memory
	}
	return joint
}
