package cudaoracles

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/cuda/device"
)

// Chains count as long if the longest has at least manyPositions positions and one warp per chain would leave the
// device idle. In parallel along time, they cost Y times the work.
const (
	manyPositions = 4096
	busyChains    = 1024 // chains times labels
)

// areLong reports whether an oracle should process θ in parallel along time.
func (θ *Chains) areLong() bool {
	return θ.Y <= 32 && θ.Longest >= manyPositions && θ.B*θ.Y <= busyChains
}

// chunks returns how many positions a chunk has, and the most chunks of a chain. The two are about equal, because
// kernels loop over each of them in turn.
func (θ *Chains) chunks() (chunks, step int) {
	step = max(8, int(math.Sqrt(float64(θ.Longest))))
	return max(1, device.CeilDiv(θ.Longest, step)), step
}

// width returns the number of labels for which the kernels for Y ≤ 32 are compiled: 8, 16 or 32.
func (θ *Chains) width() int {
	switch {
	case θ.Y <= 8:
		return 8
	case θ.Y <= 16:
		return 16
	}
	return 32
}

// maxLongScratch holds what runMaxLong passes between its kernels; see cuda/devicecode/cudaoracles/maxlong.cu.
type maxLongScratch struct {
	transfer device.Array[float32] // [B×C×Y×Y]
	shift    device.Array[float64] // [B×C×Y]
	border   device.Array[float32] // [B×C×Y]
	origin   device.Array[int32]   // [B×C×Y]
	ends     device.Array[int32]   // [B×C]
	sums     device.Array[float64] // [2×B×C]
}

func (s *maxLongScratch) free(d *device.Device) {
	device.Free(d, s.transfer)
	device.Free(d, s.shift)
	device.Free(d, s.border)
	device.Free(d, s.origin)
	device.Free(d, s.ends)
	device.Free(d, s.sums)
	*s = maxLongScratch{}
}

func (o *Oracle) reserveMaxLong(θ *Chains) {
	const what = "Viterbi on long chains"
	s := &o.maxLong
	chunks, _ := θ.chunks()
	all := θ.B * chunks
	device.Grow(o.d, &o.max.pointers, 2*θ.N*θ.Y, what)
	device.Grow(o.d, &s.transfer, all*θ.Y*θ.Y, what)
	device.Grow(o.d, &s.shift, all*θ.Y, what)
	device.Grow(o.d, &s.border, all*θ.Y, what)
	device.Grow(o.d, &s.origin, all*θ.Y, what)
	device.Grow(o.d, &s.ends, all, what)
	device.Grow(o.d, &s.sums, 2*all, what)
}

// runMaxLong is Max in parallel along time, for Y ≤ 32. The value of its path equals that of Max up to rounding. If no
// sum of potentials rounds, it breaks ties as Max does.
func (o *Oracle) runMaxLong(θ *Chains, a Augmentation, y device.Array[int32], value, gold device.Array[float64]) {
	o.reserveMaxLong(θ)
	s, pointers := &o.maxLong, o.max.pointers
	chunks, step := θ.chunks()
	width := θ.width()
	each := ""
	if θ.PerPosition {
		each = "each_"
	}
	launch := func(kernel string, grid, block device.Dim, shared int, args ...any) {
		o.d.Launch(kernel, grid, block, shared, append(append(θ.arguments(a), int32(chunks), int32(step)), args...)...)
	}
	shared := 4 * 3 * width // bytes per warp: rows for δ_{t−1}, δ_t and the costs
	rows := min(θ.Y, 8)
	launch(fmt.Sprintf("max_transfer_%s%d", each, width), device.Dim{X: chunks, Y: θ.B, Z: device.CeilDiv(θ.Y, rows)},
		device.Dim{X: 32 * rows}, rows*shared,
		s.transfer, s.shift)
	launch("max_borders", device.Dim{X: θ.B}, device.Dim{X: 32}, 0, s.transfer, s.shift, s.border)
	const warps = 4
	grid, block := device.Dim{X: device.CeilDiv(chunks, warps), Y: θ.B}, device.Dim{X: 32 * warps}
	launch(fmt.Sprintf("max_chunks_%s%d", each, width), grid, block, warps*shared, s.border, pointers, s.origin, s.ends)
	launch("max_ends", device.Dim{X: θ.B}, device.Dim{X: 32}, 0, s.origin, s.ends)
	launch("max_walk", grid, block, 0, pointers, s.ends, y, s.sums)
	launch("max_values", device.Dim{X: θ.B}, device.Dim{X: 32}, 0, s.sums, value, gold)
}
