//go:build goexperiment.simd && amd64

package chain

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/simd"
)

var avx512 = &kernels{
	name:       "AVX-512",
	lanes:      simd.Singles16,
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
	for ; j+3*simd.Singles16 < y; j += 4 * simd.Singles16 {
		e := unsafe.Pointer(&edge[j])
		v := simd.Broadcast16(p, 0)
		m0, m1, m2, m3 := v.Add(simd.Load16(e, 0)), v.Add(simd.Load16(e, simd.Singles16)),
			v.Add(simd.Load16(e, 2*simd.Singles16)), v.Add(simd.Load16(e, 3*simd.Singles16))
		for i := 1; i < y; i++ {
			e = unsafe.Add(e, step)
			v = simd.Broadcast16(p, i)
			m0 = m0.Max(v.Add(simd.Load16(e, 0)))
			m1 = m1.Max(v.Add(simd.Load16(e, simd.Singles16)))
			m2 = m2.Max(v.Add(simd.Load16(e, 2*simd.Singles16)))
			m3 = m3.Max(v.Add(simd.Load16(e, 3*simd.Singles16)))
		}
		simd.Store16(to, j, m0.Add(simd.Load16(n, j)))
		simd.Store16(to, j+simd.Singles16, m1.Add(simd.Load16(n, j+simd.Singles16)))
		simd.Store16(to, j+2*simd.Singles16, m2.Add(simd.Load16(n, j+2*simd.Singles16)))
		simd.Store16(to, j+3*simd.Singles16, m3.Add(simd.Load16(n, j+3*simd.Singles16)))
	}
	for ; j+simd.Singles16 < y; j += 2 * simd.Singles16 {
		e := unsafe.Pointer(&edge[j])
		v := simd.Broadcast16(p, 0)
		m0, m1 := v.Add(simd.Load16(e, 0)), v.Add(simd.Load16(e, simd.Singles16))
		for i := 1; i < y; i++ {
			e = unsafe.Add(e, step)
			v = simd.Broadcast16(p, i)
			m0 = m0.Max(v.Add(simd.Load16(e, 0)))
			m1 = m1.Max(v.Add(simd.Load16(e, simd.Singles16)))
		}
		simd.Store16(to, j, m0.Add(simd.Load16(n, j)))
		simd.Store16(to, j+simd.Singles16, m1.Add(simd.Load16(n, j+simd.Singles16)))
	}
	if j < y {
		e := unsafe.Pointer(&edge[j])
		m := simd.Broadcast16(p, 0).Add(simd.Load16(e, 0))
		for i := 1; i < y; i++ {
			e = unsafe.Add(e, step)
			m = m.Max(simd.Broadcast16(p, i).Add(simd.Load16(e, 0)))
		}
		simd.Store16(to, j, m.Add(simd.Load16(n, j)))
	}
	archsimd.ClearAVXUpperBits()
	pad(next, y)
}

func argmax16(x []float32) int {
	p := unsafe.Pointer(&x[0])
	m := simd.Load16(p, 0)
	for i := simd.Singles16; i < len(x); i += simd.Singles16 {
		m = m.Max(simd.Load16(p, i))
	}
	m = simd.Largests16(m)
	for i := 0; i < len(x); i += simd.Singles16 {
		if hit := simd.Load16(p, i).Equal(m).ToBits(); hit != 0 {
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
	p := unsafe.Pointer(&x[i&^(simd.Singles16-1)])
	lane := simd.Lane16(i & (simd.Singles16 - 1))
	simd.Store16(p, 0, simd.Fill16(v).Merge(simd.Load16(p, 0), lane))
}

func addArgmax16(sum, x, y []float32) int {
	to, p, q := unsafe.Pointer(&sum[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	m := simd.Load16(p, 0).Add(simd.Load16(q, 0))
	simd.Store16(to, 0, m)
	for i := simd.Singles16; i < len(x); i += simd.Singles16 {
		v := simd.Load16(p, i).Add(simd.Load16(q, i))
		simd.Store16(to, i, v)
		m = m.Max(v)
	}
	m = simd.Largests16(m)
	for i := 0; i < len(x); i += simd.Singles16 {
		if hit := simd.Load16(to, i).Equal(m).ToBits(); hit != 0 {
			archsimd.ClearAVXUpperBits()
			return i + bits.TrailingZeros16(hit)
		}
	}
	return 0
}
