package oracletest

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/trees"
	"pgregory.net/rapid"
)

// The score of every output is ⟨θ, 1_y⟩, outputs are distinct, and 1_y is 0 in other examples.
func scoresAreLinear(t *rapid.T, θ *structured.Potentials) {
	u := zeros(θ)
	for b := range θ.Len() {
		seen := map[string]bool{}
		for _, y := range everyOutput(θ, b) {
			name := fmt.Sprint(y)
			if len(y) != θ.Outputs[b+1]-θ.Outputs[b] || seen[name] {
				t.Fatalf("output %s of length %d is there twice or has not the length %d", name, len(y),
					θ.Outputs[b+1]-θ.Outputs[b])
			}
			seen[name] = true
			u.Add(b, y, 0.5)
			u.Add(b, y, 0.5)
			want := θ.Structure.Score(θ, b, y)
			nearScore(t, "⟨θ, 1_y⟩", u.Dot(b, θ), want)
			for other := range θ.Len() {
				if other != b && !u.Zero(other) {
					t.Fatalf("an output of example %d changes example %d", b, other)
				}
			}
			u.Add(b, y, -1)
			if !u.Zero(b) {
				t.Fatalf("output %v is not taken off again", y)
			}
		}
		if len(seen) == 0 {
			t.Fatalf("example %d has no output", b)
		}
	}
}

// What is located of an output is used by the output, and of every example's outputs something is located, unless all
// are empty.
func locatesWhatIsUsed(t *rapid.T, θ *structured.Potentials) {
	for b := range θ.Len() {
		var one structured.Potentials
		θ.View(b, &one)
		u := zeros(&one)
		located, used := 0, 0
		for _, y := range everyOutput(&one, 0) {
			u.Add(0, y, 1)
			used += len(y)
			one.Structure.(structured.Locator).Locate(&one, y, func(part, entry int, _ int32) {
				located++
				if all := u.Parts[part].Of(0); entry < 0 || entry >= len(all) || all[entry] == 0 {
					t.Fatalf("output %v does not use entry %d of part %d, which is located", y, entry, part)
				}
			})
			u.Add(0, y, -1)
		}
		if located == 0 && used > 0 {
			t.Fatalf("nothing is located of the outputs of example %d", b)
		}
	}
}

// Views and copies of examples score outputs as the batch does, and arithmetic on marginals covers every part.
func viewsAndCopies(t *rapid.T, θ *structured.Potentials) {
	var view, selected, asPotentials structured.Potentials
	examples := []int{}
	for b := range θ.Len() {
		examples = slices.Insert(examples, 0, b)
	}
	θ.Select(examples, &selected)
	u, like := new(structured.Marginals), zeros(θ)
	u.Like(θ)
	for b := range θ.Len() {
		for k := range u.Parts {
			for i, x := range θ.Parts[k].Of(b) {
				u.Parts[k].Of(b)[i] = x
			}
		}
	}
	for at, b := range examples {
		y := drawOutput(t, θ, b)
		want := θ.Score(b, y)
		θ.View(b, &view)
		u.AsPotentials(b, len(y), &asPotentials)
		for name, got := range map[string]float64{"view": view.Score(0, y), "copy": selected.Score(at, y),
			"marginals as potentials": asPotentials.Score(0, y)} {
			Near(t, "score in the "+name, got, want, 0)
		}
		if len(θ.Gold) > 0 {
			single := new(structured.Marginals)
			u.View(b, single)
			for name, got := range map[string][]int32{
				"view": view.Gold[0], "copy": selected.Gold[at], "marginals": u.Gold[b], "marginals' view": single.Gold[0],
				"marginals as potentials": asPotentials.Gold[0], "clone": clone(θ).Gold[b],
			} {
				if !slices.Equal(got, θ.Gold[b]) {
					t.Fatalf("the %s of example %d has the gold output %v, want %v", name, b, got, θ.Gold[b])
				}
			}
		}
		if view.Len() != 1 || view.OutputSize() != len(y) || asPotentials.OutputSize() != len(y) {
			t.Fatalf("the view of example %d has %d examples and outputs of length %d, want %d", b, view.Len(),
				view.OutputSize(), len(y))
		}

		like.Add(b, y, 2)
		v, single := new(structured.Marginals), new(structured.Marginals)
		v.Copy(like)
		v.Scale(b, 0.5)
		like.View(b, single)
		nearScore(t, "⟨θ, 1_y⟩ of half of twice", v.Dot(b, θ), want)
		v.AddScaled(b, -0.5, single, 0)
		if !v.Zero(b) {
			t.Fatalf("example %d less itself is not zero", b)
		}
		v.Set(b, single, 0)
		nearExample(t, "set", v, b, like, b, 0)
		if !math.IsInf(want, -1) {
			nearScore(t, "⟨2·1_y, θ⟩", single.DotWith(0, θ, b), 2*want)
		}
	}
}

