package onnx

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/nets/graph"
)

// The layers that join all positions of an example.

// recurrence translates h_t = a_t⊙h_{t∓1} + b_t to one loop over positions that runs in both directions.
func (n *network) recurrence(at int, s *graph.Step, o graph.Recurrence) {
	row := graph.Axis{Outer: 1, Rows: n.flow.Rows, Inner: o.Cols}
	var ab [2]string
	for i, x := range s.Args {
		ab[i] = n.padded(n.reshape(n.rows(x, row, n.rowCount), -1, o.Cols), o.Cols)
	}
	loop := newLoop(n.builder)
	var outputs []string
	for _, d := range []struct {
		lo, hi int
		back   bool
	}{{0, o.Forward, false}, {o.Forward, o.Cols, true}} {
		if d.lo == d.hi {
			continue
		}
		before := loop.state("h", format.Float, n.zeros(d.hi-d.lo))
		var x [2]string
		for i, name := range []string{"a", "b"} {
			part := ab[i]
			if d.hi-d.lo < o.Cols {
				part = n.slice(part, 2, d.lo, d.hi)
			}
			if d.back {
				part = n.keep(part) // the state stays zero up to the last position
			}
			x[i] = loop.each(name, format.Float, part, d.back)
		}
		h := loop.of("Add", loop.of("Mul", x[0], before), x[1])
		loop.next(h)
		outputs = append(outputs, loop.out("h", loop.of("Identity", h), format.Float, d.back))
	}
	loop.close()
	n.set(at, n.reshape(n.concat(2, outputs...), -1, o.Cols), n.flow.Rows, o.Cols)
}

// attention translates softmax(q·kᵀ/√E)·v over the positions of each example.
func (n *network) attention(at int, s *graph.Step, o graph.Attention) {
	wide := o.Heads * o.Size
	x := n.padded(n.in(s.Args[0], n.flow.Rows, 3*wide), 3, o.Heads, o.Size)
	part := func(i int, order ...int) string { return n.transpose(n.gather(x, n.int(i), 2), order...) }
	q, k, v := part(0, 0, 2, 1, 3), part(1, 0, 2, 3, 1), part(2, 0, 2, 1, 3) // [B×H×T×E], [B×H×E×T], [B×H×T×E]
	q = n.of("Mul", q, n.float(float32(1/math.Sqrt(float64(o.Size)))))
	there := n.once("columns", func() string { return n.of("Unsqueeze", n.alive(), n.ints(1, 2)) })
	scores := n.of("Where", there, n.of("MatMul", q, k), n.float(lowest))
	p := n.add("Softmax", []string{scores}, integer("axis", -1))
	y := n.transpose(n.of("MatMul", p, v), 0, 2, 1, 3)
	n.set(at, n.reshape(y, -1, wide), n.flow.Rows, wide)
}

// waves returns the cosines and the sines [T×1×half] of t·base^(−i/half). The angles are float64: float32 loses the
// digits of large ones.
func (n *network) waves(half int, base float64) (cos, sin string) {
	wave := func(name string, phase float64) string {
		return n.once(fmt.Sprint(name, half, " ", base), func() string {
			angles := n.once(fmt.Sprint("angles", half, " ", base), func() string {
				f := make([]float64, half)
				for i := range f {
					f[i] = math.Pow(base, -float64(i)/float64(half))
				}
				t := n.of("Unsqueeze", n.cast(n.positions(), format.Double), n.ints(1))
				return n.of("Unsqueeze", n.of("Mul", t, n.double(f...)), n.ints(1))
			})
			return n.cast(n.of("Sin", n.of("Add", angles, n.double(phase))), format.Float)
		})
	}
	return wave("cos", math.Pi/2), wave("sin", 0)
}

