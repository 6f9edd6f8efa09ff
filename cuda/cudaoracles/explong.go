package cudaoracles

import (
	"fmt"

	"github.com/dsp-go/dsp/cuda/device"
)

// expLongScratch holds what runExpLong passes between its kernels; see cuda/devicecode/cudaoracles/explong.cu. A Wide
// number is a uint64.
type expLongScratch struct {
	transfer      device.Array[uint64]  // [B×C×Y×Y] Wide
	shift         device.Array[int64]   // [B×C×Y]
	before, after device.Array[uint64]  // [B×C×Y] Wide
	parts         device.Array[float32] // [B×C×Y×Y]
	golds         device.Array[float64] // [B×C]
}

func (s *expLongScratch) free(d *device.Device) {
	device.Free(d, s.transfer)
	device.Free(d, s.shift)
	device.Free(d, s.before)
	device.Free(d, s.after)
	device.Free(d, s.parts)
	device.Free(d, s.golds)
	*s = expLongScratch{}
}

func (o *Oracle) reserveExpLong(θ *Chains) {
	const what = "forward-backward on long chains"
	s := &o.expLong
	chunks, _ := θ.chunks()
	all := θ.B * chunks
	device.Grow(o.d, &s.transfer, all*θ.Y*θ.Y, what)
	device.Grow(o.d, &s.shift, all*θ.Y, what)
	device.Grow(o.d, &s.before, all*θ.Y, what)
	device.Grow(o.d, &s.after, all*θ.Y, what)
	if !θ.PerPosition {
		device.Grow(o.d, &s.parts, all*θ.Y*θ.Y, what)
	}
	device.Grow(o.d, &s.golds, all, what)
}

// runExpLong is Exp in parallel along time, for Y ≤ 32. Its scratch memory must have been reserved.
func (o *Oracle) runExpLong(θ *Chains, a Augmentation, μ float64, value device.Array[float64],
	node, edge device.Array[float32], gold device.Array[float64]) {
	s, e, labels, width := &o.expLong, &o.exp, θ.Y, θ.width()
	chunks, step := θ.chunks()
	each := ""
	if θ.PerPosition {
		each = "each_"
	} else {
		o.powersOfEdges(θ, μ)
	}
	launch := func(kernel string, grid, block device.Dim, shared int, args ...any) {
		o.d.Launch(kernel, grid, block, shared, append(append(θ.arguments(a), int32(chunks), int32(step)), args...)...)
	}
	const warps = 4
	shared := 20 * width // bytes per warp: two rows of α or β, and the costs
	rows := min(labels, 8)
	perChunk, perChain := device.Dim{X: chunks, Y: θ.B}, device.Dim{X: θ.B}
	wantsMarginals := !node.IsEmpty() || !edge.IsEmpty()
	var after device.Array[uint64]
	if wantsMarginals {
		after = s.after
	}
	launch(fmt.Sprintf("exp_transfer_%s%d", each, width), device.Dim{X: chunks, Y: θ.B, Z: device.CeilDiv(labels, rows)},
		device.Dim{X: 32 * rows}, rows*shared,
		μ, e.wideFrom, s.transfer, s.shift)
	launch("exp_borders", perChain, device.Dim{X: 32}, 0, μ, s.transfer, s.shift, s.before, after, value)
	if !gold.IsEmpty() {
		launch("exp_golds", perChunk, device.Dim{X: 32}, 0, s.golds)
		launch("exp_scores", perChain, device.Dim{X: 32}, 0, s.golds, gold)
	}
	if !wantsMarginals {
		return
	}
	launch(fmt.Sprintf("exp_chunks_%s%d", each, width), device.Dim{X: device.CeilDiv(chunks, warps), Y: θ.B},
		device.Dim{X: 32 * warps}, warps*shared,
		μ, e.wideFrom, e.wideTo, s.before, after, e.prefix, e.suffix, e.mass, node)
	o.clearPadding(θ, node, labels)
	if edge.IsEmpty() {
		return
	}
	launch("exp_pairs", perChunk, device.Dim{X: 256}, 0, μ, e.wideFrom, e.prefix, e.suffix, e.mass, s.parts, edge)
	if θ.PerPosition {
		o.clearPadding(θ, edge, labels*labels)
	} else {
		launch("exp_pair_sums", perChain, device.Dim{X: 256}, 0, s.parts, edge)
	}
}

// clearPadding zeroes the rows of a matrix [N×width] that belong to no chain.
func (o *Oracle) clearPadding(θ *Chains, matrix device.Array[float32], width int) {
	if !matrix.IsEmpty() {
		o.d.Launch("exp_padding", device.Dim{X: deviceful}, device.Dim{X: 256}, 0, θ.Offsets, int32(θ.B),
			int32(θ.N), int32(width), matrix)
	}
}
