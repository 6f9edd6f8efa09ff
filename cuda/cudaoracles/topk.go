package cudaoracles

import (
	"fmt"

	"github.com/dsp-go/dsp/cuda/device"
)

// KBest holds up to K outputs of each chain of a batch, best first, on the device.
type KBest struct {
	K      int
	Count  device.Array[int32]   // [B] number of outputs, ≤ K
	Score  device.Array[float64] // [B×K] descending
	Labels device.Array[int32]   // [K×N] output k labels position t of the batch with Labels[k*N+t]
}

// Reserve allocates lists of k outputs for chains of these capacities. Their content is undefined.
func (best *KBest) Reserve(d *device.Device, θ *Chains, k int) {
	const what = "the best outputs"
	best.K = k
	device.Grow(d, &best.Count, θ.B, what)
	device.Grow(d, &best.Score, θ.B*k, what)
	device.Grow(d, &best.Labels, k*θ.N, what)
}

// Free releases the memory.
func (best *KBest) Free(d *device.Device) {
	device.Free(d, best.Count)
	device.Free(d, best.Score)
	device.Free(d, best.Labels)
	*best = KBest{}
}

// MaxBest is the largest k that TopK supports.
const MaxBest = 1 << 14

// topScratch is the scratch memory for enumerating the best outputs; see cuda/devicecode/cudaoracles/topk.cu.
type topScratch struct {
	cells, lasts device.Array[uint8]  // [(N+B)×K×2]
	entries      device.Array[uint32] // [(N+B)×2K×3]
	counts, way  device.Array[int32]  // [N+B]
	path         device.Array[int32]  // [N]
}

func (s *topScratch) free(d *device.Device) {
	device.Free(d, s.cells)
	device.Free(d, s.lasts)
	device.Free(d, s.entries)
	device.Free(d, s.counts)
	device.Free(d, s.way)
	device.Free(d, s.path)
	*s = topScratch{}
}

// reserveTopK allocates scratch memory for TopK of k outputs on chains of these capacities: up to (28k + 12)·(N+B) +
// 4·N·Y bytes, in addition to the lists themselves.
func (o *Oracle) reserveTopK(θ *Chains, k int) {
	const what = "the enumeration of best outputs"
	s, d, cells := &o.top, o.d, θ.N+θ.B
	device.Grow(d, &o.max.scores, θ.N*θ.Y, what)
	device.Grow(d, &o.max.ends, θ.B, what)
	device.Grow(d, &s.path, θ.N, what)
	if sharedTopK(θ, k).room > 0 {
		return
	}
	device.Grow(d, &s.cells, 2*cells*k, what)
	device.Grow(d, &s.lasts, 2*cells*k, what)
	device.Grow(d, &s.entries, 6*cells*k, what)
	device.Grow(d, &s.counts, cells, what)
	device.Grow(d, &s.way, cells, what)
}

// topShared says what best_outputs keeps in shared memory; see cuda/devicecode/cudaoracles/topk.cu.
type topShared struct {
	room       int // positions of a chain, and one more, whose lists fit; 0: the lists are in topScratch
	transposed bool
	bytes      int // of a block
}

const topWarps = 4 // per block of best_outputs; each enumerates the outputs of a chain

// mostTopShared is the shared memory that a block may take without keeping others out: the registers of an H200's
// multiprocessor, which has 227 KiB, hold four blocks.
const mostTopShared = 55 << 10

func sharedTopK(θ *Chains, k int) topShared {
	s := topShared{bytes: topWarps * 64 * 8}
	if edges := 4 * θ.Y * (θ.Y | 1); !θ.PerPosition && s.bytes+edges <= mostTopShared {
		s.transposed, s.bytes = true, s.bytes+edges
	}
	if room := θ.Longest + 1; s.bytes+topWarps*room*(28*k+8) <= mostTopShared {
		s.room, s.bytes = room, s.bytes+topWarps*room*(28*k+8)
	}
	return s
}

// TopK finds the min(k, number of allowed outputs) best outputs of every chain, best first, with the loss of a. It
// breaks ties as the CPU does.
func (o *Oracle) TopK(θ *Chains, a Augmentation, k int, best *KBest) {
	o.topK(θ, a, k, 0, best, device.Array[float64]{})
}

// topK finds the k best outputs of every chain. With μ > 0 it finds fewer if smoothing with μ gives the others no
// weight. The scores of the gold labels go to gold [B], unless that is empty.
func (o *Oracle) topK(θ *Chains, a Augmentation, k int, μ float64, best *KBest, gold device.Array[float64]) {
	if k < 1 || k > MaxBest {
		o.d.Fail(fmt.Errorf("cuda: top-K with K = %d; a device supports 1 to %d", k, MaxBest))
		return
	}
	best.Reserve(o.d, θ, k)
	o.reserveTopK(θ, k)
	s, scores := &o.top, o.max.scores
	if θ.PerPosition {
		threads := (θ.Y + 31) / 32 * 32
		o.d.Launch("prefix_scores", device.Dim{X: θ.B}, device.Dim{X: threads}, 4*(2*threads+32),
			append(θ.arguments(a), scores)...)
	} else {
		v := viterbiFor(θ)
		o.d.Launch(v.name, device.Dim{X: device.CeilDiv(θ.B, v.chains)}, device.Dim{X: v.threads}, v.shared,
			append(θ.arguments(a), int32(θ.B), scores, o.max.pointers, o.max.ends)...)
	}
	in := sharedTopK(θ, k)
	o.d.Launch("best_outputs", device.Dim{X: device.CeilDiv(θ.B, topWarps)}, device.Dim{X: 32 * topWarps}, in.bytes,
		append(θ.arguments(a), int32(θ.B), int32(θ.N), scores, int32(k), μ, best.Count, best.Score, best.Labels, gold,
			s.cells, s.lasts, s.entries, s.counts, s.way, s.path, int32(in.room), device.Flag(in.transposed))...)
}
