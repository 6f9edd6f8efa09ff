package cuda

import "fmt"

// KBest holds up to K outputs of each chain of a batch, best first, on the device.
type KBest struct {
	K      int
	Count  Array[int32]   // [B] how many there are, ≤ K
	Score  Array[float64] // [B×K] descending
	Labels Array[int32]   // [K×N] output k labels position t of the batch with Labels[k*N+t]
}

// Reserve makes room for k outputs of chains of these capacities. Their content is undefined.
func (best *KBest) Reserve(d *Device, θ *Chains, k int) {
	const what = "the best outputs"
	best.K = k
	grow(d, &best.Count, θ.B, what)
	grow(d, &best.Score, θ.B*k, what)
	grow(d, &best.Labels, k*θ.N, what)
}

// Free gives the memory back.
func (best *KBest) Free(d *Device) {
	Free(d, best.Count)
	Free(d, best.Score)
	Free(d, best.Labels)
	*best = KBest{}
}

// MaxBest is the most outputs that TopK finds.
const MaxBest = 1 << 14

// topScratch is what the enumeration of best outputs works in. See cuda/kernels/topk.cu.
type topScratch struct {
	cells, lasts Array[int32]  // [(N+B)×K]
	entries      Array[uint32] // [(N+B)×2K×4]
	counts, way  Array[int32]  // [N+B]
	path         Array[int32]  // [N]
}

func (s *topScratch) free(d *Device) {
	Free(d, s.cells)
	Free(d, s.lasts)
	Free(d, s.entries)
	Free(d, s.counts)
	Free(d, s.way)
	Free(d, s.path)
	*s = topScratch{}
}

// ReserveTopK makes room for TopK of k outputs of chains of these capacities: (40k + 12)·(N+B) + 4·N·Y bytes, beside the
// lists themselves.
func (o *Oracle) ReserveTopK(θ *Chains, k int) {
	const what = "the enumeration of best outputs"
	s, d, cells := &o.top, o.d, θ.N+θ.B
	grow(d, &o.max.scores, θ.N*θ.Y, what)
	grow(d, &o.max.ends, θ.B, what)
	grow(d, &s.cells, cells*k, what)
	grow(d, &s.lasts, cells*k, what)
	grow(d, &s.entries, 8*cells*k, what)
	grow(d, &s.counts, cells, what)
	grow(d, &s.way, cells, what)
	grow(d, &s.path, θ.N, what)
}

// TopK finds the min(k, number of allowed outputs) best outputs of every chain, best first, with the loss of a. Which of
// outputs that tie come first is the same as on the CPU.
func (o *Oracle) TopK(θ *Chains, a Augmentation, k int, best *KBest) {
	o.topK(θ, a, k, 0, best, Array[float64]{})
}

// topK finds the k best outputs of every chain; with μ > 0 fewer, where a smoothing by μ gives the others no weight. The scores
// of the gold labels go to gold [B], unless that is empty.
func (o *Oracle) topK(θ *Chains, a Augmentation, k int, μ float64, best *KBest, gold Array[float64]) {
	if k < 1 || k > MaxBest {
		o.d.fail(fmt.Errorf("cuda: %d best outputs, the device finds 1 to %d", k, MaxBest))
		return
	}
	best.Reserve(o.d, θ, k)
	o.ReserveTopK(θ, k)
	s, scores := &o.top, o.max.scores
	if θ.PerPosition {
		threads := (θ.Y + 31) / 32 * 32
		o.d.Launch("prefix_scores", Dim{X: θ.B}, Dim{X: threads}, 4*(2*threads+32), append(θ.arguments(a), scores)...)
	} else {
		v := viterbiFor(θ)
		o.d.Launch(v.name, Dim{X: ceilDiv(θ.B, v.chains)}, Dim{X: v.threads}, v.shared,
			append(θ.arguments(a), int32(θ.B), scores, o.max.pointers, o.max.ends)...)
	}
	const warps = 4
	o.d.Launch("best_outputs", Dim{X: ceilDiv(θ.B, warps)}, Dim{X: 32 * warps}, warps*64*8,
		append(θ.arguments(a), int32(θ.B), int32(θ.N), scores, int32(k), μ, best.Count, best.Score, best.Labels, gold,
			s.cells, s.lasts, s.entries, s.counts, s.way, s.path)...)
}
