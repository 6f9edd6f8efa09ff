package segmentation

import (
	"cmp"
	"context"
	"strconv"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/regions"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Reader makes data sets of images.
type Reader struct {
	Division
	Labels  *structured.Alphabet // the names of the labels; nil: they are the numbers in the masks
	Where   string               // where the names come from, for messages: a file
	Values  *masks.Values        // of the labels in the files of masks; nil: they are the labels
	All     bool                 // keep regions without a labelled pixel, for prediction
	Threads int                  // 0: all cores
	Remarks *remarks.Remarks     // on images; nil refuses bad ones

	Inputs
}

// validate returns a bad-input error about the first setting that is out of range.
func (r Reader) validate() error {
	if err := r.Inputs.Validate(); err != nil {
		return err
	}
	return r.Division.Validate()
}

// Read makes a data set whose examples are images and whose variables are their regions:
//
//	Features, Dim         see regions.Features; or Source, with pixels, see Inputs
//	Graphs                the neighbours; the types of edges are their directions
//	table EdgeRows        dense features of the edges, see regions.EdgeFeatures
//	IDs                   the names of the images
//
// and, if the source has masks,
//
//	Labels                the label that most labelled pixels of a region have
//	Costs                 the number of labelled pixels of a region, relative to the mean
//	table graphs.PixelRows  the numbers of pixels by label, for graphs.Evaluator
//
// A region without a labelled pixel is left out with its edges, unless All is true: then its label is −1, not known,
// and costs nothing. An image without any labelled pixel becomes an example without variables. A source without any
// labelled pixel is bad input.
func (r Reader) Read(ctx context.Context, source Source) (*structured.Dataset, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	b := builder{r: r, d: &structured.Dataset{Name: source.Name(), Dim: r.Dim(), Offsets: []int{0}},
		edges: &structured.Table{Name: graphs.EdgeRows, Offsets: []int{0}, Dim: regions.EdgeDim}}
	if r.Patch > 0 {
		b.crops = r.crops()
		b.d.Source = b.crops
	}
	numbers := make([]int, source.Len())
	for i := range numbers {
		numbers[i] = i
	}
	describe := func(_ struct{}, i int) (described, error) {
		x, err := r.describe(source, i)
		x.number, x.bad = i, err
		return x, nil
	}
	if err := host.InOrder(ctx, r.Threads, host.Each(numbers), host.None, describe, b.add); err != nil {
		return nil, err
	}
	if numbers = b.numbers; len(numbers) == 0 && source.Len() > 0 {
		return nil, structured.BadInput("%s: no image can be read", source.Name())
	}
	b.d.Tables = []*structured.Table{b.edges}
	if !source.Masks() {
		b.d.Alphabet = r.Labels
		b.d.TaskData = &Set{r, source, numbers}
		return b.d, nil
	}
	if err := b.labels(); err != nil {
		return nil, err
	}
	if r.All {
		b.d.TaskData = &Set{r, source, numbers}
		return b.d, nil
	}
	return graphs.WithoutUnknown(b.d), nil
}

// described is an image as a graph.
type described struct {
	number int   // in the source
	bad    error // why it is none

	look      structured.ImageLook
	stored    images.Orientation
	place     string // of the mask, or of the image
	withImage bool   // the mask was turned as the image was

	id              string
	graph           *structured.Graph
	regions         int
	features, edges []float32
	image           *images.Image // at the scale of patches, with the centres of the regions; nil without patches
	centres         [][2]float64
	counts          *structured.Sparse // nil without a mask
}

// load reads an example whose mask has labels.
func (r Reader) load(source Source, i int) (Example, error) {
	e, err := source.Load(i)
	if err == nil && e.Mask != nil {
		e.Mask, err = r.Values.Read(e.Mask, e.Place)
	}
	return e, err
}

func (r Reader) describe(source Source, i int) (described, error) {
	e, err := r.load(source, i)
	if err != nil {
		return described{}, err
	}
	if e.Mask != nil {
		if err := r.Check(e); err != nil {
			return described{}, err
		}
	}
	p := r.partition(e.Image)
	borders := regions.Borders(e.Image, p, r.Neighbours == 8)
	out := described{look: e.Image.Look(e.Image.Scale()), stored: e.Image.Stored, place: e.Place,
		withImage: e.Mask != nil && e.Mask.WithImage, id: e.ID, graph: regions.Graph(borders), regions: p.Count,
		features: regions.Features(nil, e.Image, p, borders)}
	out.edges = regions.EdgeFeatures(nil, out.features, p, borders)
	if r.Patch > 0 {
		if out.image, out.centres, err = r.scaled(e, p); err != nil {
			return described{}, err
		}
	}
	if e.Mask != nil {
		out.counts = regions.Count(p, e.Mask)
	}
	return out, nil
}

// Check compares the labels of a mask with the known ones.
func (r Reader) Check(e Example) error {
	if r.Labels == nil {
		return nil
	}
	return e.Mask.Check(min(r.Labels.Len(), masks.MaxLabels), e.Place, structured.SomeOf(r.Labels.Names())+": "+
		cmp.Or(r.Where, "the known labels"))
}

// builder appends graphs to a data set.
type builder struct {
	r       Reader
	d       *structured.Dataset
	edges   *structured.Table
	crops   *images.Crops // nil without patches
	numbers []int         // of the examples, in the source
	counts  []*structured.Sparse
}

func (b *builder) add(x described) error {
	if x.bad != nil {
		return b.r.Remarks.Bad(x.bad)
	}
	if x.stored.Turns() {
		b.r.Remarks.Done(remarks.Turned, x.place)
	}
	if x.withImage {
		b.r.Remarks.Doubt(remarks.TurnedMask, x.place)
	}
	d := b.d
	b.numbers = append(b.numbers, x.number)
	d.IDs, d.Graphs, d.Looks = append(d.IDs, x.id), append(d.Graphs, x.graph), append(d.Looks, x.look)
	if b.crops == nil {
		d.Features = append(d.Features, x.features...)
	} else if err := b.addPixels(x); err != nil {
		return err
	}
	b.edges.Features = append(b.edges.Features, x.edges...)
	d.Offsets = append(d.Offsets, d.Positions()+x.regions)
	b.edges.Offsets = append(b.edges.Offsets, len(b.edges.Features)/regions.EdgeDim)
	if x.counts != nil {
		b.counts = append(b.counts, x.counts)
	}
	return nil
}

// labels sets the labels, their names and the costs.
func (b *builder) labels() error {
	d := b.d
	counts := structured.JoinSparse(b.counts)
	d.Labels, d.Costs, d.CostRows = make([]int32, d.Positions()), make([]float32, d.Positions()), structured.Positions
	largest, pixels, labelled := int32(-1), 0.0, 0
	for v := range d.Labels {
		labels, numbers := counts.Row(v)
		d.Labels[v], d.Costs[v] = regions.Majority(labels, numbers)
		if d.Labels[v] < 0 {
			d.LabelSets = [][]int32{nil} // −1 allows any label
			continue
		}
		largest = max(largest, labels[len(labels)-1])
		pixels += float64(d.Costs[v])
		labelled++
	}
	if labelled == 0 {
		return structured.BadInput("%s: all pixels of all masks are void (--void), expected labels", d.Name)
	}
	for v := range d.Costs {
		d.Costs[v] = float32(float64(d.Costs[v]) * float64(labelled) / pixels)
	}
	d.Alphabet = b.r.Labels
	if values := b.r.Values; d.Alphabet == nil && values != nil && values.Labels != nil {
		d.Alphabet = structured.NewAlphabet(values.Names()...)
	} else if d.Alphabet == nil {
		d.Alphabet = structured.NewAlphabet()
		for l := range largest + 1 {
			d.Alphabet.Add(strconv.Itoa(int(l)))
		}
	}
	d.Tables = append(d.Tables, &structured.Table{Name: graphs.PixelRows, Offsets: d.Offsets, Attributes: counts})
	return nil
}
