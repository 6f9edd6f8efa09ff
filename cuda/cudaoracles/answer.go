package cudaoracles

import (
	"cmp"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles"
)

// Answer holds a smoothed oracle's answers about each chain of a batch, on the device. Arrays that are empty are not computed.
type Answer struct {
	Value device.Array[float64] // [B] h_μ(θ+ℓ)
	Max   device.Array[float64] // [B] max_y ⟨θ+ℓ,1_y⟩; with oracles.Entropy only if wantMax is set
	Gold  device.Array[float64] // [B] ⟨θ,1_gold⟩
	Node  device.Array[float32] // [N×Y] ∇h_μ, the marginals u; 0 beyond the last chain
	Edge  device.Array[float32] // [B×Y×Y], or [N×Y×Y] where edges are per position
	Exact device.Array[int32]   // [B] 1 if the answer equals the smoothing over all outputs (Prop. 4), which holds always except with oracles.L2
}

// answerScratch is the scratch memory of Answer.
type answerScratch struct {
	best  KBest
	value device.Array[float64] // [B]
}

func (s *answerScratch) free(d *device.Device) {
	s.best.Free(d)
	device.Free(d, s.value)
	*s = answerScratch{}
}

// outputsFor returns how many best outputs an ℓ₂ smoothing needs: one more than can get weight.
func outputsFor(s oracles.Smoothing) int { return 1 + cmp.Or(s.K, s.MaxK, 64) }

// ReserveAnswer allocates scratch memory for Answer on chains of these capacities.
func (o *Oracle) ReserveAnswer(θ *Chains, s oracles.Smoothing) {
	a, d := &o.answer, o.d
	switch s.Kind {
	case oracles.Entropy:
		o.reserveExp(θ)
		device.Grow(d, &a.value, θ.B, "values")
		a.best.Reserve(d, θ, 1)
		o.ReserveMax(θ)
	case oracles.L2:
		a.best.Reserve(d, θ, outputsFor(s))
		o.reserveTopK(θ, outputsFor(s))
	default:
		a.best.Reserve(d, θ, 1)
		o.ReserveMax(θ)
	}
}

// Answer fills out with the smoothed oracle's answers, as oracles.Smoothing.Answer does on the CPU. With oracles.L2 and K = 0 it
// enumerates the outputs of each chain until the next one would get no weight, or until there are MaxK.
func (o *Oracle) Answer(θ *Chains, a Augmentation, s oracles.Smoothing, out *Answer, wantMax bool) {
	o.ReserveAnswer(θ, s)
	best := &o.answer.best
	switch s.Kind {
	case oracles.Entropy:
		value := out.Value
		if value.IsEmpty() {
			value = o.answer.value
		}
		o.Exp(θ, a, s.Mu, value, out.Node, out.Edge, out.Gold)
		if wantMax {
			o.Max(θ, a, best.Labels, out.Max, device.Array[float64]{})
		}
		if !out.Exact.IsEmpty() {
			o.d.Launch("ones", device.Dim{X: device.CeilDiv(θ.B, 256)}, device.Dim{X: 256}, 0, out.Exact, int32(θ.B))
		}
	case oracles.L2:
		μ := 0.0
		if s.K == 0 {
			μ = s.Mu
		}
		o.topK(θ, a, outputsFor(s), μ, best, out.Gold)
		o.mix(θ, s.Mu, best, best.Count, out)
	default:
		o.Max(θ, a, best.Labels, best.Score, out.Gold)
		o.mix(θ, 1, best, device.Array[int32]{}, out)
	}
}

// mix computes the answers from the best outputs, whose scores it smooths.
func (o *Oracle) mix(θ *Chains, μ float64, best *KBest, count device.Array[int32], out *Answer) {
	flags := θ.arguments(Augmentation{})[6]
	o.d.Launch("mixture", device.Dim{X: θ.B}, device.Dim{X: 128}, 4*(best.K+1), θ.Offsets, int32(θ.Y), flags, int32(θ.N), int32(best.K), μ,
		count, best.Score, best.Labels, out.Value, out.Max, out.Exact, out.Node, out.Edge)
}
