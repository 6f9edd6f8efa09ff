//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512Sparse = &SparseLoops{
	Name:       "AVX-512",
	Gather:     gather16,
	Scatter:    scatter16,
	ScatterTwo: scatterTwo16,
	Measure:    measure16,
	MeasureAll: measureAll16,
	MeasureRun: measureRun16,
	Take:       take16,
	IsZero:     isZero16,

	GatherSoft: gatherSoft16, MeasureSoft: measureSoft16, MeasureRunSoft: measureRunSoft16,
	GatherDouble: gatherDouble16, ScatterDouble: scatterDouble16,
}

// gather16 keeps up to four vectors of sums in registers while it goes through the rows. The last vector of a row is
// masked.
func gather16(to, w []float32, index []int32, value []float32) {
	y := len(to)
	p, last, x := unsafe.Pointer(&w[:y][0]), uint(len(w)-y), simd.Fill16(1)
	for j := 0; j < y; j += 4 * simd.Singles16 {
		n := y - j
		sums, tail := unsafe.Pointer(&to[j]), simd.First16((n-1)&(simd.Singles16-1)+1)
		switch {
		case n > 3*simd.Singles16:
			if n > 4*simd.Singles16 {
				tail = simd.First16(simd.Singles16)
			}
			s0, s1, s2, s3 := simd.Load16(sums, 0), simd.Load16(sums, simd.Singles16), simd.Load16(sums, 2*simd.Singles16),
				simd.LoadFirst16(sums, 3*simd.Singles16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = simd.Fill16(value[k])
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				s0 = x.MulAdd(simd.Load16(r, 0), s0)
				s1 = x.MulAdd(simd.Load16(r, simd.Singles16), s1)
				s2 = x.MulAdd(simd.Load16(r, 2*simd.Singles16), s2)
				s3 = x.MulAdd(simd.LoadFirst16(r, 3*simd.Singles16, tail), s3)
			}
			simd.Store16(sums, 0, s0)
			simd.Store16(sums, simd.Singles16, s1)
			simd.Store16(sums, 2*simd.Singles16, s2)
			simd.StoreFirst16(sums, 3*simd.Singles16, s3, tail)
		case n > 2*simd.Singles16:
			s0, s1, s2 := simd.Load16(sums, 0), simd.Load16(sums, simd.Singles16), simd.LoadFirst16(sums, 2*simd.Singles16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = simd.Fill16(value[k])
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				s0 = x.MulAdd(simd.Load16(r, 0), s0)
				s1 = x.MulAdd(simd.Load16(r, simd.Singles16), s1)
				s2 = x.MulAdd(simd.LoadFirst16(r, 2*simd.Singles16, tail), s2)
			}
			simd.Store16(sums, 0, s0)
			simd.Store16(sums, simd.Singles16, s1)
			simd.StoreFirst16(sums, 2*simd.Singles16, s2, tail)
		case n > simd.Singles16:
			s0, s1 := simd.Load16(sums, 0), simd.LoadFirst16(sums, simd.Singles16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = simd.Fill16(value[k])
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				s0 = x.MulAdd(simd.Load16(r, 0), s0)
				s1 = x.MulAdd(simd.LoadFirst16(r, simd.Singles16, tail), s1)
			}
			simd.Store16(sums, 0, s0)
			simd.StoreFirst16(sums, simd.Singles16, s1, tail)
		default:
			s0 := simd.LoadFirst16(sums, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = simd.Fill16(value[k])
				}
				s0 = x.MulAdd(simd.LoadFirst16(unsafe.Add(p, 4*(at+uint(j))), 0, tail), s0)
			}
			simd.StoreFirst16(sums, 0, s0, tail)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// scatter16 keeps up to four vectors of v in registers while it goes through the rows. The last vector of a row
// overlaps the one before, and a row of less than a vector is two halves that overlap: no store is masked, because a
// load of the same row soon after would wait for a masked one.
func scatter16(w, v []float32, c float32, index []int32, value []float32) {
	y := len(v)
	p, last := unsafe.Pointer(&w[:y][0]), uint(len(w)-y)
	one, half := simd.Fill16(c), simd.FillHalf16(c)
	x, h := one, half
	for j := 0; j < y; j += 4 * simd.Singles16 {
		n := min(y-j, 4*simd.Singles16)
		from, end := unsafe.Pointer(&v[j]), n-simd.Singles16
		switch {
		case n > 3*simd.Singles16:
			v0, v1, v2, v3 := simd.Load16(from, 0), simd.Load16(from, simd.Singles16), simd.Load16(from, 2*simd.Singles16),
				simd.Load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				a0, a1 := x.MulAdd(v0, simd.Load16(r, 0)), x.MulAdd(v1, simd.Load16(r, simd.Singles16))
				a2, a3 := x.MulAdd(v2, simd.Load16(r, 2*simd.Singles16)), x.MulAdd(v3, simd.Load16(r, end))
				simd.Store16(r, 0, a0)
				simd.Store16(r, simd.Singles16, a1)
				simd.Store16(r, 2*simd.Singles16, a2)
				simd.Store16(r, end, a3)
			}
		case n > 2*simd.Singles16:
			v0, v1, v2 := simd.Load16(from, 0), simd.Load16(from, simd.Singles16), simd.Load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				a0, a1, a2 := x.MulAdd(v0, simd.Load16(r, 0)), x.MulAdd(v1, simd.Load16(r, simd.Singles16)),
					x.MulAdd(v2, simd.Load16(r, end))
				simd.Store16(r, 0, a0)
				simd.Store16(r, simd.Singles16, a1)
				simd.Store16(r, end, a2)
			}
		case n > simd.Singles16:
			v0, v1 := simd.Load16(from, 0), simd.Load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				a0, a1 := x.MulAdd(v0, simd.Load16(r, 0)), x.MulAdd(v1, simd.Load16(r, end))
				simd.Store16(r, 0, a0)
				simd.Store16(r, end, a1)
			}
		case n >= simd.Half16:
			end := n - simd.Half16
			v0, v1 := simd.LoadHalf16(from, 0), simd.LoadHalf16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					h = half.Mul(simd.FillHalf16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				a0, a1 := h.MulAdd(v0, simd.LoadHalf16(r, 0)), h.MulAdd(v1, simd.LoadHalf16(r, end))
				simd.StoreHalf16(r, 0, a0)
				simd.StoreHalf16(r, end, a1)
			}
		default:
			tail := simd.First16(n)
			v0 := simd.LoadFirst16(from, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				simd.StoreFirst16(r, 0, x.MulAdd(v0, simd.LoadFirst16(r, 0, tail)), tail)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// scatterTwo16 is scatter16 to rows of two vectors, whose memory it waits for at the same time.
func scatterTwo16(w, u, v []float32, c, d float32, index []int32, value []float32) {
	y := len(v)
	if y < simd.Half16 || y > 2*simd.Singles16 {
		scatter16(w, v, c, index, value)
		scatter16(u, v, d, index, value)
		return
	}
	p, q, last := unsafe.Pointer(&w[:y][0]), unsafe.Pointer(&u[:len(w)][0]), uint(len(w)-y)
	from := unsafe.Pointer(&v[0])
	if y > simd.Singles16 {
		one, two, end := simd.Fill16(c), simd.Fill16(d), y-simd.Singles16
		x, z, v0, v1 := one, two, simd.Load16(from, 0), simd.Load16(from, end)
		for k, row := range index {
			at := uint(int(row) * y)
			if at > last {
				outOfRange(row)
			}
			if value != nil {
				by := simd.Fill16(value[k])
				x, z = one.Mul(by), two.Mul(by)
			}
			r, s := unsafe.Add(p, 4*at), unsafe.Add(q, 4*at)
			a0, a1 := x.MulAdd(v0, simd.Load16(r, 0)), x.MulAdd(v1, simd.Load16(r, end))
			b0, b1 := z.MulAdd(v0, simd.Load16(s, 0)), z.MulAdd(v1, simd.Load16(s, end))
			simd.Store16(r, 0, a0)
			simd.Store16(r, end, a1)
			simd.Store16(s, 0, b0)
			simd.Store16(s, end, b1)
		}
		archsimd.ClearAVXUpperBits()
		return
	}
	one, two, end := simd.FillHalf16(c), simd.FillHalf16(d), y-simd.Half16
	x, z, v0, v1 := one, two, simd.LoadHalf16(from, 0), simd.LoadHalf16(from, end)
	for k, row := range index {
		at := uint(int(row) * y)
		if at > last {
			outOfRange(row)
		}
		if value != nil {
			by := simd.FillHalf16(value[k])
			x, z = one.Mul(by), two.Mul(by)
		}
		r, s := unsafe.Add(p, 4*at), unsafe.Add(q, 4*at)
		a0, a1 := x.MulAdd(v0, simd.LoadHalf16(r, 0)), x.MulAdd(v1, simd.LoadHalf16(r, end))
		b0, b1 := z.MulAdd(v0, simd.LoadHalf16(s, 0)), z.MulAdd(v1, simd.LoadHalf16(s, end))
		simd.StoreHalf16(r, 0, a0)
		simd.StoreHalf16(r, end, a1)
		simd.StoreHalf16(s, 0, b0)
		simd.StoreHalf16(s, end, b1)
	}
	archsimd.ClearAVXUpperBits()
}

// measureAll16 is scatter16 on up to two vectors of each row at a time. The last vector of a row is masked where
// changes are summed.
func measureAll16(w, v []float32, c float32, index []int32, value []float32, change *Change) {
	y := len(v)
	p, last := unsafe.Pointer(&w[:y][0]), uint(len(w)-y)
	one, ofChange, ofSquares := simd.Fill16(c), unsafe.Pointer(&change[0]), unsafe.Pointer(&change[1])
	x, s0, q0 := one, simd.Load16(ofChange, 0), simd.Load16(ofSquares, 0)
	var s1, q1 archsimd.Float32x16
	for j := 0; j < y; j += 2 * simd.Singles16 {
		n := min(y-j, 2*simd.Singles16)
		from, tail := unsafe.Pointer(&v[j]), simd.First16((n-1)&(simd.Singles16-1)+1)
		switch {
		case n > simd.Singles16:
			end := n - simd.Singles16
			v0, v1, v2 := simd.Load16(from, 0), simd.LoadFirst16(from, simd.Singles16, tail), simd.Load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				b0, b1 := simd.Load16(r, 0), simd.LoadFirst16(r, simd.Singles16, tail)
				a0, a1, a2 := x.MulAdd(v0, b0), x.MulAdd(v1, b1), x.MulAdd(v2, simd.Load16(r, end))
				simd.Store16(r, 0, a0)
				simd.Store16(r, end, a2)
				s0, q0 = a0.Sub(b0).MulAdd(a0.Add(b0), s0), a0.MulAdd(a0, q0)
				s1, q1 = a1.Sub(b1).MulAdd(a1.Add(b1), s1), a1.MulAdd(a1, q1)
			}
		case n >= simd.Half16:
			end := n - simd.Half16
			v0, v1 := simd.LoadFirst16(from, 0, tail), simd.LoadHalf16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				b0 := simd.LoadFirst16(r, 0, tail)
				a0, a1 := x.MulAdd(v0, b0), x.GetLo().MulAdd(v1, simd.LoadHalf16(r, end))
				simd.StoreHalf16(r, 0, a0.GetLo())
				simd.StoreHalf16(r, end, a1)
				s0, q0 = a0.Sub(b0).MulAdd(a0.Add(b0), s0), a0.MulAdd(a0, q0)
			}
		default:
			v0 := simd.LoadFirst16(from, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				b0 := simd.LoadFirst16(r, 0, tail)
				a0 := x.MulAdd(v0, b0)
				simd.StoreFirst16(r, 0, a0, tail)
				s0, q0 = a0.Sub(b0).MulAdd(a0.Add(b0), s0), a0.MulAdd(a0, q0)
			}
		}
	}
	simd.Store16(ofChange, 0, s0.Add(s1))
	simd.Store16(ofSquares, 0, q0.Add(q1))
	archsimd.ClearAVXUpperBits()
}

// measure16 is scatter16 on up to two vectors of each row at a time. The last vector of a row is masked where changes
// are summed.
func measure16(w, v []float32, c float32, index []int32, value []float32, change *Changes) {
	y := len(v)
	p, last := unsafe.Pointer(&w[:y][0]), uint(len(w)-y)
	one := simd.Fill16(c)
	x := one
	for j := 0; j < y; j += 2 * simd.Singles16 {
		n := min(y-j, 2*simd.Singles16)
		from, tail := unsafe.Pointer(&v[j]), simd.First16((n-1)&(simd.Singles16-1)+1)
		switch {
		case n > simd.Singles16:
			end := n - simd.Singles16
			v0, v1, v2 := simd.Load16(from, 0), simd.LoadFirst16(from, simd.Singles16, tail), simd.Load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r, lanes := unsafe.Add(p, 4*(at+uint(j))), unsafe.Pointer(&change[place(row)])
				b0, b1 := simd.Load16(r, 0), simd.LoadFirst16(r, simd.Singles16, tail)
				a0, a1, a2 := x.MulAdd(v0, b0), x.MulAdd(v1, b1), x.MulAdd(v2, simd.Load16(r, end))
				simd.Store16(r, 0, a0)
				simd.Store16(r, end, a2)
				sum := a0.Sub(b0).MulAdd(a0.Add(b0), a1.Sub(b1).Mul(a1.Add(b1)))
				simd.Store16(lanes, 0, simd.Load16(lanes, 0).Add(sum))
			}
		case n >= simd.Half16:
			end := n - simd.Half16
			v0, v1 := simd.LoadFirst16(from, 0, tail), simd.LoadHalf16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r, lanes := unsafe.Add(p, 4*(at+uint(j))), unsafe.Pointer(&change[place(row)])
				b0 := simd.LoadFirst16(r, 0, tail)
				a0, a1 := x.MulAdd(v0, b0), x.GetLo().MulAdd(v1, simd.LoadHalf16(r, end))
				simd.StoreHalf16(r, 0, a0.GetLo())
				simd.StoreHalf16(r, end, a1)
				simd.Store16(lanes, 0, simd.Load16(lanes, 0).Add(a0.Sub(b0).Mul(a0.Add(b0))))
			}
		default:
			v0 := simd.LoadFirst16(from, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(simd.Fill16(value[k]))
				}
				r, lanes := unsafe.Add(p, 4*(at+uint(j))), unsafe.Pointer(&change[place(row)])
				b0 := simd.LoadFirst16(r, 0, tail)
				a0 := x.MulAdd(v0, b0)
				simd.StoreFirst16(r, 0, a0, tail)
				simd.Store16(lanes, 0, simd.Load16(lanes, 0).Add(a0.Sub(b0).Mul(a0.Add(b0))))
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

func measureRun16(w, v []float32, c float32) float64 {
	n := len(w)
	if n == 0 {
		return 0
	}
	to, from := unsafe.Pointer(&w[0]), unsafe.Pointer(&v[:n][0])
	x, mask := simd.Fill16(c), simd.First16(simd.Singles16)
	var sum archsimd.Float32x16
	for i := 0; i < n; i += simd.Singles16 {
		if i+simd.Singles16 > n {
			mask = simd.First16(n - i)
		}
		before := simd.LoadFirst16(to, i, mask)
		after := x.MulAdd(simd.LoadFirst16(from, i, mask), before)
		simd.StoreFirst16(to, i, after, mask)
		sum = after.Sub(before).MulAdd(after.Add(before), sum)
	}
	return simd.WideSum16(sum)
}

func take16(change []sixteen) float64 {
	var sum, zero archsimd.Float32x16
	for k := range change {
		lanes := unsafe.Pointer(&change[k])
		sum = sum.Add(simd.Load16(lanes, 0))
		simd.Store16(lanes, 0, zero)
	}
	return simd.WideSum16(sum)
}

func isZero16(x []float32) bool {
	if len(x) == 0 {
		return true
	}
	p, mask := unsafe.Pointer(&x[0]), simd.First16(simd.Singles16)
	var zero archsimd.Float32x16
	for i := 0; i < len(x); i += simd.Singles16 {
		if i+simd.Singles16 > len(x) {
			mask = simd.First16(len(x) - i)
		}
		if simd.LoadFirst16(p, i, mask).NotEqual(zero).ToBits() != 0 {
			archsimd.ClearAVXUpperBits()
			return false
		}
	}
	archsimd.ClearAVXUpperBits()
	return true
}