// drawGold draws a gold output of example b: the numbers of some output y, some of them hidden in sets if the structure
// restricts, and costs if it reads them. Both θ and u, marginals of its form, get the gold output if the structure
// reads it.
func drawGold(t *rapid.T, θ *structured.Potentials, u *structured.Marginals, b int) (gold structured.Gold, y []int32) {
	all := everyOutput(θ, b)
	y = all[rapid.IntRange(0, len(all)-1).Draw(t, "gold")]
	gold.Output = slices.Clone(y)
	if _, reads := θ.Structure.(structured.GoldReader); reads {
		for len(θ.Gold) < θ.Len() {
			θ.Gold = append(θ.Gold, nil)
		}
		θ.Gold[b] = gold.Output
		u.Gold = append(u.Gold[:0], θ.Gold...)
	}
	gold.Costs = drawCosts(t, θ, b)
	if _, restricts := θ.Structure.(structured.Restricter); !restricts {
		return gold, y
	}
	if rapid.Bool().Draw(t, "all known") {
		return gold, y
	}
	for at, right := range y {
		var set []int32
		switch rapid.IntRange(0, 2).Draw(t, "known") {
		case 0:
			continue
		case 1:
			for _, other := range all {
				if l := other[at]; !slices.Contains(set, l) && (l == right || rapid.Bool().Draw(t, "possible")) {
					set = append(set, l)
				}
			}
			slices.Sort(set)
		}
		gold.Sets = append(gold.Sets, set)
		gold.Output[at] = int32(-len(gold.Sets))
	}
	return gold, y
}

// drawCosts draws costs of example b, multiples of 1/8, or returns nil.
func drawCosts(t *rapid.T, θ *structured.Potentials, b int) (costs []float32) {
	reader, reads := θ.Structure.(structured.CostReader)
	if !reads || rapid.Bool().Draw(t, "no costs") {
		return nil
	}
	for k := range θ.Parts {
		if p := &θ.Parts[k]; p.Rows == reader.CostRows() {
			for range p.Offsets[b+1] - p.Offsets[b] {
				costs = append(costs, float32(rapid.IntRange(0, 8).Draw(t, "cost"))/8)
			}
			return costs
		}
	}
	t.Fatalf("no part has rows of the table %q", reader.CostRows())
	return nil
}

// agrees reports whether a gold output allows y.
func agrees(y []int32, gold structured.Gold) bool {
	for at, g := range gold.Output {
		if g >= 0 && y[at] != g || g < 0 && gold.Sets[-1-g] != nil && !slices.Contains(gold.Sets[-1-g], y[at]) {
			return false
		}
	}
	return true
}

// Restrict forbids the outputs that contradict the gold output, and changes no other score.
func restrictKeepsAgreeing(t *rapid.T, θ *structured.Potentials) {
	structure, u := θ.Structure.(structured.Restricter), zeros(θ)
	for b := range θ.Len() {
		gold, _ := drawGold(t, θ, u, b)
		selected := clone(θ)
		structure.Restrict(selected, b, gold)
		for _, y := range everyOutput(θ, b) {
			want := math.Inf(-1)
			if agrees(y, gold) {
				want = θ.Score(b, y)
			}
			if got := selected.Score(b, y); got != want {
				t.Fatalf("output %v scores %g where %v is known, among %v; want %g", y, got, gold.Output, gold.Sets, want)
			}
		}
		checkOthers(t, θ, selected, b)
	}
}

// checkOthers checks that changed differs from θ in example b only.
func checkOthers(t *rapid.T, θ, changed *structured.Potentials, b int) {
	for other := range θ.Len() {
		for k := range θ.Parts {
			if other != b && !slices.Equal(θ.Parts[k].Of(other), changed.Parts[k].Of(other)) {
				t.Fatalf("what was to change example %d changed example %d", b, other)
			}
		}
	}
}

// Augment adds the loss to every output's score. The loss is nowhere negative, and 0 for what is right. A Hamming loss
// of a fully known output counts its wrong numbers.
func lossIsAdded(t *rapid.T, θ *structured.Potentials) {
	for k := range θ.Parts { // makes differences of scores exact
		for i, x := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(math.Round(8*float64(x)) / 8)
		}
	}
	loss, u := θ.Structure.TaskLoss(), zeros(θ)
	for b := range θ.Len() {
		gold, right := drawGold(t, θ, u, b)
		augmented := clone(θ)
		loss.Augment(augmented, b, gold)
		checkOthers(t, θ, augmented, b)
		for _, y := range everyOutput(θ, b) {
			u.Add(b, y, 1)
			dot := loss.Dot(u, b, gold)
			u.Add(b, y, -1)
			Near(t, "score with the loss", augmented.Score(b, y), θ.Score(b, y)+dot, 1e-6)
			if dot < -1e-6 {
				t.Fatalf("the loss of %v is %g where %v is known, among %v", y, dot, gold.Output, gold.Sets)
			}
			if gold.Partial() {
				continue
			}
			Near(t, "loss", loss.Loss(y, gold), dot, 1e-6)
			if hamming(loss, gold) {
				Near(t, "Hamming loss", loss.Loss(y, gold), float64(countWrong(y, right)), 0)
			}
		}
		u.Add(b, right, 1)
		Near(t, "loss of what is right", loss.Dot(u, b, gold), 0, 1e-6)
		u.Add(b, right, -1)
	}
}

