package structured

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func labelColumn(cells ...string) *Dataset {
	return &Dataset{Name: "f", Offsets: []int{0, len(cells)}, Columns: [][]string{cells}, ColumnNames: []string{LabelColumn}}
}

func TestReadPartialLabels(t *testing.T) {
	d := labelColumn("B", "?", "C|A", "A|C", "B|B", "_", "A", "C|A|B", "A|C|A")
	if err := d.ReadPartialLabels(nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"A", "B", "C"}; !slices.Equal(d.Alphabet.Names(), want) {
		t.Errorf("labels %q, want %q", d.Alphabet.Names(), want)
	}
	if want := []int32{1, -1, -2, -2, 1, -1, 0, -1, -2}; !slices.Equal(d.Labels, want) {
		t.Errorf("labels %v, want %v", d.Labels, want)
	}
	if want := [][]int32{nil, {0, 2}}; !reflect.DeepEqual(d.LabelSets, want) {
		t.Errorf("sets %v, want %v", d.LabelSets, want)
	}
	full := labelColumn("B", "A")
	if err := full.ReadPartialLabels(nil); err != nil || full.LabelSets != nil || !slices.Equal(full.Labels, []int32{1, 0}) {
		t.Errorf("labels all known: %v, sets %v, %v", full.Labels, full.LabelSets, err)
	}
}

// A known label is itself, however it is spelt.
func TestKnownLabelsLikePartialOnes(t *testing.T) {
	d := labelColumn("?", "X|Y", "X", "X|_", "?|X")
	if err := d.ReadPartialLabels(NewAlphabet("?", "X", "X|Y", "_")); err != nil {
		t.Fatal(err)
	}
	if want := []int32{0, 2, 1, -1, -2}; !slices.Equal(d.Labels, want) {
		t.Errorf("labels %v, want %v", d.Labels, want)
	}
}

func TestBadPartialLabels(t *testing.T) {
	known := NewAlphabet("A", "B")
	for _, c := range []struct {
		d     *Dataset
		known *Alphabet
		want  string
	}{
		{labelColumn("A", "D"), known, `f:8: label "D" is not one of the known ones: A B; or ? for any`},
		{labelColumn("A|D"), known, `f:7: label "D" in "A|D" is not one of the known ones: A B`},
		{labelColumn("A|"), nil, `f:7: label "" in "A|" is not one of the known ones: A`},
		{labelColumn("A||B"), known, `label "" in "A||B"`},
		{&Dataset{Name: "f"}, known, `f: no column of labels`},
	} {
		c.d.Lines = []int{7}
		err := c.d.ReadPartialLabels(c.known)
		if !IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.d.Columns, err, c.want)
		}
	}
}

// drawPartial draws labels of which some are sets, for the chains of p.
func drawPartial(t *rapid.T, p *Potentials) *Dataset {
	names := []string{"a", "b", "c", "d"}[:p.Y]
	d := &Dataset{Offsets: p.Offsets, Alphabet: NewAlphabet(names...), LabelSets: [][]int32{nil, {0}}}
	if p.Y > 1 {
		d.LabelSets = append(d.LabelSets, []int32{0, 1}, []int32{0, int32(p.Y - 1)}, []int32{1})
	}
	n := p.Positions()
	d.Labels = rapid.SliceOfN(rapid.Int32Range(int32(-len(d.LabelSets)), int32(p.Y-1)), n, n).Draw(t, "gold")
	return d
}

// completions calls do with every labeling of chain b that agrees with d's labels.
func completions(d *Dataset, i, y int, do func(labels []int32)) {
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

// A restriction forbids what contradicts the labels, and nothing else changes.
func TestRestrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, y := drawBatch(t)
		d := drawPartial(t, p)
		whole := &Potentials{Y: p.Y, Offsets: p.Offsets, Node: slices.Clone(p.Node), Edge: p.Edge, PerPosition: p.PerPosition}
		for b := range p.Len() {
			d.Restrict(p, b, b)
			labels, agrees := y[p.Offsets[b]:p.Offsets[b+1]], false
			completions(d, b, p.Y, func(c []int32) { agrees = agrees || slices.Equal(c, labels) })
			want := math.Inf(-1)
			if agrees {
				want = whole.Score(b, labels)
			}
			if got := p.Score(b, labels); got != want {
				t.Fatalf("chain %d with labels %v scores %v, want %v", b, d.Gold(b), got, want)
			}
		}
	})
}

