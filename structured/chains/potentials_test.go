package chains

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// drawBatch draws ragged potentials, and a labeling of all positions. Values are multiples of 1/8: sums are exact.
func drawBatch(t *rapid.T) (*structured.Potentials, []int32) {
	y := rapid.IntRange(1, 4).Draw(t, "Y")
	offsets := []int{0}
	for range rapid.IntRange(1, 4).Draw(t, "B") {
		offsets = append(offsets, offsets[len(offsets)-1]+rapid.IntRange(0, 4).Draw(t, "T"))
	}
	θ := &structured.Potentials{}
	Resize(θ, offsets, y, rapid.Bool().Draw(t, "per position"))
	p := Of(θ)
	value := rapid.Map(rapid.IntRange(-40, 40), func(i int) float32 { return float32(i) / 8 })
	for i := range p.Node {
		p.Node[i] = value.Draw(t, "node")
	}
	for i := range p.Edge {
		p.Edge[i] = value.Draw(t, "edge")
	}
	n := p.Positions()
	return θ, rapid.SliceOfN(rapid.Int32Range(0, int32(y-1)), n, n).Draw(t, "labels")
}

// Score adds one node potential per position and one edge potential per step, and equals ⟨θ, 1_y⟩.
func TestScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		θ, all := drawBatch(t)
		p, u := Of(θ), &structured.Marginals{}
		u.Like(θ)
		u.Clear()
		for b := range p.Len() {
			lo, hi := p.Offsets[b], p.Offsets[b+1]
			labels, want := all[lo:hi], 0.0
			for i := lo; i < hi; i++ {
				want += float64(p.Node[i*p.Y+int(all[i])])
				if i > lo {
					at := int(all[i-1])*p.Y + int(all[i])
					if p.PerPosition {
						at += i * p.Y * p.Y
					}
					want += float64(p.Edge[at])
				}
			}
			if got := θ.Score(b, labels); got != want {
				t.Fatalf("chain %d scores %v, want %v", b, got, want)
			}
			u.Add(b, labels, 0.5)
			u.Add(b, labels, 0.5)
			if got := u.Dot(b, θ); got != want {
				t.Fatalf("chain %d: ⟨θ, 1_y⟩ is %v, want %v", b, got, want)
			}
		}
		nodes, edges := float32(0), float32(0)
		for _, x := range In(u).Node {
			nodes += x
		}
		for _, x := range In(u).Edge {
			edges += x
		}
		steps := 0
		for b := range p.Len() {
			steps += max(0, p.Offsets[b+1]-p.Offsets[b]-1)
		}
		if int(nodes) != p.Positions() || int(edges) != steps {
			t.Fatalf("%v nodes and %v edges, want %d and %d", nodes, edges, p.Positions(), steps)
		}
	})
}

// ⟨θ+ℓ, 1_y⟩ = ⟨θ, 1_y⟩ + ℓ(y).
func TestHammingAugment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		θ, y := drawBatch(t)
		p := Of(θ)
		n := p.Positions()
		gold := rapid.SliceOfN(rapid.Int32Range(0, int32(p.Y-1)), n, n).Draw(t, "gold")
		h := Hamming{ByLength: rapid.Bool().Draw(t, "by length")}
		if rapid.Bool().Draw(t, "weighted") {
			h.LabelWeights = rapid.SliceOfN(rapid.Float32Range(0, 4), p.Y, p.Y).Draw(t, "weights")
		}
		for b := range p.Len() {
			lo, hi := p.Offsets[b], p.Offsets[b+1]
			before := θ.Score(b, y[lo:hi])
			h.Augment(θ, b, structured.Gold{Output: gold[lo:hi]})
			got, want := θ.Score(b, y[lo:hi])-before, h.Loss(y[lo:hi], structured.Gold{Output: gold[lo:hi]})
			if math.Abs(got-want) > 1e-4 {
				t.Fatalf("augmenting adds %v, the loss is %v", got, want)
			}
		}
	})
}

func TestHammingLoss(t *testing.T) {
	gold, y := []int32{0, 1, 1, 2}, []int32{0, 2, 1, 0}
	for _, test := range []struct {
		h    Hamming
		want float64
	}{
		{Hamming{}, 2}, {Hamming{ByLength: true}, 0.5},
		{Hamming{LabelWeights: []float32{1, 3, 5}}, 8}, {Hamming{LabelWeights: []float32{1, 3, 5}, ByLength: true}, 2},
	} {
		if got := test.h.Loss(y, structured.Gold{Output: gold}); got != test.want {
			t.Errorf("%+v: loss %v, want %v", test.h, got, test.want)
		}
		if got := test.h.Loss(gold, structured.Gold{Output: gold}); got != 0 {
			t.Errorf("%+v: the loss of the gold labels is %v", test.h, got)
		}
	}
	if got := (Hamming{ByLength: true}).Loss(nil, structured.Gold{}); got != 0 {
		t.Errorf("no positions, but loss %v", got)
	}
}

func TestDotSkipsForbidden(t *testing.T) {
	never := float32(math.Inf(-1))
	θ, u := &structured.Potentials{}, &structured.Marginals{}
	Resize(θ, []int{0, 1}, 2, false)
	copy(θ.Parts[0].Values, []float32{never, 3})
	copy(θ.Parts[1].Values, []float32{never, never, never, never})
	u.Like(θ)
	u.Clear()
	u.Add(0, []int32{1}, 1)
	if got := u.Dot(0, θ); got != 3 {
		t.Errorf("got %v, want 3", got)
	}
}

func TestFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	const most = structured.MostPotential
	for x, want := range map[float32]bool{1: true, -inf: true, inf: false, float32(math.NaN()): false, most: true,
		-most: true, math.Nextafter32(most, inf): false, math.Nextafter32(-most, -inf): false, -math.MaxFloat32: false} {
		for _, perPosition := range []bool{false, true} {
			for part, name := range []string{"node", "edge"} {
				θ := &structured.Potentials{}
				Resize(θ, []int{0, 1, 3}, 1, perPosition)
				for k := range θ.Parts {
					clear(θ.Parts[k].Values)
				}
				last := &θ.Parts[part].Values[len(θ.Parts[part].Values)-1]
				*last = x
				if got := θ.Finite(); got != want {
					t.Errorf("%s %v: %v", name, x, got)
				}
				first := -1
				if !want && (part == 0 || perPosition) {
					first = 1
				}
				if got := θ.FirstNotFinite(); got != first {
					t.Errorf("%s %v, per position %v: first is %d, want %d", name, x, perPosition, got, first)
				}
			}
		}
	}
}