// hamming reports whether a loss counts wrong numbers.
func hamming(loss structured.TaskLoss, gold structured.Gold) bool {
	switch loss.(type) {
	case chains.Hamming, trees.Hamming:
		return true
	case choices.Cost, graphs.Hamming:
		return gold.Costs == nil
	}
	return false
}

func countWrong(y, right []int32) (wrong int) {
	for at := range y {
		if y[at] != right[at] {
			wrong++
		}
	}
	return wrong
}

// Raise adds a multiple of the numbers that an output shares with the raised one to its score, and nothing else.
func raise(t *rapid.T, θ *structured.Potentials) {
	for k := range θ.Parts {
		clear(θ.Parts[k].Values)
	}
	structure := θ.Structure.(structured.Raiser)
	for b := range θ.Len() {
		target := drawOutput(t, θ, b)
		raised := clone(θ)
		structure.Raise(raised, b, target, 2)
		checkOthers(t, θ, raised, b)
		for _, y := range everyOutput(θ, b) {
			common := 0
			for at := range y {
				if y[at] == target[at] {
					common++
				}
			}
			got := raised.Score(b, y)
			if most := 2 * float64(common); got < 0 || got > most || slices.Equal(y, target) && got != most {
				t.Fatalf("%v rises by %g where %v is raised by 2, with %d numbers in common", y, got, target, common)
			}
		}
	}
}

// LogOutputs agrees with the number of outputs of Each.
func numberOfOutputs(t *rapid.T, θ *structured.Potentials) {
	form := structured.Form{Structure: θ.Structure}
	d := &structured.Dataset{Outputs: θ.Outputs}
	for k := range θ.Parts {
		p := &θ.Parts[k]
		form.Parts = append(form.Parts, p.Shape)
		switch p.Rows {
		case structured.Tied:
		case structured.Positions, structured.Steps:
			d.Offsets = p.Offsets
		default:
			d.Tables = append(d.Tables, &structured.Table{Name: p.Rows, Offsets: p.Offsets})
		}
	}
	if d.Offsets == nil { // a tree has a head and a relation per position; other structures do not look at positions
		for _, at := range θ.Outputs {
			d.Offsets = append(d.Offsets, at/2)
		}
	}
	total := 0.0
	for b := range θ.Len() {
		total += math.Log(float64(len(everyOutput(θ, b))))
	}
	Near(t, "log of the number of outputs", θ.Structure.LogOutputs(d, form), total/float64(θ.Len()), 1e-9)
}

// Outputs use as many entries of a row as each other, or skip rows: then they use no more of them than RowSkipper and
// RowCounter say.
func rowsAreUsed(t *rapid.T, θ *structured.Potentials) {
	skipper, skips := θ.Structure.(structured.RowSkipper)
	counter, counts := θ.Structure.(structured.RowCounter)
	u := zeros(θ)
	for b := range θ.Len() {
		most := θ.Outputs[b+1] - θ.Outputs[b]
		if counts {
			most = counter.UsedRows(most)
		}
		usual := map[[2]int]float32{} // sums of rows, by part and row
		for _, y := range everyOutput(θ, b) {
			u.Add(b, y, 1)
			for k := range u.Parts {
				p := &u.Parts[k]
				if p.Rows == structured.Tied || p.Width < 2 {
					continue
				}
				used := 0
				for row, values := 0, p.Of(b); len(values) > 0; row, values = row+1, values[p.Width:] {
					sum := float32(0)
					for _, x := range values[:p.Width] {
						sum += x
					}
					if sum != 0 {
						used++
					}
					was, known := usual[[2]int{k, row}]
					if usual[[2]int{k, row}] = sum; known && was != sum && !(skips && skipper.SkipsRows(k)) {
						t.Fatalf("outputs use %v and %v entries of row %d of part %d", was, sum, row, k)
					}
				}
				if skips && skipper.SkipsRows(k) && used > most {
					t.Fatalf("output %v uses %d rows of part %d, expected at most %d", y, used, k, most)
				}
			}
			u.Add(b, y, -1)
		}
	}
}
