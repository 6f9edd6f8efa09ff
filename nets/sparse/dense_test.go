package sparse

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/trees"
)

// pairsCase draws data of pairs of words or of items, and returns the scorer that reads dense inputs beside attributes,
// and for each row of each part the position and the column of products that each of its blocks gives it; position −1
// for none.
func pairsCase(t *testing.T, rng *rand.Rand, alignment bool) (*Linear, *structured.Dataset, func(part, block, example, row int) (position, column int)) {
	const dim, relations = 9, 3
	lengths := []int{3, 0, 1, 6}
	sizes := [][2]int{{2, 1}, {0, 0}, {0, 1}, {2, 4}}
	d := &structured.Dataset{Name: "pairs", Dim: dim, Offsets: []int{0}}
	pairs, sources := []int{0}, []int{0}
	for i, n := range lengths {
		d.Offsets = append(d.Offsets, d.Offsets[i]+n)
		rows := n * n
		if alignment {
			rows = sizes[i][0] * sizes[i][1]
		}
		pairs, sources = append(pairs, pairs[i]+rows), append(sources, sources[i]+sizes[i][0])
	}
	d.Features = gaussians(rng, d.Positions()*dim)
	if alignment {
		d.Tables = []*structured.Table{
			{Name: matchings.PairRows, Offsets: pairs, Attributes: randomSparse(rng, pairs[4], 20, 4, true)},
			{Name: matchings.SourceRows, Offsets: sources, Attributes: randomSparse(rng, sources[4], 7, 2, false)},
		}
		s := New(matchings.Matching{}.Form(), []Part{
			{Attributes: 20, Weights: "pairs", Dense: []Dense{{"of-source", dim, OfSource}, {"of-target", dim, OfTarget}}},
			{Attributes: 7, Weights: "sources", Bias: "unmatched", Dense: []Dense{{"unmatched.dense", dim, OfSource}}},
		})
		return s, d, func(part, block, example, row int) (position, column int) {
			n, m := sizes[example][0], sizes[example][1]
			switch {
			case part == 1:
				return row, 0
			case block == 0:
				return row / m, 0
			}
			return n + row%m, 0
		}
	}
	d.Tables = []*structured.Table{
		{Name: trees.ArcRows, Offsets: pairs, Attributes: randomSparse(rng, pairs[4], 20, 4, false)},
		{Name: trees.LabelRows, Offsets: pairs, Attributes: randomSparse(rng, pairs[4], 30, 4, true)},
	}
	s := New(trees.SpanningTree{}.Form(relations), []Part{
		{Attributes: 20, Weights: "arcs", Dense: []Dense{{"arc.of-dependent", dim, OfDependent}, {"arc.of-head", dim, OfHead}}},
		{Attributes: 30, Weights: "relations", Dense: []Dense{{"label.of-dependent", dim, OfDependent}, {"label.of-head", dim, OfHead}}},
	})
	return s, d, func(part, block, example, row int) (position, column int) {
		n, width := lengths[example], s.form.Parts[part].Width
		dependent, head := row/n, row%n
		column = graph.DistanceClass(head-dependent) * width
		switch {
		case block == 0:
			return dependent, column
		case dependent == head:
			return -1, 0
		}
		return head, column
	}
}

