//go:build goexperiment.simd && amd64

package chain

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"
)

var avx512 = kernels{
	name:       "AVX-512",
	lanes:      lanes16,
	maxPlus:    maxPlus16,
	argmax:     argmax16,
	exchange:   exchange16,
	addArgmax:  addArgmax16,
	bounds:     bounds16,
	grandTotal: grandTotal16,
	single:     singles16,
	double:     doubles16,
	logSum:     logSum16,
	logSpread:  logSpread16,
}

// maxPlus16 keeps up to four vectors of next in registers while it iterates over the rows.
func maxPlus16(next, prev, edge, node []float32, y, stride int) {
	to, p, n := unsafe.Pointer(&next[0]), unsafe.Pointer(&prev[0]), unsafe.Pointer(&node[0])
	step := 4 * stride
	j := 0
	for ; j+3*lanes16 < y; j += 4 * lanes16 {
		e := unsafe.Pointer(&edge[j])
		v := broadcast16(p, 0)
		m0, m1, m2, m3 := v.Add(load16(e, 0)), v.Add(load16(e, lanes16)), v.Add(load16(e, 2*lanes16)), v.Add(load16(e, 3*lanes16))
		for i := 1; i < y; i++ {
			e = unsafe.Add(e, step)
			v = broadcast16(p, i)
			m0 = m0.Max(v.Add(load16(e, 0)))
			m1 = m1.Max(v.Add(load16(e, lanes16)))
			m2 = m2.Max(v.Add(load16(e, 2*lanes16)))
			m3 = m3.Max(v.Add(load16(e, 3*lanes16)))
		}
		store16(to, j, m0.Add(load16(n, j)))
		store16(to, j+lanes16, m1.Add(load16(n, j+lanes16)))
		store16(to, j+2*lanes16, m2.Add(load16(n, j+2*lanes16)))
		store16(to, j+3*lanes16, m3.Add(load16(n, j+3*lanes16)))
	}
	for ; j+lanes16 < y; j += 2 * lanes16 {
		e := unsafe.Pointer(&edge[j])
		v := broadcast16(p, 0)
		m0, m1 := v.Add(load16(e, 0)), v.Add(load16(e, lanes16))
		for i := 1; i < y; i++ {
			e = unsafe.Add(e, step)
			v = broadcast16(p, i)
			m0 = m0.Max(v.Add(load16(e, 0)))
			m1 = m1.Max(v.Add(load16(e, lanes16)))
		}
		store16(to, j, m0.Add(load16(n, j)))
		store16(to, j+lanes16, m1.Add(load16(n, j+lanes16)))
	}
	if j < y {
		e := unsafe.Pointer(&edge[j])
		m := broadcast16(p, 0).Add(load16(e, 0))
		for i := 1; i < y; i++ {
			e = unsafe.Add(e, step)
			m = m.Max(broadcast16(p, i).Add(load16(e, 0)))
		}
		store16(to, j, m.Add(load16(n, j)))
	}
	archsimd.ClearAVXUpperBits()
	pad(next, y)
}

func argmax16(x []float32) int {
	p := unsafe.Pointer(&x[0])
	m := load16(p, 0)
	for i := lanes16; i < len(x); i += lanes16 {
		m = m.Max(load16(p, i))
	}
	m = largests16(m)
	for i := 0; i < len(x); i += lanes16 {
		if hit := load16(p, i).Equal(m).ToBits(); hit != 0 {
			archsimd.ClearAVXUpperBits()
			return i + bits.TrailingZeros16(hit)
		}
	}
	return 0
}

// exchange16 writes whole vectors: a scalar store would stall the vector load that follows.
func exchange16(x []float32, i int, v float32, j int) int {
	set16(x, i, v)
	set16(x, j, minusInf)
	return argmax16(x)
}

func set16(x []float32, i int, v float32) {
	p := unsafe.Pointer(&x[i&^(lanes16-1)])
	lane := archsimd.LoadInt32x16(&iota16).Equal(archsimd.BroadcastInt32x16(int32(i & (lanes16 - 1))))
	store16(p, 0, archsimd.BroadcastFloat32x16(v).Merge(load16(p, 0), lane))
}

func addArgmax16(sum, x, y []float32) int {
	to, p, q := unsafe.Pointer(&sum[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	m := load16(p, 0).Add(load16(q, 0))
	store16(to, 0, m)
	for i := lanes16; i < len(x); i += lanes16 {
		v := load16(p, i).Add(load16(q, i))
		store16(to, i, v)
		m = m.Max(v)
	}
	m = largests16(m)
	for i := 0; i < len(x); i += lanes16 {
		if hit := load16(to, i).Equal(m).ToBits(); hit != 0 {
			archsimd.ClearAVXUpperBits()
			return i + bits.TrailingZeros16(hit)
		}
	}
	return 0
}
