package onnx

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
)

// tensor is an array of any type, as float64.
type tensor struct {
	shape []int
	x     []float64
}

func zerosOf(shape ...int) tensor {
	return tensor{slices.Clone(shape), make([]float64, product(shape))}
}

func vector(xs []int) tensor {
	t := zerosOf(len(xs))
	for i, x := range xs {
		t.x[i] = float64(x)
	}
	return t
}

func (t tensor) ints() []int {
	to := make([]int, len(t.x))
	for i, x := range t.x {
		to[i] = int(min(x, 1<<40)) // an open end of a slice is the largest int64
	}
	return to
}

// each visits the places of an array of that shape in order.
func each(shape []int, visit func(at []int)) {
	at := make([]int, len(shape))
	for range product(shape) {
		visit(at)
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < shape[k] {
				break
			}
			at[k] = 0
		}
	}
}

// offset returns where the entry at a place is; axes of size 1 are repeated, and leading axes of at may be more than
// those of t.
func (t tensor) offset(at []int) int {
	at, to := at[len(at)-len(t.shape):], 0
	for k, s := range t.shape {
		to *= s
		if s > 1 {
			to += at[k]
		}
	}
	return to
}

func broadcast(ts ...tensor) []int {
	var shape []int
	for _, t := range ts {
		for len(shape) < len(t.shape) {
			shape = slices.Insert(shape, 0, 1)
		}
		for k, s := range t.shape {
			if to := &shape[len(shape)-len(t.shape)+k]; *to == 1 {
				*to = s
			} else if s != 1 && s != *to {
				panic(fmt.Sprintf("shapes %v and %v do not broadcast", shape, t.shape))
			}
		}
	}
	return shape
}

// mapped applies f to the entries of arrays that broadcast.
func mapped(f func(x []float64) float64, ts ...tensor) tensor {
	out, i, x := zerosOf(broadcast(ts...)...), 0, make([]float64, len(ts))
	each(out.shape, func(at []int) {
		for k, t := range ts {
			x[k] = t.x[t.offset(at)]
		}
		out.x[i] = f(x)
		i++
	})
	return out
}

// lines visits the lines of t along an axis: entries start, start+stride, ….
func (t tensor) lines(axis int, visit func(start, stride, n, line int)) {
	inner, n := product(t.shape[axis+1:]), t.shape[axis]
	for line := range product(t.shape) / max(1, n) {
		visit(line/inner*inner*n+line%inner, inner, n, line)
	}
}

func (t tensor) axis(k int) int {
	if k < 0 {
		k += len(t.shape)
	}
	return k
}

// reduced applies f to each line along an axis.
func (t tensor) reduced(axis int, keep bool, f func(xs []float64) float64) tensor {
	axis = t.axis(axis)
	shape := slices.Clone(t.shape)
	shape[axis] = 1
	out := zerosOf(shape...)
	t.lines(axis, func(start, stride, n, line int) {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = t.x[start+i*stride]
		}
		out.x[line] = f(xs)
	})
	if !keep {
		out.shape = slices.Delete(shape, axis, axis+1)
	}
	return out
}

// along applies f to each line along an axis and keeps the shape.
func (t tensor) along(axis int, f func(xs []float64)) tensor {
	out := tensor{t.shape, slices.Clone(t.x)}
	t.lines(t.axis(axis), func(start, stride, n, _ int) {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = t.x[start+i*stride]
		}
		f(xs)
		for i, x := range xs {
			out.x[start+i*stride] = x
		}
	})
	return out
}

func (t tensor) transposed(order []int) tensor {
	shape := make([]int, len(order))
	for i, from := range order {
		shape[i] = t.shape[from]
	}
	out, i, from := zerosOf(shape...), 0, make([]int, len(order))
	each(shape, func(at []int) {
		for k, axis := range order {
			from[axis] = at[k]
		}
		place := 0
		for k, s := range t.shape {
			place = place*s + from[k]
		}
		out.x[i] = t.x[place]
		i++
	})
	return out
}

// rows returns t as rows: entry r of the first axis.
func (t tensor) row(r int) tensor {
	n := product(t.shape[1:])
	return tensor{t.shape[1:], t.x[r*n : (r+1)*n]}
}

// gathered is Gather along the first axis.
func (t tensor) gathered(at tensor) tensor {
	out := tensor{shape: append(slices.Clone(at.shape), t.shape[1:]...)}
	for _, r := range at.ints() {
		if r < 0 {
			r += t.shape[0]
		}
		out.x = append(out.x, t.row(r).x...)
	}
	return out
}