// Scores and pullbacks of pairs are those of the definition, in float32 and in float64; so are shares of the scorer,
// together.
func TestDenseInputsOfPairs(t *testing.T) {
	for _, alignment := range []bool{false, true} {
		for _, loops := range kernels.AvailableDense() {
			kept := kernels.Dense
			kernels.Dense = loops
			defer func() { kernels.Dense = kept }()
			rng := rand.New(rand.NewPCG(3, 4))
			s, d, place := pairsCase(t, rng, alignment)
			w := gaussians(rng, s.Dim())
			var batch structured.Batch
			batch.Reset(d, []int{3, 1, 0, 2, 3})
			var θ, plain structured.Potentials
			var v structured.Marginals
			v.Resize(&batch, s.form)
			for k := range v.Parts {
				copy(v.Parts[k].Values, gaussians(rng, len(v.Parts[k].Values)))
				clear(v.Parts[k].Values[:v.Parts[k].Width]) // a row of zeros
			}
			worker, precise := s.NewWorker(), s.NewPreciseWorker()
			grad, double := make([]float32, s.Dim()), make([]float64, s.Dim())
			must(t, worker.Score(w, &batch, &θ))
			must(t, worker.Pullback(&v, grad))

			// The same without dense inputs, to which the definition adds.
			bare := New(s.form, []Part{{Attributes: s.parts[0].attributes, Weights: "a"}, {Attributes: s.parts[1].attributes, Weights: "b"}})
			if alignment {
				bare = New(s.form, []Part{{Attributes: s.parts[0].attributes, Weights: "a"}, {Attributes: s.parts[1].attributes, Weights: "b", Bias: "c"}})
			}
			few, want := make([]float32, bare.Dim()), make([]float64, s.Dim())
			place0 := func(to, from []float32, back bool) {
				for k := range s.parts {
					p, q := &s.parts[k], &bare.parts[k]
					a, b := to[q.rows:q.rows+q.attributes*q.Width], from[p.rows:p.rows+p.attributes*p.Width]
					if p.bias >= 0 {
						a, b = to[q.bias:q.rows+q.attributes*q.Width], from[p.bias:p.rows+p.attributes*p.Width]
					}
					if back {
						a, b = b, a
					}
					copy(a, b)
				}
			}
			place0(few, w, false)
			bareWorker := bare.NewWorker()
			must(t, bareWorker.Score(few, &batch, &plain))
			clear(few)
			must(t, bareWorker.Pullback(&v, few))
			spread := make([]float32, s.Dim())
			place0(few, spread, true)
			for j, x := range spread {
				want[j] = float64(x)
			}
			scores := make([][]float64, 2)
			for k := range s.parts {
				p := &s.parts[k]
				for _, x := range plain.Parts[k].Values {
					scores[k] = append(scores[k], float64(x))
				}
				for i, b := range p.dense {
					for e, example := range batch.Examples {
						for row := range θ.Parts[k].Offsets[e+1] - θ.Parts[k].Offsets[e] {
							position, column := place(k, i, example, row)
							if position < 0 {
								continue
							}
							z := d.Features[(d.Offsets[example]+position)*d.Dim:][:d.Dim]
							at := (θ.Parts[k].Offsets[e] + row) * p.Width
							for c, x := range z {
								for j := range p.Width {
									weight := b.offset + c*b.width + column + j
									scores[k][at+j] += float64(x) * float64(w[weight])
									want[weight] += float64(x) * float64(v.Parts[k].Values[at+j])
								}
							}
						}
					}
				}
				near(t, "score", θ.Parts[k].Values, scores[k])
			}
			near(t, "gradient", grad, want)

			must(t, precise.ScorePrecisely(w, 0, &batch, &θ))
			must(t, precise.PullbackPrecisely(&v, double))
			for k := range θ.Parts {
				for r, x := range θ.Parts[k].Values {
					if math.Abs(float64(x)-scores[k][r]) > 1e-5 { // plain has single precision
						t.Fatalf("score %v in float64, want %v", x, scores[k][r])
					}
				}
			}
			for j, x := range double {
				if math.Abs(x-want[j]) > 1e-5 {
					t.Fatalf("gradient %v in float64, want %v", x, want[j])
				}
			}

			shares := []*Linear{s.Attributes(), s.DenseShare(0, 2), s.DenseShare(1, 2), s.Rest()}
			sum, pulled := [2][]float64{}, make([]float32, s.Dim())
			for k := range sum {
				sum[k] = make([]float64, len(scores[k]))
			}
			for _, share := range shares {
				must(t, share.NewWorker().Score(w, &batch, &θ))
				for k := range θ.Parts {
					for r, x := range θ.Parts[k].Values {
						if sum[k][r] += float64(x); x != 0 && !share.Scores(k) {
							t.Fatalf("a share scores %v in part %d, where it has no weights", x, k)
						}
					}
				}
				share.Scatter(1, &v, &batch, 0, Stripes, pulled, nil)
			}
			for k := range sum {
				for r, x := range sum[k] {
					if math.Abs(x-scores[k][r]) > 1e-4 {
						t.Fatalf("shares score %v, want %v", x, scores[k][r])
					}
				}
			}
			near(t, "gradient of the shares", pulled, want)

			s.Erase(&v, &batch, grad)
			if !slices.Equal(grad, make([]float32, s.Dim())) {
				t.Fatal("weights are left after Erase")
			}
		}
	}
}

