//go:build goexperiment.simd && amd64

package kernels

import (
	"simd/archsimd"
	"unsafe"
)

var avx512Sparse = SparseLoops{
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

// gather16 keeps up to four vectors of sums in registers while it goes through the rows. The last vector of a row is masked.
func gather16(to, w []float32, index []int32, value []float32) {
	y := len(to)
	p, last, x := unsafe.Pointer(&w[:y][0]), uint(len(w)-y), archsimd.BroadcastFloat32x16(1)
	for j := 0; j < y; j += 4 * lanes16 {
		n := y - j
		sums, tail := unsafe.Pointer(&to[j]), first16((n-1)&(lanes16-1)+1)
		switch {
		case n > 3*lanes16:
			if n > 4*lanes16 {
				tail = first16(lanes16)
			}
			s0, s1, s2, s3 := load16(sums, 0), load16(sums, lanes16), load16(sums, 2*lanes16), loadFirst16(sums, 3*lanes16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = archsimd.BroadcastFloat32x16(value[k])
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				s0 = x.MulAdd(load16(r, 0), s0)
				s1 = x.MulAdd(load16(r, lanes16), s1)
				s2 = x.MulAdd(load16(r, 2*lanes16), s2)
				s3 = x.MulAdd(loadFirst16(r, 3*lanes16, tail), s3)
			}
			store16(sums, 0, s0)
			store16(sums, lanes16, s1)
			store16(sums, 2*lanes16, s2)
			storeFirst16(sums, 3*lanes16, s3, tail)
		case n > 2*lanes16:
			s0, s1, s2 := load16(sums, 0), load16(sums, lanes16), loadFirst16(sums, 2*lanes16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = archsimd.BroadcastFloat32x16(value[k])
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				s0 = x.MulAdd(load16(r, 0), s0)
				s1 = x.MulAdd(load16(r, lanes16), s1)
				s2 = x.MulAdd(loadFirst16(r, 2*lanes16, tail), s2)
			}
			store16(sums, 0, s0)
			store16(sums, lanes16, s1)
			storeFirst16(sums, 2*lanes16, s2, tail)
		case n > lanes16:
			s0, s1 := load16(sums, 0), loadFirst16(sums, lanes16, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = archsimd.BroadcastFloat32x16(value[k])
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				s0 = x.MulAdd(load16(r, 0), s0)
				s1 = x.MulAdd(loadFirst16(r, lanes16, tail), s1)
			}
			store16(sums, 0, s0)
			storeFirst16(sums, lanes16, s1, tail)
		default:
			s0 := loadFirst16(sums, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = archsimd.BroadcastFloat32x16(value[k])
				}
				s0 = x.MulAdd(loadFirst16(unsafe.Add(p, 4*(at+uint(j))), 0, tail), s0)
			}
			storeFirst16(sums, 0, s0, tail)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// scatter16 keeps up to four vectors of v in registers while it goes through the rows. The last vector of a row overlaps the one before, and a row of less than a vector
// is two halves that overlap: no store is masked, because a load of the same row soon after would wait for a masked one.
func scatter16(w, v []float32, c float32, index []int32, value []float32) {
	y := len(v)
	p, last := unsafe.Pointer(&w[:y][0]), uint(len(w)-y)
	one, half := archsimd.BroadcastFloat32x16(c), broadcastHalf16(c)
	x, h := one, half
	for j := 0; j < y; j += 4 * lanes16 {
		n := min(y-j, 4*lanes16)
		from, end := unsafe.Pointer(&v[j]), n-lanes16
		switch {
		case n > 3*lanes16:
			v0, v1, v2, v3 := load16(from, 0), load16(from, lanes16), load16(from, 2*lanes16), load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				a0, a1 := x.MulAdd(v0, load16(r, 0)), x.MulAdd(v1, load16(r, lanes16))
				a2, a3 := x.MulAdd(v2, load16(r, 2*lanes16)), x.MulAdd(v3, load16(r, end))
				store16(r, 0, a0)
				store16(r, lanes16, a1)
				store16(r, 2*lanes16, a2)
				store16(r, end, a3)
			}
		case n > 2*lanes16:
			v0, v1, v2 := load16(from, 0), load16(from, lanes16), load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				a0, a1, a2 := x.MulAdd(v0, load16(r, 0)), x.MulAdd(v1, load16(r, lanes16)), x.MulAdd(v2, load16(r, end))
				store16(r, 0, a0)
				store16(r, lanes16, a1)
				store16(r, end, a2)
			}
		case n > lanes16:
			v0, v1 := load16(from, 0), load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				a0, a1 := x.MulAdd(v0, load16(r, 0)), x.MulAdd(v1, load16(r, end))
				store16(r, 0, a0)
				store16(r, end, a1)
			}
		case n >= halfLanes16:
			end := n - halfLanes16
			v0, v1 := loadHalf16(from, 0), loadHalf16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					h = half.Mul(broadcastHalf16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				a0, a1 := h.MulAdd(v0, loadHalf16(r, 0)), h.MulAdd(v1, loadHalf16(r, end))
				storeHalf16(r, 0, a0)
				storeHalf16(r, end, a1)
			}
		default:
			tail := first16(n)
			v0 := loadFirst16(from, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				storeFirst16(r, 0, x.MulAdd(v0, loadFirst16(r, 0, tail)), tail)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// scatterTwo16 is scatter16 to rows of two vectors, whose memory it waits for at the same time.
func scatterTwo16(w, u, v []float32, c, d float32, index []int32, value []float32) {
	y := len(v)
	if y < halfLanes16 || y > 2*lanes16 {
		scatter16(w, v, c, index, value)
		scatter16(u, v, d, index, value)
		return
	}
	p, q, last := unsafe.Pointer(&w[:y][0]), unsafe.Pointer(&u[:len(w)][0]), uint(len(w)-y)
	from := unsafe.Pointer(&v[0])
	if y > lanes16 {
		one, two, end := archsimd.BroadcastFloat32x16(c), archsimd.BroadcastFloat32x16(d), y-lanes16
		x, z, v0, v1 := one, two, load16(from, 0), load16(from, end)
		for k, row := range index {
			at := uint(int(row) * y)
			if at > last {
				outOfRange(row)
			}
			if value != nil {
				by := archsimd.BroadcastFloat32x16(value[k])
				x, z = one.Mul(by), two.Mul(by)
			}
			r, s := unsafe.Add(p, 4*at), unsafe.Add(q, 4*at)
			a0, a1 := x.MulAdd(v0, load16(r, 0)), x.MulAdd(v1, load16(r, end))
			b0, b1 := z.MulAdd(v0, load16(s, 0)), z.MulAdd(v1, load16(s, end))
			store16(r, 0, a0)
			store16(r, end, a1)
			store16(s, 0, b0)
			store16(s, end, b1)
		}
		archsimd.ClearAVXUpperBits()
		return
	}
	one, two, end := broadcastHalf16(c), broadcastHalf16(d), y-halfLanes16
	x, z, v0, v1 := one, two, loadHalf16(from, 0), loadHalf16(from, end)
	for k, row := range index {
		at := uint(int(row) * y)
		if at > last {
			outOfRange(row)
		}
		if value != nil {
			by := broadcastHalf16(value[k])
			x, z = one.Mul(by), two.Mul(by)
		}
		r, s := unsafe.Add(p, 4*at), unsafe.Add(q, 4*at)
		a0, a1 := x.MulAdd(v0, loadHalf16(r, 0)), x.MulAdd(v1, loadHalf16(r, end))
		b0, b1 := z.MulAdd(v0, loadHalf16(s, 0)), z.MulAdd(v1, loadHalf16(s, end))
		storeHalf16(r, 0, a0)
		storeHalf16(r, end, a1)
		storeHalf16(s, 0, b0)
		storeHalf16(s, end, b1)
	}
	archsimd.ClearAVXUpperBits()
}

// measureAll16 is scatter16 on up to two vectors of each row at a time. The last vector of a row is masked where changes are summed.
func measureAll16(w, v []float32, c float32, index []int32, value []float32, change *Change) {
	y := len(v)
	p, last := unsafe.Pointer(&w[:y][0]), uint(len(w)-y)
	one, lanes := archsimd.BroadcastFloat32x16(c), unsafe.Pointer(change)
	x, s0 := one, load16(lanes, 0)
	var s1 archsimd.Float32x16
	for j := 0; j < y; j += 2 * lanes16 {
		n := min(y-j, 2*lanes16)
		from, tail := unsafe.Pointer(&v[j]), first16((n-1)&(lanes16-1)+1)
		switch {
		case n > lanes16:
			end := n - lanes16
			v0, v1, v2 := load16(from, 0), loadFirst16(from, lanes16, tail), load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				b0, b1 := load16(r, 0), loadFirst16(r, lanes16, tail)
				a0, a1, a2 := x.MulAdd(v0, b0), x.MulAdd(v1, b1), x.MulAdd(v2, load16(r, end))
				store16(r, 0, a0)
				store16(r, end, a2)
				s0 = a0.Sub(b0).MulAdd(a0.Add(b0), s0)
				s1 = a1.Sub(b1).MulAdd(a1.Add(b1), s1)
			}
		case n >= halfLanes16:
			end := n - halfLanes16
			v0, v1 := loadFirst16(from, 0, tail), loadHalf16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				b0 := loadFirst16(r, 0, tail)
				a0, a1 := x.MulAdd(v0, b0), x.GetLo().MulAdd(v1, loadHalf16(r, end))
				storeHalf16(r, 0, a0.GetLo())
				storeHalf16(r, end, a1)
				s0 = a0.Sub(b0).MulAdd(a0.Add(b0), s0)
			}
		default:
			v0 := loadFirst16(from, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r := unsafe.Add(p, 4*(at+uint(j)))
				b0 := loadFirst16(r, 0, tail)
				a0 := x.MulAdd(v0, b0)
				storeFirst16(r, 0, a0, tail)
				s0 = a0.Sub(b0).MulAdd(a0.Add(b0), s0)
			}
		}
	}
	store16(lanes, 0, s0.Add(s1))
	archsimd.ClearAVXUpperBits()
}

// measure16 is scatter16 on up to two vectors of each row at a time. The last vector of a row is masked where changes are summed.
func measure16(w, v []float32, c float32, index []int32, value []float32, change *Changes) {
	y := len(v)
	p, last := unsafe.Pointer(&w[:y][0]), uint(len(w)-y)
	one := archsimd.BroadcastFloat32x16(c)
	x := one
	for j := 0; j < y; j += 2 * lanes16 {
		n := min(y-j, 2*lanes16)
		from, tail := unsafe.Pointer(&v[j]), first16((n-1)&(lanes16-1)+1)
		switch {
		case n > lanes16:
			end := n - lanes16
			v0, v1, v2 := load16(from, 0), loadFirst16(from, lanes16, tail), load16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r, lanes := unsafe.Add(p, 4*(at+uint(j))), unsafe.Pointer(&change[place(row)])
				b0, b1 := load16(r, 0), loadFirst16(r, lanes16, tail)
				a0, a1, a2 := x.MulAdd(v0, b0), x.MulAdd(v1, b1), x.MulAdd(v2, load16(r, end))
				store16(r, 0, a0)
				store16(r, end, a2)
				sum := a0.Sub(b0).MulAdd(a0.Add(b0), a1.Sub(b1).Mul(a1.Add(b1)))
				store16(lanes, 0, load16(lanes, 0).Add(sum))
			}
		case n >= halfLanes16:
			end := n - halfLanes16
			v0, v1 := loadFirst16(from, 0, tail), loadHalf16(from, end)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r, lanes := unsafe.Add(p, 4*(at+uint(j))), unsafe.Pointer(&change[place(row)])
				b0 := loadFirst16(r, 0, tail)
				a0, a1 := x.MulAdd(v0, b0), x.GetLo().MulAdd(v1, loadHalf16(r, end))
				storeHalf16(r, 0, a0.GetLo())
				storeHalf16(r, end, a1)
				store16(lanes, 0, load16(lanes, 0).Add(a0.Sub(b0).Mul(a0.Add(b0))))
			}
		default:
			v0 := loadFirst16(from, 0, tail)
			for k, row := range index {
				at := uint(int(row) * y)
				if at > last {
					outOfRange(row)
				}
				if value != nil {
					x = one.Mul(archsimd.BroadcastFloat32x16(value[k]))
				}
				r, lanes := unsafe.Add(p, 4*(at+uint(j))), unsafe.Pointer(&change[place(row)])
				b0 := loadFirst16(r, 0, tail)
				a0 := x.MulAdd(v0, b0)
				storeFirst16(r, 0, a0, tail)
				store16(lanes, 0, load16(lanes, 0).Add(a0.Sub(b0).Mul(a0.Add(b0))))
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
	x, mask := archsimd.BroadcastFloat32x16(c), first16(lanes16)
	var sum archsimd.Float32x16
	for i := 0; i < n; i += lanes16 {
		if i+lanes16 > n {
			mask = first16(n - i)
		}
		before := loadFirst16(to, i, mask)
		after := x.MulAdd(loadFirst16(from, i, mask), before)
		storeFirst16(to, i, after, mask)
		sum = after.Sub(before).MulAdd(after.Add(before), sum)
	}
	return addUp16(sum)
}

func take16(change []sixteen) float64 {
	var sum, zero archsimd.Float32x16
	for k := range change {
		lanes := unsafe.Pointer(&change[k])
		sum = sum.Add(load16(lanes, 0))
		store16(lanes, 0, zero)
	}
	return addUp16(sum)
}

func isZero16(x []float32) bool {
	if len(x) == 0 {
		return true
	}
	p, mask := unsafe.Pointer(&x[0]), first16(lanes16)
	var zero archsimd.Float32x16
	for i := 0; i < len(x); i += lanes16 {
		if i+lanes16 > len(x) {
			mask = first16(len(x) - i)
		}
		if loadFirst16(p, i, mask).NotEqual(zero).ToBits() != 0 {
			archsimd.ClearAVXUpperBits()
			return false
		}
	}
	archsimd.ClearAVXUpperBits()
	return true
}
