package inputs

import (
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/safetensors"
	"github.com/dsp-go/dsp/structured/trees"
)

// Arcs is the Maker of the attributes of arcs, from the columns of a treebank.
type Arcs struct {
	Template   *arcs.Template
	Dictionary *arcs.Dictionary
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

// fitArcs collects the attributes of arcs in the training data, and makes them there.
func fitArcs(t *arcs.Template, train *structured.Dataset, o arcs.Options) (*Arcs, error) {
	t = t.ForColumns(inputColumns)
	heads := make([]int32, 0, train.Positions())
	for i := range train.Len() {
		for k, h := range train.Gold(i)[:train.Length(i)] {
			if h == 0 {
				h = int32(k) + 1 // the root's dependent is its own head
			}
			heads = append(heads, h-1)
		}
	}
	dictionary, err := t.Fit(arcColumns(train), train.Offsets, heads, o)
	if err != nil {
		return nil, err
	}
	in := &Arcs{t, dictionary}
	return in, in.Apply(train, o.Threads)
}

// Apply makes the attributes of all arcs of a data set.
func (in *Arcs) Apply(d *structured.Dataset, threads int) error {
	return in.apply(rowsOfArcs, d, threads)
}

// Extractor implements Maker.
func (in *Arcs) Extractor() func(d *structured.Dataset) error { return in.extractor(rowsOfArcs) }

// Missing implements Maker.
func (in *Arcs) Missing(d *structured.Dataset) string {
	if t := d.Table(trees.ArcRows); t == nil || t.Attributes == nil {
		return "attributes of arcs"
	}
	return ""
}

// Network implements Maker. Dense features of the dependent and of the head have weights for each class of distances, as the linear terms of
// net biaffine have.
func (in *Arcs) Network(form structured.Form, dim int) (nets.Network, error) {
	dense := func(part string) []sparse.Dense {
		if dim == 0 {
			return nil
		}
		return []sparse.Dense{{Weights: part + "_of_dependent", Dim: dim, Of: sparse.OfDependent}, {Weights: part + "_of_head", Dim: dim, Of: sparse.OfHead}}
	}
	return sparse.New(form, []sparse.Part{
		{Attributes: in.Dictionary.Arc.Len(), Weights: "arc_attributes", Dense: dense("arc")},
		{Attributes: in.Dictionary.Label.Len(), Weights: "label_attributes", Dense: dense("label")},
	}), nil
}

// The tensors of a model file that hold the hashes of attributes of arcs, in the order of their numbers.
const (
	arcHashes   = "arc_attribute_hashes"
	labelHashes = "label_attribute_hashes"
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

// LoadArcs takes the template and the dictionary from a model file, and returns how many tensors held them. hashBits is 0 where
// attributes are not hashed. A file without a template has no such inputs.
func LoadArcs(f *safetensors.File, template string, hashBits int) (own Maker, tensors int, err error) {
	if template == "" {
		return nil, 0, nil
	}
	in := &Arcs{Dictionary: &arcs.Dictionary{}}
	if in.Template, err = arcs.Parse(template, "template"); err != nil {
		return nil, 0, err
	}
	for _, part := range in.parts() {
		if hashBits > 0 {
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
	return []arcPart{{arcHashes, &in.Dictionary.Arc}, {labelHashes, &in.Dictionary.Label}}
}

type arcPart struct {
	name string
	of   **arcs.Numbers
}