// logSumExp is −∞ for a list of −∞.
func logSumExp(xs []float64) float64 {
	top, sum := slices.Max(xs), 0.0
	if math.IsInf(top, -1) {
		return top
	}
	for _, x := range xs {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

// evaluation runs a graph: plain loops over float64, for tests only. What is not float64 in the graph is rounded to
// float32 after each operator, which changes no number of other types that tests have.
type evaluation struct {
	t      *testing.T
	values map[string]tensor
	double map[string]bool // the names of values that are float64
}

// set gives a name the value of an operator.
func (e evaluation) set(name string, v tensor, double bool) {
	if e.double[name] = double; !double {
		v.x = slices.Clone(v.x)
		for i, x := range v.x {
			v.x[i] = float64(float32(x))
		}
	}
	e.values[name] = v
}

// run returns the outputs of a graph for its inputs, by name.
func run(t *testing.T, g *format.Graph, inputs map[string]tensor) map[string]tensor {
	t.Helper()
	e := evaluation{t, map[string]tensor{}, map[string]bool{}}
	for _, x := range g.Inputs {
		v, ok := inputs[x.Name]
		if !ok {
			t.Fatalf("no input %s", x.Name)
		}
		e.values[x.Name] = v
	}
	for _, x := range g.Initializers {
		e.values[x.Name] = initial(x)
		e.double[x.Name] = x.Type == format.Double
	}
	e.nodes(g)
	outputs := map[string]tensor{}
	for _, x := range g.Outputs {
		outputs[x.Name] = e.values[x.Name]
	}
	return outputs
}

func initial(x *format.Tensor) tensor {
	var shape []int
	for _, d := range x.Dims {
		shape = append(shape, int(d))
	}
	t, raw := zerosOf(shape...), x.Raw
	for i := range t.x {
		switch x.Type {
		case format.Float:
			t.x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		case format.Double:
			t.x[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		case format.Int64:
			t.x[i] = float64(int64(binary.LittleEndian.Uint64(raw[8*i:])))
		default:
			t.x[i] = float64(raw[i])
		}
	}
	return t
}

func (e evaluation) nodes(g *format.Graph) {
	e.t.Helper()
	for _, n := range g.Nodes {
		var args []tensor
		for _, x := range n.Inputs {
			args = append(args, e.values[x])
		}
		attributes := attributesOf{}
		for _, a := range n.Attributes {
			attributes[a.Name] = a
		}
		if n.Op == "Scan" {
			e.scan(n, args, attributes)
			continue
		}
		f, ok := operators[n.Op]
		if !ok {
			e.t.Fatalf("the evaluator has no operator %s", n.Op)
		}
		double := slices.ContainsFunc(n.Inputs, func(x string) bool { return e.double[x] })
		if n.Op == "Cast" {
			double = attributes.int("to") == int(format.Double)
		}
		outputs := n.Outputs // of several, tests know the last
		e.set(outputs[len(outputs)-1], f(args, attributes), double)
	}
}

// scan runs a loop over the second axis of arrays.
func (e evaluation) scan(n *format.Node, args []tensor, a attributesOf) {
	body, items := a["body"].Graph, a.int("num_scan_inputs")
	states := args[:len(args)-items]
	order := func(t tensor) []int {
		all := []int{1, 0}
		for k := 2; k < len(t.shape); k++ {
			all = append(all, k)
		}
		return all
	}
	var read []tensor
	for _, x := range args[len(states):] {
		read = append(read, x.transposed(order(x)))
	}
	steps := read[0].shape[0]
	results := make([][]tensor, len(body.Outputs)-len(states))
	for k := range results {
		results[k] = make([]tensor, steps)
	}
	inner := evaluation{e.t, nil, maps.Clone(e.double)}
	for k, x := range n.Inputs {
		inner.double[body.Inputs[k].Name] = e.double[x]
	}
	for step := range steps {
		inner.values = maps.Clone(e.values)
		for k, s := range states {
			inner.values[body.Inputs[k].Name] = s
		}
		for k, x := range read {
			t := step
			if a.ints("scan_input_directions")[k] == 1 {
				t = steps - 1 - step
			}
			inner.values[body.Inputs[len(states)+k].Name] = x.row(t)
		}
		inner.nodes(body)
		states = slices.Clone(states)
		for k, x := range body.Outputs {
			v := inner.values[x.Name]
			if k < len(states) {
				states[k] = v
				continue
			}
			t := step
			if a.ints("scan_output_directions")[k-len(states)] == 1 {
				t = steps - 1 - step
			}
			results[k-len(states)][t] = v
		}
	}
	isDouble := func(k int) bool { return inner.double[body.Outputs[k].Name] }
	for k, s := range states {
		e.set(n.Outputs[k], s, isDouble(k))
	}
	for k, r := range results {
		all := tensor{shape: append([]int{steps}, r[0].shape...)}
		for _, x := range r {
			all.x = append(all.x, x.x...)
		}
		e.set(n.Outputs[len(states)+k], all.transposed(order(all)), isDouble(len(states)+k))
	}
}
