package chains

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// drawPartial draws partial labels for the chains of p: some are sets.
func drawPartial(t *rapid.T, p Potentials) *structured.Dataset {
	names := []string{"a", "b", "c", "d"}[:p.Y]
	d := &structured.Dataset{Offsets: p.Offsets, Alphabet: structured.NewAlphabet(names...),
		LabelSets: [][]int32{nil, {0}}}
	if p.Y > 1 {
		d.LabelSets = append(d.LabelSets, []int32{0, 1}, []int32{0, int32(p.Y - 1)}, []int32{1})
	}
	n := p.Positions()
	d.Labels = rapid.SliceOfN(rapid.Int32Range(int32(-len(d.LabelSets)), int32(p.Y-1)), n, n).Draw(t, "gold")
	return d
}

// completions calls do with every labeling of example i that agrees with d's labels.
func completions(d *structured.Dataset, i, y int, do func(labels []int32)) {
	gold := d.Gold(i)
	labels := make([]int32, len(gold))
	var fill func(t int)
	fill = func(t int) {
		if t == len(gold) {
			do(labels)
			return
		}
		for l := range int32(y) {
			if g := gold[t]; g == l || g < 0 && (d.LabelSets[-1-g] == nil || slices.Contains(d.LabelSets[-1-g], l)) {
				labels[t] = l
				fill(t + 1)
			}
		}
	}
	fill(0)
}

// Restrict forbids the labelings that contradict the labels and changes no other score.
func TestRestrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		θ, y := drawBatch(t)
		p, whole := Of(θ), &structured.Potentials{}
		d := drawPartial(t, p)
		whole.Copy(θ)
		for b := range p.Len() {
			Chain{}.Restrict(θ, b, d.GoldOf(b))
			labels, agrees := y[p.Offsets[b]:p.Offsets[b+1]], false
			completions(d, b, p.Y, func(c []int32) { agrees = agrees || slices.Equal(c, labels) })
			want := math.Inf(-1)
			if agrees {
				want = whole.Score(b, labels)
			}
			if got := θ.Score(b, labels); got != want {
				t.Fatalf("chain %d with labels %v scores %v, want %v", b, d.Gold(b), got, want)
			}
		}
	})
}

// The loss for partial labels is the least loss over the labelings that they allow.
func TestAugmentPartial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		θ, y := drawBatch(t)
		p := Of(θ)
		d := drawPartial(t, p)
		h := Hamming{ByLength: rapid.Bool().Draw(t, "by length")}
		if rapid.Bool().Draw(t, "weighted") {
			h.LabelWeights = rapid.SliceOfN(rapid.Float32Range(0, 4), p.Y, p.Y).Draw(t, "weights")
		}
		for b := range p.Len() {
			labels, want := y[p.Offsets[b]:p.Offsets[b+1]], math.Inf(1)
			completions(d, b, p.Y, func(c []int32) { want = min(want, h.Loss(labels, structured.Gold{Output: c})) })
			before := θ.Score(b, labels)
			h.Augment(θ, b, d.GoldOf(b))
			if got := θ.Score(b, labels) - before; math.Abs(got-want) > 1e-4 {
				t.Fatalf("augmenting adds %v, the loss to %v is %v", got, d.Gold(b), want)
			}
			u := &structured.Marginals{}
			u.Like(θ)
			u.Clear()
			u.Add(b, labels, 1)
			if got := h.Dot(u, b, d.GoldOf(b)); math.Abs(got-want) > 1e-4 {
				t.Fatalf("⟨1_y, ℓ⟩ = %v, the loss to %v is %v", got, d.Gold(b), want)
			}
		}
	})
}

// Constraints allow partial labels if and only if they allow some completion.
func TestAllowsSome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		θ, _ := drawBatch(t)
		p := Of(θ)
		d, c := drawPartial(t, p), (*Constraints)(nil)
		flags := func(n int) []bool { return rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "forbidden") }
		if rapid.Bool().Draw(t, "constraints") {
			c = &Constraints{Start: flags(p.Y), End: flags(p.Y), Transition: flags(p.Y * p.Y)}
		}
		for b := range p.Len() {
			want := false
			completions(d, b, p.Y, func(labels []int32) { want = want || c.Allows(labels) })
			if got := c.AllowsSome(d, b); got != want {
				t.Fatalf("labels %v: allows some %v, want %v", d.Gold(b), got, want)
			}
		}
	})
}

// Positions without a known label do not count as tokens; their sequences and entities do not count either.
func TestPartialMetrics(t *testing.T) {
	labels := structured.NewAlphabet("B-X", "I-X", "O")
	e := NewEvaluator(labels, false, "")
	e.addLabels([]int32{0, -1, 2}, []int32{2, 1, 2})
	if m := e.Labels(); m.Tokens != 2 || m.TokenError != 0.5 || m.Sequences != 0 || m.EntityMetrics != nil {
		t.Errorf("partial labels only: %+v", m)
	}
	e.addLabels([]int32{0, 1, 2}, []int32{0, 1, 2})
	m := e.Labels()
	if m.Tokens != 5 || m.TokenError != 0.2 || m.Sequences != 1 || m.SequenceError != 0 || m.EntityMetrics == nil ||
		m.Gold != 1 || m.F1 != 1 {
		t.Errorf("%+v", m)
	}
}
