package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// sparseCase is a scorer with data, weights and marginals.
type sparseCase struct {
	s           *Linear
	labels      int
	perPosition bool
	data        *structured.Dataset
	batch       structured.Batch
	w           []float32
	v           structured.Marginals
}

// randomSparse draws up to most attributes per position; low numbers are frequent.
func randomSparse(rng *rand.Rand, positions, attributes, most int, values bool) *structured.Sparse {
	x := &structured.Sparse{Offsets: []int{0}}
	if attributes == 0 {
		most = 0
	}
	for range positions {
		for range rng.IntN(most + 1) {
			u := rng.Float64()
			x.Index = append(x.Index, int32(float64(attributes)*u*u*u))
			if values {
				x.Value = append(x.Value, float32(rng.NormFloat64()))
			}
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	return x
}

func newSparseCase(t testing.TB, rng *rand.Rand, nodes, edges, dim, y int, kind string, values bool) *sparseCase {
	s, err := NewDenseChain(nodes, edges, dim, y, kind)
	must(t, err)
	c := &sparseCase{s: s, data: &structured.Dataset{Offsets: []int{0}}}
	c.labels, c.perPosition = s.form.Parts[0].Width, s.form.Parts[1].Rows != structured.Tied
	n := 0
	for _, length := range []int{0, 1, 5, 3, 12, 2} {
		n += length
		c.data.Offsets = append(c.data.Offsets, n)
	}
	c.data.Attributes = randomSparse(rng, n, nodes, 90, values)
	if c.data.Dim = dim; dim > 0 {
		c.data.Features = gaussians(rng, n*dim)
	}
	if edges > 0 {
		c.data.EdgeAttributes = randomSparse(rng, n, edges, 5, values)
	}
	c.batch.Reset(c.data, []int{4, 1, 5, 0, 2, 4})
	c.w = gaussians(rng, s.Dim())
	c.v.Resize(&c.batch, s.Form())
	v := chains.In(&c.v)
	for i := range v.Node {
		v.Node[i] = float32(rng.NormFloat64())
	}
	for i := range v.Edge {
		v.Edge[i] = float32(rng.NormFloat64())
	}
	for b := range c.batch.Len() { // no step leads into the start of a chain; some rows of v are zero
		if lo, hi := c.batch.Offsets[b], c.batch.Offsets[b+1]; hi > lo {
			if c.perPosition {
				clear(v.Edge[lo*y*y:][:y*y])
			}
			clear(v.Node[(hi-1)*y:][:y])
		} else if !c.perPosition {
			clear(v.Edge[b*y*y:][:y*y])
		}
	}
	return c
}

// allSparseCases calls test for all kinds of scorers, with label counts below, at and above whole vectors.
func allSparseCases(t *testing.T, test func(t *testing.T, c *sparseCase)) {
	for _, y := range []int{1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 23, 25, 31, 32, 33, 47, 48, 50, 63, 64, 65, 70, 81, 130} {
		for k, kind := range []string{nets.EdgesNone, nets.EdgesTransition, nets.EdgesTransition, nets.EdgesTransition, nets.EdgesTransition} {
			rng := rand.New(rand.NewPCG(uint64(y), uint64(k)))
			edges, dim := []int{0, 0, 7, 0, 7}[k], []int{0, 0, 0, 37, 5}[k]
			if y > 64 && edges > 0 {
				edges = 2
			}
			c := newSparseCase(t, rng, 300, edges, dim, y, kind, (y+k)%2 == 0)
			t.Run(fmt.Sprintf("Y=%d,%s,%d,%d", y, kind, edges, dim), func(t *testing.T) { test(t, c) })
		}
	}
}

// dense computes θ and Jᵀv of the batch in float64, entry by entry from the definition.
func (c *sparseCase) dense(w []float32) (node, edge, pulled []float64) {
	s, y, v := c.s, c.labels, chains.In(&c.v)
	yy, transitions, edgeRows := y*y, s.parts[1].bias, s.parts[1].rows
	n := c.batch.Positions()
	node, edge, pulled = make([]float64, n*y), make([]float64, n*yy), make([]float64, s.Dim())
	for b, i := range c.batch.Examples {
		for t := range c.data.Length(i) {
			at, row := c.batch.Offsets[b]+t, c.data.Offsets[i]+t
			each := func(x *structured.Sparse, do func(a int, value float64)) {
				if x == nil {
					return
				}
				for k := x.Offsets[row]; k < x.Offsets[row+1]; k++ {
					value := 1.0
					if x.Value != nil {
						value = float64(x.Value[k])
					}
					do(int(x.Index[k]), value)
				}
			}
			add := func(first int, value float64) {
				for j := range y {
					node[at*y+j] += value * float64(w[first+j])
					pulled[first+j] += value * float64(v.Node[at*y+j])
				}
			}
			each(c.data.Attributes, func(a int, value float64) { add(s.parts[0].rows+a*y, value) })
			for d := range c.data.Dim {
				add(s.parts[0].dense[0].offset+d*y, float64(c.data.Features[row*c.data.Dim+d]))
			}
			if c.data.Dim > 0 {
				add(s.parts[0].bias, 1)
			}
			if transitions < 0 {
				continue
			}
			for j := range yy {
				edge[at*yy+j] = float64(w[transitions+j])
				if c.perPosition {
					pulled[transitions+j] += float64(v.Edge[at*yy+j])
				} else if t == 0 {
					pulled[transitions+j] += float64(v.Edge[b*yy+j])
				}
			}
			each(c.data.EdgeAttributes, func(e int, value float64) {
				for j := range yy {
					edge[at*yy+j] += value * float64(w[edgeRows+e*yy+j])
					pulled[edgeRows+e*yy+j] += value * float64(v.Edge[at*yy+j])
				}
			})
		}
	}
	return node, edge, pulled
}

func near(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for i := range got {
		if math.Abs(float64(got[i])-want[i]) > 2e-4*(1+math.Abs(want[i])) {
			t.Fatalf("%s %d: %g, want %g", what, i, got[i], want[i])
		}
	}
}

// eachSparse runs the test on every set of loops of this build and machine.
func eachSparse(t *testing.T, test func(t *testing.T)) {
	kept := kernels.Sparse
	defer func() { kernels.Sparse = kept }()
	for _, loops := range kernels.AvailableSparse() {
		kernels.Sparse = loops
		t.Run(loops.Name, test)
	}
}

func TestLinearEqualsItsDefinition(t *testing.T) {
	eachSparse(t, func(t *testing.T) {
		allSparseCases(t, func(t *testing.T, c *sparseCase) {
			node, edge, pulled := c.dense(c.w)
			worker := c.s.NewWorker()
			var θ structured.Potentials
			must(t, worker.Score(c.w, &c.batch, &θ))
			near(t, "node", θ.Parts[0].Values, node)
			if c.perPosition {
				near(t, "edge", θ.Parts[1].Values, edge)
			} else {
				near(t, "edge", θ.Parts[1].Values, edge[:c.labels*c.labels])
			}
			grad := make([]float32, c.s.Dim())
			must(t, worker.Pullback(&c.v, grad))
			near(t, "pullback", grad, pulled)
		})
	})
}

// Sums in float64 are rounded once, whatever is added, and not at all in the gradient.
func TestPreciseSums(t *testing.T) {
	eachSparse(t, func(t *testing.T) {
		allSparseCases(t, func(t *testing.T, c *sparseCase) {
			for k := 1; k < len(c.w); k += 7 {
				c.w[k] *= 1e6
			}
			node, edge, pulled := c.dense(c.w)
			worker := c.s.NewPreciseWorker()
			var θ structured.Potentials
			must(t, worker.ScorePrecisely(c.w, 0, &c.batch, &θ))
			for part, want := range [][]float64{node, edge} {
				for i, got := range θ.Parts[part].Values {
					if math.Abs(float64(got)-want[i]) > 0x1p-24*math.Abs(want[i])+1e-7 {
						t.Fatalf("potential %d of part %d: %v, want %v", i, part, got, want[i])
					}
				}
			}
			whole, striped := make([]float64, c.s.Dim()), make([]float64, c.s.Dim())
			must(t, worker.PullbackPrecisely(&c.v, whole))
			for lo := 0; lo < Stripes; lo += 4 {
				c.s.ScatterDouble(&c.v, &c.batch, lo, lo+4, striped)
			}
			for j, want := range pulled {
				if math.Abs(whole[j]-want) > 1e-12*(1+math.Abs(want)) || striped[j] != whole[j] {
					t.Fatalf("weight %d gets %v, by stripes %v, want %v", j, whole[j], striped[j], want)
				}
			}
			soft, direct := c.s.NewPreciseWorker(), structured.Potentials{}
			must(t, soft.ScorePrecisely(c.w, 0.3, &c.batch, &direct))
			weights := slices.Clone(c.w)
			vec.Soften(0.3, c.w, weights)
			for _, r := range c.s.Unshrunk() {
				copy(weights[r[0]:r[1]], c.w[r[0]:r[1]])
			}
			must(t, worker.ScorePrecisely(weights, 0, &c.batch, &θ))
			for part := range θ.Parts {
				if !slices.Equal(direct.Parts[part].Values, θ.Parts[part].Values) {
					t.Fatalf("part %d: thresholded on the way and before differ", part)
				}
			}
		})
	})
}

// However the stripes are divided among concurrent calls, the weights have the bits of one call, also those of
// ScatterTwo, and norms sum to the change of ‖w‖².
func TestScatterByStripes(t *testing.T) {
	eachSparse(t, func(t *testing.T) {
		allSparseCases(t, func(t *testing.T, c *sparseCase) {
			want, norms := slices.Clone(c.w), make([]float64, Stripes)
			c.s.Scatter(-0.7, &c.v, &c.batch, 0, Stripes, want, nil)
			wantOther := slices.Clone(c.w)
			c.s.Scatter(0.3, &c.v, &c.batch, 0, Stripes, wantOther, nil)
			for _, cut := range [][]int{{0, 16}, {0, 8, 16}, {0, 1, 1, 5, 16}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}} {
				got, parts := slices.Clone(c.w), make([]float64, Stripes)
				measured, one, other := slices.Clone(c.w), slices.Clone(c.w), slices.Clone(c.w)
				var wg sync.WaitGroup
				for k := range cut[1:] {
					wg.Go(func() { c.s.Scatter(-0.7, &c.v, &c.batch, cut[k], cut[k+1], got, nil) })
					wg.Go(func() { c.s.Scatter(-0.7, &c.v, &c.batch, cut[k], cut[k+1], measured, parts) })
					wg.Go(func() { c.s.ScatterTwo(-0.7, 0.3, &c.v, &c.batch, cut[k], cut[k+1], one, other) })
				}
				wg.Wait()
				if !slices.Equal(got, want) || !slices.Equal(measured, want) || !slices.Equal(one, want) || !slices.Equal(other, wantOther) {
					t.Fatalf("stripes divided at %v: weights differ from those of one call", cut)
				}
				if len(cut) == 2 {
					norms = parts
				} else if !slices.Equal(norms, parts) {
					t.Fatalf("stripes divided at %v: norms %v, want %v", cut, parts, norms)
				}
			}
			change, largest := 0.0, 1.0
			for i := range want {
				a, b := float64(want[i])*float64(want[i]), float64(c.w[i])*float64(c.w[i])
				change, largest = change+a-b, largest+a+b
			}
			got := 0.0
			for _, x := range norms {
				got += x
			}
			if math.Abs(got-change) > 1e-6*largest {
				t.Fatalf("norms sum to %g, want %g", got, change)
			}
			measured := slices.Clone(c.w)
			if got := c.s.Measure(-0.7, &c.v, &c.batch, measured, nil); math.Abs(got-change) > 1e-6*largest || !slices.Equal(measured, want) {
				t.Fatalf("Measure returns %g, want %g; or it leaves other weights than Scatter", got, change)
			}
		})
	})
}

// An update of shared weights has every weight of its rows once, and no other.
func TestSharedUpdate(t *testing.T) {
	allSparseCases(t, func(t *testing.T, c *sparseCase) {
		if c.s.HasDense() {
			return
		}
		var rows Rows
		c.s.Rows(&c.batch, &rows)
		want := make([]int, c.s.Dim())
		for _, row := range rows.Index {
			lo, hi := c.s.Row(row)
			for j := lo; j < hi; j++ {
				want[j]++
			}
		}
		for _, goroutines := range []int{1, 2, 7, 100} {
			got := make([]int, c.s.Dim())
			c.s.Share(goroutines).Update(rows.Index, func(row int32, lo, hi int) {
				if from, to := c.s.Row(row); lo < from || hi > to {
					t.Fatalf("[%d:%d] of row %d, which is [%d:%d]", lo, hi, row, from, to)
				}
				for j := lo; j < hi; j++ {
					got[j]++
				}
			})
			if !slices.Equal(got, want) {
				t.Fatalf("%d goroutines: updates of %v, want %v", goroutines, got, want)
			}
		}
	})
}

// The stripes have every weight once, and Scatter changes those of its stripes only.
func TestStripesHaveAllWeights(t *testing.T) {
	many, err := NewDenseChain(1000, 3, 5, 4, nets.EdgesTransition) // more rows than a turn of all stripes
	must(t, err)
	count := func(s *Linear, to []int) {
		for k := range Stripes {
			s.Stripe(k, func(lo, hi int) {
				for j := lo; j < hi; j++ {
					to[j]++
				}
			})
		}
		for j, n := range to {
			if n != 1 {
				t.Fatalf("weight %d is in %d stripes", j, n)
			}
		}
	}
	count(many, make([]int, many.Dim()))
	for a := range int32(1000) {
		in := -1
		many.Stripe(kernels.StripeOf(a), func(lo, hi int) {
			if at := many.parts[0].rows + int(a)*4; lo <= at && at < hi {
				in = kernels.StripeOf(a)
			}
		})
		if in < 0 {
			t.Fatalf("attribute %d is not in its stripe", a)
		}
	}
	allSparseCases(t, func(t *testing.T, c *sparseCase) {
		count(c.s, make([]int, c.s.Dim()))
		for k := range Stripes {
			got := slices.Clone(c.w)
			c.s.Scatter(-0.7, &c.v, &c.batch, k, k+1, got, nil)
			c.s.Stripe(k, func(lo, hi int) { copy(got[lo:hi], c.w[lo:hi]) })
			if !slices.Equal(got, c.w) {
				t.Fatalf("stripe %d: weights of others change", k)
			}
		}
	})
}

// A chain has the same potentials whatever batch it is in.
func TestScoreOfAChainDoesNotDependOnTheBatch(t *testing.T) {
	eachSparse(t, func(t *testing.T) {
		allSparseCases(t, func(t *testing.T, c *sparseCase) {
			var all, one structured.Potentials
			worker := c.s.NewWorker()
			must(t, worker.Score(c.w, &c.batch, &all))
			y := c.labels
			for b, i := range c.batch.Examples {
				var alone structured.Batch
				alone.Reset(c.data, []int{i})
				must(t, worker.Score(c.w, &alone, &one))
				lo, hi := c.batch.Offsets[b], c.batch.Offsets[b+1]
				if !slices.Equal(one.Parts[0].Values, all.Parts[0].Values[lo*y:hi*y]) {
					t.Fatalf("chain %d has different node potentials alone", b)
				}
				if c.perPosition && !slices.Equal(one.Parts[1].Values, all.Parts[1].Values[lo*y*y:hi*y*y]) {
					t.Fatalf("chain %d has different edge potentials alone", b)
				}
			}
		})
	})
}

// Rows lists exactly the weights that Scatter changes.
func TestRowsAreWhatABatchTouches(t *testing.T) {
	var rows Rows
	allSparseCases(t, func(t *testing.T, c *sparseCase) {
		c.data.Attributes.Value = nil
		if c.data.EdgeAttributes != nil {
			c.data.EdgeAttributes.Value = nil
		}
		for _, examples := range [][]int{c.batch.Examples, {2}, {0}} {
			var batch structured.Batch
			batch.Reset(c.data, examples)
			c.s.Rows(&batch, &rows)
			touched := make([]bool, c.s.Dim())
			for _, row := range rows.Index {
				lo, hi := c.s.Row(row)
				for i := lo; i < hi; i++ {
					if touched[i] {
						t.Fatalf("row %d overlaps another or is listed twice", row)
					}
					touched[i] = true
				}
			}
			var v structured.Marginals
			v.Resize(&batch, c.s.Form())
			for k := range v.Parts {
				for i := range v.Parts[k].Values {
					v.Parts[k].Values[i] = 1
				}
			}
			to := make([]float32, c.s.Dim())
			c.s.Scatter(1, &v, &batch, 0, Stripes, to, nil)
			for i, x := range to {
				if x != 0 && !touched[i] {
					t.Fatalf("weight %d changed but is in no listed row", i)
				}
				if x == 0 && touched[i] && !c.perPosition { // the step into the start of a chain counts nothing
					t.Fatalf("weight %d is in a listed row but did not change", i)
				}
			}
		}
	})
}

func TestRowsCoverAllWeights(t *testing.T) {
	allSparseCases(t, func(t *testing.T, c *sparseCase) {
		end := 0
		for r := range c.s.NumRows() {
			lo, hi := c.s.Row(int32(r))
			if lo != end || hi <= lo {
				t.Fatalf("row %d is w[%d:%d], but the one before ends at %d", r, lo, hi, end)
			}
			end = hi
		}
		if end != c.s.Dim() {
			t.Fatalf("the last row ends at %d of %d", end, c.s.Dim())
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// gaussians draws n standard normal numbers.
func gaussians(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}