// fileSource stands for dense inputs that are not in memory.
type fileSource struct{ all []float32 }

func (f fileSource) Read(dst []float32, from, to int) error {
	copy(dst, f.all[from*len(dst)/max(1, to-from):])
	return nil
}
func (fileSource) Fingerprint() (string, error) { return "", nil }

// Dense inputs from a source give the same bits as those in memory. Data with none, or with others, are refused.
func TestDenseInputsFromASource(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s, d, _ := pairsCase(t, rng, false)
	w := gaussians(rng, s.Dim())
	elsewhere := *d
	elsewhere.Features, elsewhere.Source = nil, fileSource{d.Features}
	run := func(d *structured.Dataset) ([]float32, []float32) {
		var batch structured.Batch
		batch.Reset(d, []int{3, 0})
		var θ structured.Potentials
		worker := s.NewWorker()
		must(t, worker.Score(w, &batch, &θ))
		var v structured.Marginals
		v.Resize(&batch, s.form)
		for k := range v.Parts {
			copy(v.Parts[k].Values, θ.Parts[k].Values)
		}
		grad := make([]float32, s.Dim())
		must(t, worker.Pullback(&v, grad))
		return slices.Concat(θ.Parts[0].Values, θ.Parts[1].Values), grad
	}
	scores, grad := run(d)
	others, pulled := run(&elsewhere)
	if !slices.Equal(scores, others) || !slices.Equal(grad, pulled) {
		t.Error("dense inputs from a source give other numbers")
	}
	other := *d
	other.Dim = 4
	for _, bad := range []*structured.Dataset{&other, {Name: "bare", Offsets: []int{0, 1}, Tables: d.Tables}} {
		var batch structured.Batch
		batch.Reset(bad, []int{0})
		err := s.NewWorker().Score(w, &batch, new(structured.Potentials))
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "dense inputs per position, the network reads 9") {
			t.Errorf("%s: %v", bad.Name, err)
		}
	}
}

// The blocks are the weights of dense inputs; λ₁ leaves them and the biases alone, and no others.
func TestDenseBlocks(t *testing.T) {
	s, err := NewDenseChain(10, 0, 4, 3, nets.EdgesTransition)
	must(t, err)
	blocks := nets.DenseBlocks(s)
	if len(blocks) != 1 || blocks[0] != (nets.DenseBlock{Offset: 3 + 30, Dim: 4, Width: 3, Ends: -1}) {
		t.Errorf("blocks %+v", blocks)
	}
	if tied := nets.TiedBlocks(s); len(tied) != 1 || tied[0] != (nets.TiedBlock{Part: 1, Offset: 45, Width: 9}) {
		t.Errorf("tied blocks %+v", tied)
	}
	if free := nets.Unshrunk(s); !slices.Equal(free, [][2]int{{0, 3}, {33, 45}, {45, 54}}) {
		t.Errorf("free %v", free)
	}
	plain, err := NewChain(10, 0, 3, nets.EdgesTransition)
	must(t, err)
	if nets.DenseBlocks(plain) != nil || nets.Unshrunk(plain) != nil {
		t.Error("attributes alone have dense blocks or free weights")
	}
	pairs, _, _ := pairsCase(t, rand.New(rand.NewPCG(1, 1)), false)
	for _, b := range nets.DenseBlocks(pairs) {
		if want := graph.Distances * []int{1, 3}[b.Part]; b.Width != want || b.Dim != 9 {
			t.Errorf("block %+v, want width %d", b, want)
		}
	}
}