// The loss to a set of labelings is the least loss to one of them.
func TestAugmentPartial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, y := drawBatch(t)
		d := drawPartial(t, p)
		h := Hamming{ByLength: rapid.Bool().Draw(t, "by length")}
		if rapid.Bool().Draw(t, "weighted") {
			h.LabelWeights = rapid.SliceOfN(rapid.Float32Range(0, 4), p.Y, p.Y).Draw(t, "weights")
		}
		for b := range p.Len() {
			labels, want := y[p.Offsets[b]:p.Offsets[b+1]], math.Inf(1)
			completions(d, b, p.Y, func(c []int32) { want = min(want, h.Loss(labels, c)) })
			before := p.Score(b, labels)
			h.Augment(p, b, d.Gold(b), d.LabelSets)
			if got := p.Score(b, labels) - before; math.Abs(got-want) > 1e-4 {
				t.Fatalf("augmenting adds %v, the loss to %v is %v", got, d.Gold(b), want)
			}
			u := &Marginals{}
			u.Resize(p.Offsets, p.Y, p.PerPosition)
			u.Clear()
			u.AddLabeling(b, labels, 1)
			if got := h.Dot(u, b, d.Gold(b), d.LabelSets); math.Abs(got-want) > 1e-4 {
				t.Fatalf("⟨1_y, ℓ⟩ = %v, the loss to %v is %v", got, d.Gold(b), want)
			}
		}
	})
}

// Constraints allow partial labels that some labeling completes.
func TestAllowsSome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawBatch(t)
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

// Positions whose label is not known are no tokens; their sequences count for nothing more.
func TestPartialMetrics(t *testing.T) {
	labels := NewAlphabet("B-X", "I-X", "O")
	e := NewEvaluator(labels, false)
	e.Add([]int32{0, -1, 2}, []int32{2, 1, 2})
	if m := e.Metrics(); m.Tokens != 2 || m.TokenError != 0.5 || m.Sequences != 0 || m.EntityMetrics != nil {
		t.Errorf("partial labels only: %+v", m)
	}
	e.Add([]int32{0, 1, 2}, []int32{0, 1, 2})
	m := e.Metrics()
	if m.Tokens != 5 || m.TokenError != 0.2 || m.Sequences != 1 || m.SequenceError != 0 || m.EntityMetrics == nil || m.Gold != 1 || m.F1 != 1 {
		t.Errorf("%+v", m)
	}
}

// Whatever a label column holds, it is refused or read as labels and sets of them that are in order.
func FuzzReadPartialLabels(f *testing.F) {
	for _, seed := range []string{"A\nB\n?", "A|B\n_\nB|A|A", "|\n||", "?|A\n_|?", ""} {
		f.Add(seed, "A\nB")
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, column, labels string) {
		var known *Alphabet
		if labels != "" {
			known = NewAlphabet(slices.Compact(slices.Sorted(strings.SplitSeq(labels, "\n")))...)
		}
		d := labelColumn(strings.Split(column, "\n")...)
		if err := d.ReadPartialLabels(known); err != nil {
			if !IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		y := int32(d.Alphabet.Len())
		for at, l := range d.Labels {
			cell := d.Columns[0][at]
			switch {
			case l >= y || int(-l) > len(d.LabelSets):
				t.Fatalf("%q is %d of %d labels and %d sets", cell, l, y, len(d.LabelSets))
			case l >= 0 && d.Alphabet.Name(l) != cell && !strings.Contains(cell, d.Alphabet.Name(l)+labelSeparator+d.Alphabet.Name(l)):
				t.Fatalf("%q is %q", cell, d.Alphabet.Name(l))
			}
		}
		for _, set := range d.LabelSets {
			if set != nil && (len(set) < 2 || len(set) >= int(y) || !slices.IsSorted(set) || set[0] < 0 || set[len(set)-1] >= y) {
				t.Fatalf("set %v of %d labels", set, y)
			}
		}
	})
}
