package cuda

import "fmt"

const (
	widestSums = 128     // labels that forward_backward_… handles
	tilePadded = 32 * 33 // numbers of a 32×32 tile in shared memory
)

// expScratch is what Exp works in.
type expScratch struct {
	from, to         Array[float32] // [Y×Y] exponentials of shared edges, and their transpose
	wideFrom, wideTo Array[uint64]  // [Y×Y] the same with exponents of their own: Wide in cuda/kernels/gibbs.cuh
	bounds           Array[float32] // [3] of shared edges
	scale, top       Array[float32] // [N]
	declined         Array[int32]   // [B]
	node             Array[float32] // [N×Y] where only edges are asked for
	prefix, suffix   Array[uint64]  // [N×Y] Wide
	mass             Array[uint64]  // [N] Wide
}

func (s *expScratch) free(d *Device) {
	for _, x := range []Array[float32]{s.from, s.to, s.bounds, s.scale, s.top, s.node} {
		Free(d, x)
	}
	for _, x := range []Array[uint64]{s.wideFrom, s.wideTo, s.prefix, s.suffix, s.mass} {
		Free(d, x)
	}
	Free(d, s.declined)
	*s = expScratch{}
}

// Exp gives μ·log Σ_y exp(⟨θ+ℓ,1_y⟩/μ) of every chain in value [B], and its gradient in node [N×Y] and edge ([B×Y×Y], or [N×Y×Y] where
// θ.PerPosition), 0 beyond the last chain. Either may be empty: no marginals of that kind. The score of a.Gold goes to gold [B], if
// that is not empty. A chain none of whose outputs is allowed has value −∞ and zero marginals.
//
// Chains with shared edges and at most 128 labels are done on float32 probabilities where these hold what the potentials span over μ;
// that is found out on the device, and the rest is done on numbers with exponents of their own. Few very long chains are done parallel in
// time. Scratch is 16·N·Y bytes and 24·Y² bytes.
func (o *Oracle) Exp(θ *Chains, a Augmentation, μ float64, value Array[float64], node, edge Array[float32], gold Array[float64]) {
	if !(μ > 0) {
		o.d.fail(fmt.Errorf("cuda: Exp at temperature %g, expected more than 0", μ))
	}
	if !o.takes(θ) {
		return
	}
	o.ReserveExp(θ)
	s, d, labels := &o.exp, o.d, θ.Y
	if node.IsEmpty() && !edge.IsEmpty() {
		node = room(d, &s.node, θ.N*labels, "marginals of nodes")
	}
	if θ.areLong() {
		o.runExpLong(θ, a, μ, value, node, edge, gold)
		return
	}
	arguments := append(θ.arguments(a), int32(θ.N), μ)
	if !θ.PerPosition {
		o.powersOfEdges(θ, μ)
	}
	var declined Array[int32]
	lead := int32(1)
	if !θ.PerPosition && labels <= widestSums {
		declined, lead = s.declined, 0
		q := (labels + 31) / 32
		numbers := 2*32*q + 4*q + q*q*tilePadded
		if q > 1 {
			numbers += q * 32 * q
		}
		d.Launch(fmt.Sprintf("forward_backward_%d", 32*q), Dim{X: θ.B}, Dim{X: 32 * q * q}, 4*numbers,
			append(arguments[:9:9], s.from, s.to, s.bounds, value, node, edge, s.scale, s.top, declined, gold)...)
	}
	kernel := "wide_sums"
	if θ.PerPosition {
		kernel = "wide_sums_per_position"
	}
	d.Launch(kernel, Dim{X: θ.B}, Dim{X: (labels + 31) / 32 * 32}, 8*labels+4*32,
		append(arguments[:9:9], s.wideFrom, s.wideTo, declined, value, node, s.prefix, s.suffix, s.mass, gold, lead)...)
	if !edge.IsEmpty() {
		tiles := (labels + 31) / 32
		d.Launch("wide_pairs", Dim{X: θ.B, Y: tiles * tiles}, Dim{X: 256}, 0,
			append(arguments[:9:9], s.wideFrom, declined, s.prefix, s.suffix, s.mass, edge)...)
	}
}

// powersOfEdges takes exponentials of shared edges.
func (o *Oracle) powersOfEdges(θ *Chains, μ float64) {
	s := &o.exp
	o.d.Launch("edge_bounds", Dim{X: 1}, Dim{X: 1024}, 3*32*4, θ.Edge, int32(θ.Y), s.bounds)
	o.d.Launch("edge_powers", Dim{X: blocks(θ.Y*θ.Y, 256)}, Dim{X: 256}, 0,
		θ.Edge, int32(θ.Y), μ, s.bounds, s.from, s.to, s.wideFrom, s.wideTo)
}

// ReserveExp makes room for Exp, and for the marginals that it is asked for, on batches of these capacities.
func (o *Oracle) ReserveExp(θ *Chains) {
	if θ.areLong() {
		o.reserveExpLong(θ)
	}
	s, d, what := &o.exp, o.d, "forward-backward"
	cells, matrix := θ.N*θ.Y, θ.Y*θ.Y
	if !θ.PerPosition {
		room(d, &s.from, matrix, what)
		room(d, &s.to, matrix, what)
		room(d, &s.wideFrom, matrix, what)
		room(d, &s.wideTo, matrix, what)
	}
	room(d, &s.bounds, 3, what)
	room(d, &s.scale, θ.N, what)
	room(d, &s.top, θ.N, what)
	room(d, &s.declined, θ.B, what)
	room(d, &s.prefix, cells, what)
	room(d, &s.suffix, cells, what)
	room(d, &s.mass, θ.N, what)
}

// takes reports whether the oracle's kernels take such chains; if not, the device has an error.
func (o *Oracle) takes(θ *Chains) bool {
	if θ.Y < 1 || θ.Y > MaxLabels {
		o.d.fail(fmt.Errorf("cuda: %d labels, the device's oracles take 1 to %d", θ.Y, MaxLabels))
		return false
	}
	return true
}