func (n *network) rotation(at int, s *graph.Step, o graph.Rotation) {
	half, heads := o.Size/2, o.Turned/o.Size
	x := n.padded(n.in(s.Args[0], n.flow.Rows, o.Cols), o.Cols)
	turned := n.padded(n.slice(x, 2, 0, o.Turned), heads, 2, half)
	u, v := n.gather(turned, n.int(0), 3), n.gather(turned, n.int(1), 3) // [B×T×heads×half]
	cos, sin := n.waves(half, o.Base)
	if o.Back {
		sin = n.of("Neg", sin)
	}
	first := n.of("Sub", n.of("Mul", u, cos), n.of("Mul", v, sin))
	second := n.of("Add", n.of("Mul", u, sin), n.of("Mul", v, cos))
	y := n.padded(n.concat(3, n.of("Unsqueeze", first, n.ints(3)), n.of("Unsqueeze", second, n.ints(3))), o.Turned)
	if o.Turned < o.Cols {
		y = n.concat(2, y, n.slice(x, 2, o.Turned, open))
	}
	n.set(at, n.reshape(y, -1, o.Cols), n.flow.Rows, o.Cols)
}

func (n *network) sinusoids(at int, s *graph.Step, o graph.Sinusoids) {
	cos, sin := n.waves(o.Cols/2, graph.WaveBase)
	x := n.padded(n.in(s.Args[0], n.flow.Rows, o.Cols), o.Cols)
	wave := n.reshape(n.concat(2, cos, sin), -1, o.Cols)
	n.set(at, n.reshape(n.of("Add", x, wave), -1, o.Cols), n.flow.Rows, o.Cols)
}

// loop builds a Scan: a loop over the second axis of arrays [B×T×…], with states that go from step to step. The nodes
// of its body are added to the loop; its body may read every array made before.
type loop struct {
	*builder
	outside                                  *builder
	initial, read                            []string
	states, items, nexts, results            []*format.Array
	itemsBack, resultsBack, axes, outputAxes []int
	outputs                                  []string
}

func newLoop(outside *builder) *loop { return &loop{builder: outside.body(), outside: outside} }

// state adds a state with the given value before the first step, and returns its name in the body.
func (l *loop) state(name string, kind format.DataType, initial string) string {
	name = l.name(name + "_before")
	l.initial = append(l.initial, initial)
	l.states = append(l.states, untyped(name, kind))
	return name
}

// next says what the next state becomes, in the order of the calls of state.
func (l *loop) next(x string) {
	kind := l.states[len(l.nexts)].Type.Tensor.Elem
	l.nexts = append(l.nexts, untyped(x, kind))
}

// each adds an array of which every step reads its entry, and returns the entry's name in the body. The loop reads it
// back to front if back is set.
func (l *loop) each(name string, kind format.DataType, x string, back bool) string {
	name = l.name(name + "_at")
	l.read, l.items = append(l.read, x), append(l.items, untyped(name, kind))
	l.itemsBack, l.axes = append(l.itemsBack, number(back)), append(l.axes, 1)
	return name
}

// out collects x of every step to an array, whose name it returns, back to front if back is set.
func (l *loop) out(name, x string, kind format.DataType, back bool) string {
	name = l.name(name)
	l.outputs, l.results = append(l.outputs, name), append(l.results, untyped(x, kind))
	l.resultsBack, l.outputAxes = append(l.resultsBack, number(back)), append(l.outputAxes, 1)
	return name
}

// close adds the loop to the graph.
func (l *loop) close() {
	name := l.name("step")
	body := &format.Graph{Name: name, Nodes: l.nodes, Inputs: append(l.states, l.items...),
		Outputs: append(l.nexts, l.results...)}
	var outputs []string
	for range l.states {
		outputs = append(outputs, l.name("state_after"))
	}
	l.outside.addMany(append(outputs, l.outputs...), "Scan", append(l.initial, l.read...), subgraph("body", body),
		integer("num_scan_inputs", len(l.read)), integers("scan_input_axes", l.axes...),
		integers("scan_input_directions", l.itemsBack...), integers("scan_output_axes", l.outputAxes...),
		integers("scan_output_directions", l.resultsBack...))
}

// untyped describes an array of the body of a loop, whose shape runtimes infer.
func untyped(name string, kind format.DataType) *format.Array {
	v := valueInfo(name, kind)
	v.Type.Tensor.Shape = nil
	return v
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
