package inputs

import (
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/structured/trees"
)

// Arcs is the Maker of the attributes of arcs, from the columns of a treebank.
type Arcs struct {
	Template   *arcs.Template
	Dictionary *arcs.Dictionary
	Siblings   *arcs.Numbers // of the attributes of siblings; nil without these
}

// inputColumns are the columns of a treebank that inputs may be made from: all but its trees.
var inputColumns = []string{"word", "lemma", "upos", "xpos", "feats"}

func arcColumns(d *structured.Dataset) arcs.Columns {
	to := arcs.Columns{Name: d.Name}
	for _, name := range inputColumns {
		to.Names, to.Cells = append(to.Names, name), append(to.Cells, d.Column(name))
	}
	return to
}

// fitArcs collects the attributes of arcs in the training data, and of siblings if they are asked for, and makes them
// there.
func fitArcs(t *arcs.Template, train *structured.Dataset, o templates.Options, siblings bool) (*Arcs, error) {
	t = t.ForColumns(inputColumns)
	heads := headsOf(train)
	dictionary, err := t.Fit(arcColumns(train), train.Offsets, heads, o)
	if err != nil {
		return nil, err
	}
	in := &Arcs{Template: t, Dictionary: dictionary}
	if siblings {
		if in.Siblings, err = arcs.FitSiblings(train.Column(siblingColumn), train.Offsets, heads, o.MinCount); err != nil {
			return nil, err
		}
	}
	return in, in.Apply(train, o.Threads)
}

// headsOf returns the gold heads of all words: places in the sentence, from 0. The root's dependent is its own head.
func headsOf(train *structured.Dataset) []int32 {
	heads := make([]int32, 0, train.Positions())
	for i := range train.Len() {
		for k, h := range train.Gold(i)[:train.Length(i)] {
			if h == 0 {
				h = int32(k) + 1
			}
			heads = append(heads, h-1)
		}
	}
	return heads
}

// Apply makes the attributes of all arcs of a data set.
func (in *Arcs) Apply(d *structured.Dataset, threads int) error {
	if in.Siblings != nil {
		in.applySiblings(d, threads)
	}
	return in.apply(rowsOfArcs, d, threads)
}

func (in *Arcs) Extractor() func(d *structured.Dataset) error {
	arcs := in.extractor(rowsOfArcs)
	if in.Siblings == nil {
		return arcs
	}
	return func(d *structured.Dataset) error {
		in.applySiblings(d, 1)
		return arcs(d)
	}
}

// siblingColumn is the column whose tags attributes of siblings see.
const siblingColumn = "upos"

// applySiblings makes the attributes of siblings, in a table of their own.
func (in *Arcs) applySiblings(d *structured.Dataset, threads int) {
	tags, blocks := d.Column(siblingColumn), Batches(d)
	made := make([]*structured.Sparse, len(blocks))
	_ = host.Parallel(threads, len(blocks), func() int { return 0 }, func(_, k int) error {
		made[k] = &structured.Sparse{Offsets: []int{0}}
		for _, i := range blocks[k] {
			arcs.AppendSiblings(in.Siblings, tags[d.Offsets[i]:d.Offsets[i+1]], made[k])
		}
		return nil
	})
	offsets := make([]int, d.Len()+1)
	for i := range d.Len() {
		offsets[i+1] = offsets[i] + trees.Siblings(d.Length(i))
	}
	if d.Table(trees.SiblingRows) == nil {
		d.Tables = append(d.Tables, &structured.Table{Name: trees.SiblingRows})
	}
	t := d.Table(trees.SiblingRows)
	t.Offsets, t.Attributes = offsets, structured.JoinSparse(made)
}

// Names implements Maker: attributes of arcs and of spans are known by hashes, and have no names.
func (in *Arcs) Names() []*structured.Alphabet { return nil }

func (in *Arcs) Missing(d *structured.Dataset) string {
	if t := d.Table(trees.ArcRows); t == nil || t.Attributes == nil {
		return "attributes of arcs"
	}
	return ""
}

// Network implements Maker. Dense features of the dependent and of the head have weights for each class of distances,
// as the linear terms of net biaffine have.
func (in *Arcs) Network(form structured.Form, dim int) (nets.Network, error) {
	dense := func(part string) []sparse.Dense {
		if dim == 0 {
			return nil
		}
		return []sparse.Dense{{Weights: part + "_of_dependent", Dim: dim, Of: sparse.OfDependent},
			{Weights: part + "_of_head", Dim: dim, Of: sparse.OfHead}}
	}
	parts := []sparse.Part{
		{Attributes: in.Dictionary.Arc.Len(), Weights: "arc_attributes", Dense: dense("arc")},
		{Attributes: in.Dictionary.Label.Len(), Weights: "label_attributes", Dense: dense("label")},
	}
	if in.Siblings != nil {
		parts = append(parts, sparse.Part{Attributes: in.Siblings.Len(), Weights: "sibling_attributes"})
	}
	return sparse.New(form, parts), nil
}

// The tensors of a model file that hold the hashes of attributes of arcs, in the order of their numbers.
const (
	arcHashes   = "arc_attribute_hashes"
	labelHashes = "label_attribute_hashes"

	siblingHashes = "sibling_attribute_hashes"
)

// Save implements Maker: it puts the dictionary into f. Hashed attributes have none.
func (in *Arcs) Save(f *safetensors.File) (template string, hashBits int) {
	for _, part := range in.parts() {
		if numbers := *part.of; numbers.HashBits() == 0 {
			hashes := make([]int64, numbers.Len())
			for k, h := range numbers.Hashes() {
				hashes[k] = int64(h)
			}
			safetensors.Add(f, part.name, hashes)
		}
	}
	return in.Template.String(), in.Dictionary.Arc.HashBits()
}

// LoadArcs takes the template and the dictionary from a model file, and returns how many tensors held them. hashBits is
// 0 where attributes are not hashed. A file without a template has no such inputs.
func LoadArcs(f *safetensors.File, template string, hashBits int) (own Maker, tensors int, err error) {
	if template == "" {
		return nil, 0, nil
	}
	in := &Arcs{Dictionary: &arcs.Dictionary{}}
	if in.Template, err = arcs.Parse(template, "the model's template"); err != nil {
		return nil, 0, err
	}
	if _, ok := f.Tensors[siblingHashes]; ok {
		in.Siblings = &arcs.Numbers{}
	}
	for _, part := range in.parts() {
		if hashBits > 0 && part.name != siblingHashes {
			*part.of, err = arcs.HashedNumbers(hashBits)
		} else {
			var hashes []int64
			if hashes, err = safetensors.Values[int64](f, part.name, -1); err == nil {
				unsigned := make([]uint64, len(hashes))
				for k, h := range hashes {
					unsigned[k] = uint64(h)
				}
				*part.of, err = arcs.NewNumbers(unsigned)
				tensors++
			}
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return in, tensors, nil
}

func (in *Arcs) parts() []arcPart {
	all := []arcPart{{arcHashes, &in.Dictionary.Arc}, {labelHashes, &in.Dictionary.Label}}
	if in.Siblings != nil {
		all = append(all, arcPart{siblingHashes, &in.Siblings})
	}
	return all
}

type arcPart struct {
	name string
	of   **arcs.Numbers
}
