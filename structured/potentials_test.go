package structured

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// drawBatch draws ragged potentials, and a labeling of all positions. Values are multiples of 1/8: sums are exact.
func drawBatch(t *rapid.T) (*Potentials, []int32) {
	y := rapid.IntRange(1, 4).Draw(t, "Y")
	offsets := []int{0}
	for range rapid.IntRange(1, 4).Draw(t, "B") {
		offsets = append(offsets, offsets[len(offsets)-1]+rapid.IntRange(0, 4).Draw(t, "T"))
	}
	p := &Potentials{}
	p.Resize(offsets, y, rapid.Bool().Draw(t, "per position"))
	value := rapid.Map(rapid.IntRange(-40, 40), func(i int) float32 { return float32(i) / 8 })
	for i := range p.Node {
		p.Node[i] = value.Draw(t, "node")
	}
	for i := range p.Edge {
		p.Edge[i] = value.Draw(t, "edge")
	}
	n := p.Positions()
	return p, rapid.SliceOfN(rapid.Int32Range(0, int32(y-1)), n, n).Draw(t, "labels")
}

// Score adds one node potential a position and one edge potential a step, and is ⟨θ, 1_y⟩.
func TestScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, all := drawBatch(t)
		u := &Marginals{}
		u.Resize(p.Offsets, p.Y, p.PerPosition)
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
			if got := p.Score(b, labels); got != want {
				t.Fatalf("chain %d scores %v, want %v", b, got, want)
			}
			u.AddLabeling(b, labels, 0.5)
			u.AddLabeling(b, labels, 0.5)
			if got := u.Dot(b, p); got != want {
				t.Fatalf("chain %d: ⟨θ, 1_y⟩ is %v, want %v", b, got, want)
			}
		}
		nodes, edges := float32(0), float32(0)
		for _, x := range u.Node {
			nodes += x
		}
		for _, x := range u.Edge {
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
		p, y := drawBatch(t)
		n := p.Positions()
		gold := rapid.SliceOfN(rapid.Int32Range(0, int32(p.Y-1)), n, n).Draw(t, "gold")
		h := Hamming{ByLength: rapid.Bool().Draw(t, "by length")}
		if rapid.Bool().Draw(t, "weighted") {
			h.LabelWeights = rapid.SliceOfN(rapid.Float32Range(0, 4), p.Y, p.Y).Draw(t, "weights")
		}
		for b := range p.Len() {
			lo, hi := p.Offsets[b], p.Offsets[b+1]
			before := p.Score(b, y[lo:hi])
			h.Augment(p, b, gold[lo:hi], nil)
			got, want := p.Score(b, y[lo:hi])-before, h.Loss(y[lo:hi], gold[lo:hi])
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
		if got := test.h.Loss(y, gold); got != test.want {
			t.Errorf("%+v: loss %v, want %v", test.h, got, test.want)
		}
		if got := test.h.Loss(gold, gold); got != 0 {
			t.Errorf("%+v: the loss of the gold labels is %v", test.h, got)
		}
	}
	if got := (Hamming{ByLength: true}).Loss(nil, nil); got != 0 {
		t.Errorf("no positions, but loss %v", got)
	}
}

func TestDotSkipsForbidden(t *testing.T) {
	never := float32(math.Inf(-1))
	p := &Potentials{Y: 2, Offsets: []int{0, 1}, Node: []float32{never, 3}, Edge: []float32{never, never, never, never}}
	u := &Marginals{}
	u.Resize(p.Offsets, 2, false)
	u.Clear()
	u.AddLabeling(0, []int32{1}, 1)
	if got := u.Dot(0, p); got != 3 {
		t.Errorf("got %v, want 3", got)
	}
}

func TestFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	for x, want := range map[float32]bool{1: true, -inf: true, inf: false, float32(math.NaN()): false} {
		if got := (&Potentials{Node: []float32{x}}).Finite(); got != want {
			t.Errorf("node %v: %v", x, got)
		}
		if got := (&Potentials{Edge: []float32{0, x}}).Finite(); got != want {
			t.Errorf("edge %v: %v", x, got)
		}
	}
}

func TestBatch(t *testing.T) {
	d := &Dataset{Name: "x", Offsets: []int{0, 2, 2, 5}, Labels: []int32{0, 1, 2, 3, 4}, Weights: []float64{1, 2, 3}}
	var b Batch
	for range 2 { // the second time in the same memory
		b.Reset(d, []int{2, 1, 0, 2})
		if !reflect.DeepEqual(b.Offsets, []int{0, 3, 3, 5, 8}) || b.Len() != 4 || b.Positions() != 8 ||
			!reflect.DeepEqual(b.Gold(3), []int32{2, 3, 4}) || len(b.Gold(1)) != 0 {
			t.Errorf("got %+v", b)
		}
	}
	if d.Weight(2) != 3 || d.Where(1) != "x, example 1" || d.ID(2) != "2" || d.Len() != 3 || (&Dataset{}).Len() != 0 {
		t.Error("the data set's accessors")
	}
	s := d.Subset([]int{2, 1, 2})
	if !reflect.DeepEqual(s.Offsets, []int{0, 3, 3, 6}) || !reflect.DeepEqual(s.Labels, []int32{2, 3, 4, 2, 3, 4}) ||
		!reflect.DeepEqual(s.Weights, []float64{3, 2, 3}) || s.Features != nil || s.IDs != nil {
		t.Errorf("subset %+v", s)
	}
	if none := d.Subset(nil); none.Len() != 0 || none.Labels == nil {
		t.Errorf("empty subset %+v", none)
	}
}

func TestTrainable(t *testing.T) {
	good := Dataset{Offsets: []int{0, 1}, Labels: []int32{0}, Alphabet: NewAlphabet("a", "b")}
	if err := good.Trainable(); err != nil {
		t.Error(err)
	}
	empty, unlabeled, single := good, good, good
	empty.Offsets = []int{0, 0}
	unlabeled.Labels = nil
	single.Alphabet = NewAlphabet("a")
	for _, d := range []Dataset{empty, unlabeled, single} {
		if err := d.Trainable(); !IsBadInput(err) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func TestAlphabet(t *testing.T) {
	a := NewAlphabet("x", "y", "x")
	if a.Len() != 2 || a.Add("z") != 2 || a.Add("y") != 1 || a.Index("q") != -1 || a.Name(2) != "z" ||
		!reflect.DeepEqual(a.Names(), []string{"x", "y", "z"}) {
		t.Errorf("got %+v", a)
	}
	var zero Alphabet
	if zero.Index("x") != -1 || zero.Add("x") != 0 {
		t.Error("the zero value is not an empty alphabet")
	}
}
