package cuda

import "fmt"

// expLongScratch is what runExpLong keeps between its kernels. See cuda/kernels/explong.cu. Wide is two numbers in a uint64.
type expLongScratch struct {
	transfer      Array[uint64]  // [B×C×Y×Y] Wide
	shift         Array[int64]   // [B×C×Y]
	before, after Array[uint64]  // [B×C×Y] Wide
	parts         Array[float32] // [B×C×Y×Y]
	golds         Array[float64] // [B×C]
}

func (s *expLongScratch) free(d *Device) {
	Free(d, s.transfer)
	Free(d, s.shift)
	Free(d, s.before)
	Free(d, s.after)
	Free(d, s.parts)
	Free(d, s.golds)
	*s = expLongScratch{}
}

func (o *Oracle) reserveExpLong(θ *Chains) {
	const what = "forward-backward on long chains"
	s := &o.expLong
	chunks, _ := θ.chunks()
	all := θ.B * chunks
	grow(o.d, &s.transfer, all*θ.Y*θ.Y, what)
	grow(o.d, &s.shift, all*θ.Y, what)
	grow(o.d, &s.before, all*θ.Y, what)
	grow(o.d, &s.after, all*θ.Y, what)
	if !θ.PerPosition {
		grow(o.d, &s.parts, all*θ.Y*θ.Y, what)
	}
	grow(o.d, &s.golds, all, what)
}

// runExpLong is Exp in parallel in time, for Y ≤ 32. There is room for it.
func (o *Oracle) runExpLong(θ *Chains, a Augmentation, μ float64, value Array[float64], node, edge Array[float32], gold Array[float64]) {
	s, e, labels, width := &o.expLong, &o.exp, θ.Y, θ.width()
	chunks, step := θ.chunks()
	each := ""
	if θ.PerPosition {
		each = "each_"
	} else {
		o.powersOfEdges(θ, μ)
	}
	launch := func(kernel string, grid, block Dim, shared int, args ...any) {
		o.d.Launch(kernel, grid, block, shared, append(append(θ.arguments(a), int32(chunks), int32(step)), args...)...)
	}
	const warps = 4
	shared := 20 * width // bytes of a warp: rows for two α or β, costs
	rows := min(labels, 8)
	perChunk, perChain := Dim{X: chunks, Y: θ.B}, Dim{X: θ.B}
	wantsMarginals := !node.IsEmpty() || !edge.IsEmpty()
	var after Array[uint64]
	if wantsMarginals {
		after = s.after
	}
	launch(fmt.Sprintf("exp_transfer_%s%d", each, width), Dim{chunks, θ.B, ceilDiv(labels, rows)}, Dim{X: 32 * rows}, rows*shared,
		μ, e.wideFrom, s.transfer, s.shift)
	launch("exp_borders", perChain, Dim{X: 32}, 0, μ, s.transfer, s.shift, s.before, after, value)
	if !gold.IsEmpty() {
		launch("exp_golds", perChunk, Dim{X: 32}, 0, s.golds)
		launch("exp_scores", perChain, Dim{X: 32}, 0, s.golds, gold)
	}
	if !wantsMarginals {
		return
	}
	launch(fmt.Sprintf("exp_chunks_%s%d", each, width), Dim{X: ceilDiv(chunks, warps), Y: θ.B}, Dim{X: 32 * warps}, warps*shared,
		μ, e.wideFrom, e.wideTo, s.before, after, e.prefix, e.suffix, e.mass, node)
	o.clearPadding(θ, node, labels)
	if edge.IsEmpty() {
		return
	}
	launch("exp_pairs", perChunk, Dim{X: 256}, 0, μ, e.wideFrom, e.prefix, e.suffix, e.mass, s.parts, edge)
	if θ.PerPosition {
		o.clearPadding(θ, edge, labels*labels)
	} else {
		launch("exp_pair_sums", perChain, Dim{X: 256}, 0, s.parts, edge)
	}
}

// clearPadding writes zeros to the rows of a matrix [N×width] that no chain owns.
func (o *Oracle) clearPadding(θ *Chains, matrix Array[float32], width int) {
	if !matrix.IsEmpty() {
		o.d.Launch("exp_padding", Dim{X: deviceful}, Dim{X: 256}, 0, θ.Offsets, int32(θ.B), int32(θ.N), int32(width), matrix)
	}
}
