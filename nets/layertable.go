package nets

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Layer is a row of the table of a network: an op of its program that does real work, with the cheap ones that follow
// it (biases, activations, masks).
type Layer struct {
	// what it computes, from which parameters: "product hidden1.weight", "window 3", the name of an op of the user's
	// own
	Name   string   `json:"name"`
	With   []string `json:"with"`   // what follows in place: "+ bias", "elu"
	Params []string `json:"params"` // parameters that it reads
	// shape of the result; n stands for the positions of a batch, p for pairs of positions or edges, c for characters
	// of words
	Output  string  `json:"output"`
	Weights int     `json:"weights"` // numbers in parameters that no earlier layer reads
	Share   float64 `json:"share"`   // of the time that the potentials of a batch take
}

// measurements is how often Layers measures each op; it takes the fastest.
const measurements = 7

// Layers measures the layers of the network on a batch: it computes the potentials at weights w several times on one
// thread, and takes the least time of every op. Rows are in the order in which they are computed.
func (n *Net) Layers(w []float32, batch *structured.Batch) ([]Layer, error) {
	worker := n.NewNetWorker()
	var θ structured.Potentials
	if err := worker.Score(w, batch, &θ); err != nil { // for its checks
		return nil, err
	}
	p := worker.prog
	least := make([]time.Duration, len(p.Forward))
	for k := range measurements {
		for i := range p.Forward {
			in := &p.Forward[i]
			start := time.Now()
			in.Op.Run(worker.m, in)
			if took := time.Since(start); k == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	t := &layerTable{net: n, p: p, of: map[*graph.Buffer]int{}, waiting: map[*graph.Buffer]*waiting{},
		counted: map[string]bool{}}
	var total time.Duration
	for i := range p.Forward {
		t.add(&p.Forward[i], least[i])
		total += least[i]
	}
	t.tied()
	if e := worker.encoded; e != nil {
		begun := time.Now()
		if err := e.Encode(w[e.own:], 0, batch, e.values[:e.rows*e.width]); err != nil {
			return nil, err
		}
		took := time.Since(begun)
		total += took
		t.rows = slices.Insert(t.rows, 0,
			Layer{Name: "encoder", Output: fmt.Sprintf("n×%d", e.width), Weights: n.Dim() - n.own.Dim()})
		t.took = slices.Insert(t.took, 0, took)
	}
	for i := range t.rows {
		if total > 0 {
			t.rows[i].Share = float64(t.took[i]) / float64(total)
		}
	}
	return t.rows, nil
}

// layerTable is a table under construction.
type layerTable struct {
	net     *Net
	p       *graph.Program
	rows    []Layer
	took    []time.Duration
	of      map[*graph.Buffer]int      // the row that computes a buffer
	waiting map[*graph.Buffer]*waiting // masks, and copies to which another op adds
	counted map[string]bool            // parameters in Weights of some row
}

// waiting is an op that becomes part of the row that uses its result next.
type waiting struct {
	name   string
	params []string
	took   time.Duration
}

// add adds an instruction: as a row of its own, or to the row whose result it reads if it is cheap.
func (t *layerTable) add(in *graph.Instruction, took time.Duration) {
	params := t.params(in)
	name, follows := layerName(in.Op)
	row := -1
	if follows {
		row = t.above(in)
	}
	switch in.Op.(type) {
	case graph.Mask:
		t.waiting[in.Out] = &waiting{"dropout", nil, took}
		return
	case graph.Assign:
		if !in.Accumulate && t.isBegun(in) {
			t.waiting[in.Out] = &waiting{"+", params, took}
			return
		}
	}
	if row < 0 {
		row = len(t.rows)
		name = strings.Join(append([]string{name}, params...), " ")
		t.rows, t.took = append(t.rows, Layer{Name: name, With: []string{}, Params: []string{}}), append(t.took, 0)
		t.reads(row, params)
	} else if !t.masks(in) {
		t.follow(row, name, params)
	}
	for _, b := range append([]*graph.Buffer{in.Out}, buffers(in)...) {
		if w := t.waiting[b]; w != nil {
			t.follow(row, w.name, w.params)
			t.took[row] += w.took
			delete(t.waiting, b)
		}
	}
	t.rows[row].Output = t.shape(in)
	t.took[row] += took
	t.of[in.Out] = row
}

func buffers(in *graph.Instruction) []*graph.Buffer {
	var all []*graph.Buffer
	for _, a := range in.Args {
		all = append(all, a.Buffer)
	}
	return all
}

// masks reports whether an instruction multiplies by a mask of dropout.
func (t *layerTable) masks(in *graph.Instruction) bool {
	return slices.ContainsFunc(buffers(in), func(b *graph.Buffer) bool {
		w := t.waiting[b]
		return w != nil && w.name == "dropout"
	})
}

// isBegun reports whether an instruction copies what a later one adds to.
func (t *layerTable) isBegun(copied *graph.Instruction) bool {
	for i := range t.p.Forward {
		if in := &t.p.Forward[i]; in != copied && in.Out == copied.Out {
			return in.Accumulate
		}
	}
	return false
}

// follow adds what an op does to the row whose result it works on.
func (t *layerTable) follow(row int, name string, params []string) {
	if name += " " + strings.Join(params, " "); name != " " {
		t.rows[row].With = append(t.rows[row].With, strings.TrimSpace(name))
	}
	t.reads(row, params)
}

// reads adds parameters to those of a row.
func (t *layerTable) reads(row int, params []string) {
	l := &t.rows[row]
	for _, p := range params {
		if !slices.Contains(l.Params, p) {
			l.Params = append(l.Params, p)
		}
		if a, _ := t.net.layout.Find(p); !t.counted[p] {
			l.Weights += a.Len()
			t.counted[p] = true
		}
	}
}

// tied adds a row for potentials that are a parameter, which the oracle reads and no op computes.
func (t *layerTable) tied() {
	for k, b := range t.p.Outputs {
		if b == nil || b.Space != graph.SpaceWeights {
			continue
		}
		for _, a := range t.net.layout {
			if a.Offset != b.Offset {
				continue
			}
			l := Layer{Name: t.p.Form.Parts[k].Name + " potentials " + a.Name, With: []string{}, Params: []string{a.Name},
				Output: shapeOf(a.Shape)}
			if !t.counted[a.Name] {
				l.Weights = a.Len()
			}
			t.counted[a.Name] = true
			t.rows, t.took = append(t.rows, l), append(t.took, 0)
		}
	}
}

// above returns the row of the last argument that a row computes, −1 if there is none.
func (t *layerTable) above(in *graph.Instruction) int {
	row := -1
	for _, a := range in.Args {
		if at, ok := t.of[a.Buffer]; ok {
			row = max(row, at)
		}
	}
	if at, ok := t.of[in.Out]; ok && in.Accumulate {
		row = max(row, at)
	}
	return row
}

// params returns the names of the parameters that an instruction reads.
func (t *layerTable) params(in *graph.Instruction) []string {
	var names []string
	for _, arg := range in.Args {
		if arg.Buffer.Space != graph.SpaceWeights {
			continue
		}
		for _, a := range t.net.layout {
			if a.Offset == arg.Buffer.Offset && !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// shape returns the shape of a result, with n for the rows of positions, p for those of pairs or edges, and c for those
// of characters.
func (t *layerTable) shape(in *graph.Instruction) string {
	s := in.Out.Shape
	if g, ok := in.Op.(graph.Gather); ok && (g.Index.Kind == graph.IndexWindow || g.Index.Kind == graph.IndexGrid) {
		s = []int{t.p.Rows, in.Out.N / t.p.Rows}
	}
	if len(s) == 0 {
		s = []int{in.Out.N}
	}
	for _, rows := range []struct {
		name string
		n    int
	}{{"p", t.p.Pairs}, {"c", t.p.Chars}, {"n", t.p.Rows}} {
		if rows.n > 0 && s[0] >= rows.n && s[0]%rows.n == 0 {
			head := rows.name
			if many := s[0] / rows.n; many > 1 {
				head = fmt.Sprintf("%s·%d", rows.name, many)
			}
			return strings.TrimSuffix(head+"×"+shapeOf(s[1:]), "×")
		}
	}
	return shapeOf(s)
}

func shapeOf(s []int) string {
	parts := make([]string, len(s))
	for i, n := range s {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, "×")
}

// layerName names an op in the table; follows says that it belongs to the row whose result it reads.
func layerName(o graph.Op) (name string, follows bool) {
	switch o := o.(type) {
	case graph.MatMul:
		return "product", false
	case graph.Gather:
		switch o.Index.Kind {
		case graph.IndexIds:
			return "embed", false
		case graph.IndexWindow:
			return "window " + fmt.Sprint(o.Index.Width), false
		case graph.IndexGrid:
			return fmt.Sprintf("window %d×%d", o.Index.Width, o.Index.Width), false
		case graph.IndexPattern:
			return "patches", false
		}
		return o.Index.String(), false
	case graph.Bilinear:
		return "bilinear", false
	case graph.Unary, graph.Slope:
		return o.String(), true
	case graph.Binary:
		return o.String(), true
	case graph.Assign:
		return "+", true
	case graph.MaxPool:
		return "max pool 2×2", false
	case graph.Concat:
		return "join", false
	case graph.Permute:
		return "transpose", false
	case graph.Recurrence:
		return "recurrence", false
	case graph.SegmentMax:
		return "max of each word", false
	case graph.Bag:
		return "sum of attributes", false
	}
	if own, ok := o.(graph.Own); ok {
		return own.Name, false
	}
	name, _, _ = strings.Cut(o.String(), " ")
	return name, false
}
