package onnx

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
)

// attributesOf are the attributes of a node by name.
type attributesOf map[string]*format.Attribute

// int returns an attribute, 0 if it is not given.
func (a attributesOf) int(name string) int {
	if x := a[name]; x != nil {
		return int(*x.Int)
	}
	return 0
}

// ints returns an attribute, nil if it is not given.
func (a attributesOf) ints(name string) (all []int) {
	if x := a[name]; x != nil {
		for _, i := range x.Ints {
			all = append(all, int(i))
		}
	}
	return all
}

// operators are those that graphs use, as the specification of ONNX defines them, for the cases that occur.
var operators map[string]func(x []tensor, a attributesOf) tensor

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func init() {
	operators = map[string]func(x []tensor, a attributesOf) tensor{
		"Identity": func(x []tensor, _ attributesOf) tensor { return x[0] },
		"Where": func(x []tensor, _ attributesOf) tensor {
			return mapped(func(v []float64) float64 {
				if v[0] != 0 {
					return v[1]
				}
				return v[2]
			}, x...)
		},
		"Cast":  func(x []tensor, _ attributesOf) tensor { return x[0] },
		"Shape": func(x []tensor, _ attributesOf) tensor { return vector(x[0].shape) },
		"Range": func(x []tensor, _ attributesOf) tensor {
			var all []int
			for i := x[0].ints()[0]; i < x[1].ints()[0]; i++ {
				all = append(all, i)
			}
			return vector(all)
		},
		"Reshape": func(x []tensor, _ attributesOf) tensor {
			shape := x[1].ints()
			if k := slices.Index(shape, -1); k >= 0 {
				shape[k] = 1
				shape[k] = len(x[0].x) / product(shape)
			}
			if slices.ContainsFunc(shape, func(n int) bool { return n < 0 }) || product(shape) != len(x[0].x) {
				panic(fmt.Sprintf("%d numbers take no shape %v", len(x[0].x), shape))
			}
			return tensor{shape, x[0].x}
		},
		"Unsqueeze": func(x []tensor, _ attributesOf) tensor {
			shape := slices.Clone(x[0].shape)
			for _, k := range x[1].ints() {
				shape = slices.Insert(shape, k, 1)
			}
			return tensor{shape, x[0].x}
		},
		"Squeeze": func(x []tensor, _ attributesOf) tensor {
			k := x[1].ints()[0]
			return tensor{slices.Delete(slices.Clone(x[0].shape), k, k+1), x[0].x}
		},
		"Expand": func(x []tensor, _ attributesOf) tensor {
			return mapped(func(v []float64) float64 { return v[0] }, x[0], zerosOf(x[1].ints()...))
		},
		"Transpose": func(x []tensor, a attributesOf) tensor { return x[0].transposed(a.ints("perm")) },
		"Concat":    func(x []tensor, a attributesOf) tensor { return concatenation(x, a.int("axis")) },
		"Slice":     slice,
		"Pad":       pad,
		"Gather": func(x []tensor, a attributesOf) tensor {
			axis := a.int("axis")
			front := []int{axis}
			for k := range x[0].shape {
				if k != axis {
					front = append(front, k)
				}
			}
			y := x[0].transposed(front).gathered(x[1])
			var order []int
			for k := range axis {
				order = append(order, len(x[1].shape)+k)
			}
			for k := range x[1].shape {
				order = append(order, k)
			}
			for k := len(order); k < len(y.shape); k++ {
				order = append(order, k)
			}
			return y.transposed(order)
		},
		"GatherElements": func(x []tensor, a attributesOf) tensor {
			out, i, axis := zerosOf(x[1].shape...), 0, x[0].axis(a.int("axis"))
			each(out.shape, func(at []int) {
				from := slices.Clone(at)
				from[axis] = int(x[1].x[i])
				out.x[i] = x[0].x[x[0].offset(from)]
				i++
			})
			return out
		},
		"GatherND": func(x []tensor, _ attributesOf) tensor { // with one batch axis and one index
			var out tensor
			for b := range x[1].shape[0] {
				at := x[1].row(b)
				y := x[0].row(b).gathered(tensor{at.shape[:len(at.shape)-1], at.x})
				out.shape = append([]int{x[1].shape[0]}, y.shape...)
				out.x = append(out.x, y.x...)
			}
			return out
		},
		"TopK": func(x []tensor, _ attributesOf) tensor { // the places of all entries of rows in their order
			return x[0].along(-1, func(xs []float64) {
				at := make([]int, len(xs))
				for i := range at {
					at[i] = i
				}
				slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(xs[j], xs[i]) })
				copy(xs, vector(at).x)
			})
		},
		"CumSum": func(x []tensor, _ attributesOf) tensor {
			return x[0].along(x[1].ints()[0], func(xs []float64) {
				for i := 1; i < len(xs); i++ {
					xs[i] += xs[i-1]
				}
			})
		},
		"ReduceSum": func(x []tensor, a attributesOf) tensor {
			return x[0].reduced(x[1].ints()[0], a.int("keepdims") == 1, sum)
		},
		"ReduceMax": func(x []tensor, a attributesOf) tensor {
			return x[0].reduced(x[1].ints()[0], a.int("keepdims") == 1, func(xs []float64) float64 { return slices.Max(xs) })
		},
		"ReduceLogSumExp": func(x []tensor, a attributesOf) tensor {
			return x[0].reduced(x[1].ints()[0], a.int("keepdims") == 1, logSumExp)
		},
		"ReduceProd": func(x []tensor, _ attributesOf) tensor { return vector([]int{product(x[0].ints())}) },
		"ArgMax": func(x []tensor, a attributesOf) tensor {
			return x[0].reduced(a.int("axis"), a.int("keepdims") == 1, func(xs []float64) float64 {
				return float64(slices.Index(xs, slices.Max(xs)))
			})
		},
		"Softmax": func(x []tensor, a attributesOf) tensor {
			return x[0].along(a.int("axis"), func(xs []float64) {
				z := logSumExp(xs)
				for i, x := range xs {
					xs[i] = math.Exp(x - z)
				}
			})
		},
		"LayerNormalization": func(x []tensor, a attributesOf) tensor {
			y := x[0].along(-1, func(xs []float64) {
				mean, variance := sum(xs)/float64(len(xs)), 0.0
				for _, x := range xs {
					variance += (x - mean) * (x - mean) / float64(len(xs))
				}
				for i, x := range xs {
					xs[i] = (x - mean) / math.Sqrt(variance+float64(*a["epsilon"].Float))
				}
			})
			return mapped(func(v []float64) float64 { return v[0] * v[1] }, y, x[1])
		},
		"MatMul": matmul, "Conv": convolve, "MaxPool": pool,
	}
	for name, f := range map[string]func(x float64) float64{
		"Neg": func(x float64) float64 { return -x }, "Abs": math.Abs, "Sin": math.Sin, "Cos": math.Cos, "Exp": math.Exp,
		"Log": math.Log, "Tanh": math.Tanh, "Erf": math.Erf,
		"Sigmoid":  func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"Softplus": func(x float64) float64 { return math.Log1p(math.Exp(x)) },
		"Relu":     func(x float64) float64 { return max(x, 0) }, "Not": func(x float64) float64 { return 1 - x },
		"Elu": func(x float64) float64 {
			if x > 0 {
				return x
			}
			return math.Expm1(x)
		},
	} {
		operators[name] = func(x []tensor, _ attributesOf) tensor {
			return mapped(func(v []float64) float64 { return f(v[0]) }, x...)
		}
	}
	for name, f := range map[string]func(x, y float64) float64{
		"Add": func(x, y float64) float64 { return x + y }, "Sub": func(x, y float64) float64 { return x - y },
		"Mul": func(x, y float64) float64 { return x * y }, "Div": func(x, y float64) float64 { return x / y },
		"Mod": math.Mod, "Max": math.Max, "Min": math.Min,
		"Less":           func(x, y float64) float64 { return truth(x < y) },
		"Greater":        func(x, y float64) float64 { return truth(x > y) },
		"GreaterOrEqual": func(x, y float64) float64 { return truth(x >= y) },
		"Equal":          func(x, y float64) float64 { return truth(x == y) },
		"And":            func(x, y float64) float64 { return x * y },
	} {
		operators[name] = func(x []tensor, _ attributesOf) tensor {
			return mapped(func(v []float64) float64 { return f(v[0], v[1]) }, x...)
		}
	}
}

