package foreign

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// Batch is the layout of a batch of B examples: what there is beside the values of the potentials. It does not change
// once it is made, and any number of threads may ask about it.
type Batch struct {
	form    *Form
	outputs []int             // [B+1]
	parts   []structured.Part // without values
	gold    [][]int32         // [B] or nil
	graphs  []*structured.Graph
	work    []int       // [B+1] how much of the batch's work lies before each example, roughly
	rooted  *rootedForm // for trees of several roots
}

// Layout says where the examples of a batch lie.
type Layout struct {
	Outputs []int   // [B+1] where each example's output begins, counted in numbers
	Offsets [][]int // for each part [B+1] where each example's rows begin; nil for a part that examples share

	// Gold are numbers that belong to the examples, in a list of which example b has GoldOffsets[b] to
	// GoldOffsets[b+1]-1: what lines must read (transcripts), or gold outputs (counted segmentation, windows). A list
	// with a number below 0 is not known. nil: none is known.
	Gold        []int32
	GoldOffsets []int

	// Ends are the two variables of each edge of graphs, counted from 0 in each example, and Types the types of edges,
	// if they are typed. Example b has edges EdgeOffsets[b] to EdgeOffsets[b+1]-1.
	Ends        [][2]int32
	Types       []int32
	EdgeOffsets []int
}

// NewBatch checks a layout and copies what it needs of it.
func (f *Form) NewBatch(l Layout) (*Batch, error) {
	if err := ascending("outputs", l.Outputs, -1); err != nil {
		return nil, err
	}
	n := len(l.Outputs) - 1
	t := &Batch{form: f, outputs: append([]int(nil), l.Outputs...), work: make([]int, n+1)}
	if len(l.Offsets) != len(f.Parts) {
		return nil, fmt.Errorf("%d parts, expected %d", len(l.Offsets), len(f.Parts))
	}
	for k, shape := range f.Parts {
		if tied := shape.Rows == structured.Tied; tied != (l.Offsets[k] == nil) {
			return nil, fmt.Errorf("part %q: offsets are for parts that examples do not share, and only for these", shape.Name)
		}
		p := structured.Part{Shape: shape}
		if l.Offsets[k] != nil {
			if err := ascending(shape.Name, l.Offsets[k], n); err != nil {
				return nil, err
			}
			p.Offsets = append([]int(nil), l.Offsets[k]...)
			if rows := p.Offsets[n]; rows > 1<<40/shape.Width {
				return nil, fmt.Errorf("part %q has %d rows of %d numbers", shape.Name, rows, shape.Width)
			}
		}
		t.parts = append(t.parts, p)
	}
	if err := t.annotate(l, n); err != nil {
		return nil, err
	}
	for b := range n {
		if err := f.check(example{t, b, t.outputs[b+1] - t.outputs[b]}); err != nil {
			return nil, fmt.Errorf("example %d: %w", b, err)
		}
		work := 1 + t.outputs[b+1] - t.outputs[b]
		for k := range t.parts {
			if p := &t.parts[k]; p.Offsets != nil {
				work += (p.Offsets[b+1] - p.Offsets[b]) * p.Width
			}
		}
		t.work[b+1] = t.work[b] + work
	}
	if s, is := f.Structure.(trees.SpanningTree); is && f.Settings.Roots {
		t.rooted = newRootedForm(s, f.Settings.Labels)
	}
	return t, nil
}

// annotate gives the batch the gold numbers and the graphs of its examples.
func (t *Batch) annotate(l Layout, n int) error {
	if l.GoldOffsets != nil {
		if _, reads := t.form.Structure.(structured.GoldReader); !reads && t.form.Settings.Structure != "transcript" {
			return fmt.Errorf("a %s reads no gold numbers", t.form.Settings.Structure)
		}
		if err := ascending("gold", l.GoldOffsets, n); err != nil {
			return err
		}
		if l.GoldOffsets[n] > len(l.Gold) {
			return fmt.Errorf("%d gold numbers, expected %d", len(l.Gold), l.GoldOffsets[n])
		}
		most := t.form.Settings.Labels - 1 // symbols
		for b := range n {
			gold := append([]int32{}, l.Gold[l.GoldOffsets[b]:l.GoldOffsets[b+1]]...)
			if len(gold) > 0 && slices.Min(gold) < 0 {
				t.gold = append(t.gold, nil)
				continue
			}
			e := example{t, b, t.outputs[b+1] - t.outputs[b]}
			var err error
			if t.form.Settings.Structure == "transcript" {
				err = below(gold, most, "symbol")
			} else if len(gold) != e.numbers {
				err = fmt.Errorf("%d gold numbers, expected %d", len(gold), e.numbers)
			} else {
				err = t.form.output(e, gold)
			}
			if err != nil {
				return fmt.Errorf("gold of example %d: %w", b, err)
			}
			t.gold = append(t.gold, gold)
		}
	}
	if l.EdgeOffsets == nil {
		return nil
	}
	if _, reads := t.form.Structure.(structured.GraphReader); !reads {
		return fmt.Errorf("a %s has no edges to be given", t.form.Settings.Structure)
	}
	if err := ascending("edges", l.EdgeOffsets, n); err != nil {
		return err
	}
	if edges := l.EdgeOffsets[n]; edges > len(l.Ends) || l.Types != nil && edges > len(l.Types) {
		return fmt.Errorf("%d edges with %d types, expected %d", len(l.Ends), len(l.Types), edges)
	}
	for b := range n {
		lo, hi := l.EdgeOffsets[b], l.EdgeOffsets[b+1]
		g := &structured.Graph{Ends: append([][2]int32(nil), l.Ends[lo:hi]...)}
		if l.Types != nil {
			g.Types = append([]int32(nil), l.Types[lo:hi]...)
		}
		t.graphs = append(t.graphs, g)
	}
	return nil
}

// ascending refuses offsets that are not those of n examples, or of any number if n < 0.
func ascending(what string, offsets []int, n int) error {
	if len(offsets) == 0 || n >= 0 && len(offsets) != n+1 {
		return fmt.Errorf("%d offsets of %s, expected one more than there are examples", len(offsets), what)
	}
	if offsets[0] != 0 {
		return fmt.Errorf("offsets of %s begin with %d, expected 0", what, offsets[0])
	}
	for b := range offsets[1:] {
		if offsets[b+1] < offsets[b] {
			return fmt.Errorf("offsets of %s fall from %d to %d at example %d", what, offsets[b], offsets[b+1], b)
		}
	}
	return nil
}

// Len returns B, the number of examples.
func (t *Batch) Len() int { return len(t.outputs) - 1 }

// Numbers returns the total length of the outputs.
func (t *Batch) Numbers() int { return t.outputs[t.Len()] }

// Size returns how many numbers the potentials of part k have: [rows × width].
func (t *Batch) Size(k int) int {
	if p := &t.parts[k]; p.Offsets != nil {
		return p.Offsets[t.Len()] * p.Width
	}
	return t.parts[k].Width
}

// MarginalSize returns how many numbers the marginals of part k have. A tied part has a row for each example.
func (t *Batch) MarginalSize(k int) int {
	if t.parts[k].Offsets != nil {
		return t.Size(k)
	}
	return t.Len() * t.parts[k].Width
}

// Parts returns the number of parts.
func (t *Batch) Parts() int { return len(t.parts) }