func sum(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

func concatenation(x []tensor, axis int) tensor {
	axis = x[0].axis(axis)
	shape := slices.Clone(x[0].shape)
	shape[axis] = 0
	for _, t := range x {
		shape[axis] += t.shape[axis]
	}
	out := tensor{shape: shape}
	for o := range product(shape[:axis]) {
		for _, t := range x {
			n := product(t.shape[axis:])
			out.x = append(out.x, t.x[o*n:(o+1)*n]...)
		}
	}
	return out
}

func slice(x []tensor, _ attributesOf) tensor {
	out := x[0]
	for k, axis := range x[3].ints() {
		step := 1
		if len(x) > 4 {
			step = x[4].ints()[k]
		}
		out = out.sliced(axis, x[1].ints()[k], x[2].ints()[k], step)
	}
	return out
}

// sliced returns the entries lo, lo+step, … before hi along an axis; negative ones count from the end.
func (t tensor) sliced(axis, lo, hi, step int) tensor {
	n := t.shape[axis]
	if lo < 0 {
		lo = max(0, lo+n)
	}
	if hi < 0 {
		hi += n
	}
	shape := slices.Clone(t.shape)
	shape[axis] = 0
	out, inner := tensor{shape: shape}, product(t.shape[axis+1:])
	for i := lo; i < min(hi, n); i += step {
		shape[axis]++
	}
	for o := range product(shape[:axis]) {
		for i := lo; i < min(hi, n); i += step {
			out.x = append(out.x, t.x[(o*n+i)*inner:(o*n+i+1)*inner]...)
		}
	}
	return out
}

func pad(x []tensor, _ attributesOf) tensor {
	pads, dims, shape := x[1].ints(), len(x[0].shape), slices.Clone(x[0].shape)
	for k := range shape {
		shape[k] += pads[k] + pads[dims+k]
	}
	out, i := zerosOf(shape...), 0
	each(shape, func(at []int) {
		from, place := 0, true
		for k, s := range x[0].shape {
			p := at[k] - pads[k]
			place = place && p >= 0 && p < s
			from = from*s + p
		}
		if out.x[i] = x[2].x[0]; place {
			out.x[i] = x[0].x[from]
		}
		i++
	})
	return out
}

// matmul multiplies matrices, whose leading axes broadcast.
func matmul(x []tensor, _ attributesOf) tensor {
	a, b := x[0], x[1]
	m, k, n := a.shape[len(a.shape)-2], a.shape[len(a.shape)-1], b.shape[len(b.shape)-1]
	heads := func(t tensor) tensor { return tensor{shape: t.shape[:len(t.shape)-2]} }
	shape := broadcast(heads(a), heads(b))
	out, at := zerosOf(append(slices.Clone(shape), m, n)...), 0
	each(shape, func(head []int) {
		l, r := heads(a).offset(head)*m*k, heads(b).offset(head)*k*n
		for i := range m {
			for j := range n {
				for e := range k {
					out.x[at] += a.x[l+i*k+e] * b.x[r+e*n+j]
				}
				at++
			}
		}
	})
	return out
}

func convolve(x []tensor, a attributesOf) tensor {
	in, w, stride, pads := x[0], x[1], 1, a.ints("pads")
	if s := a.ints("strides"); s != nil {
		stride = s[0]
	}
	k := w.shape[2]
	to := func(size int) int { return (size+2*pads[0]-k)/stride + 1 }
	out, i := zerosOf(in.shape[0], w.shape[0], to(in.shape[2]), to(in.shape[3])), 0
	each(out.shape, func(at []int) {
		each(w.shape[1:], func(of []int) {
			r, c := at[2]*stride+of[1]-pads[0], at[3]*stride+of[2]-pads[0]
			if r >= 0 && r < in.shape[2] && c >= 0 && c < in.shape[3] {
				out.x[i] += in.x[in.offset([]int{at[0], of[0], r, c})] * w.x[w.offset([]int{at[1], of[0], of[1], of[2]})]
			}
		})
		i++
	})
	return out
}

func pool(x []tensor, _ attributesOf) tensor {
	in := x[0]
	out, i := zerosOf(in.shape[0], in.shape[1], in.shape[2]/2, in.shape[3]/2), 0
	each(out.shape, func(at []int) {
		out.x[i] = math.Inf(-1)
		each([]int{2, 2}, func(d []int) {
			out.x[i] = max(out.x[i], in.x[in.offset([]int{at[0], at[1], 2*at[2] + d[0], 2*at[3] + d[1]})])
		})
		i++
	})
	return out
}
