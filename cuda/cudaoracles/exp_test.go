package cudaoracles_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
)

var never = float32(math.Inf(-1))

// drawChains draws a batch with the given lengths, labels, scale of the potentials and fraction of forbidden entries.
func drawChains(r *rand.Rand, lengths []int, y int, perPosition bool, scale, forbidden float64) *potentials {
	offsets := []int{0}
	for _, n := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+n)
	}
	θ := cases.NewPotentials(offsets, y, perPosition)
	for _, x := range [][]float32{θ.Node, θ.Edge} {
		for i := range x {
			x[i] = float32(scale * r.NormFloat64())
			if r.Float64() < forbidden {
				x[i] = never
			}
		}
	}
	return θ
}

func checkClose(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	for i := range want {
		if math.Abs(float64(got[i])-float64(want[i])) > tolerance*max(1, math.Abs(float64(want[i]))) || got[i] != got[i] {
			t.Fatalf("%s[%d] is %g, want %g", what, i, got[i], want[i])
		}
	}
}

// Potentials of every size, few or many of them forbidden, at low and high temperatures, with and without enough range
// in float32.
func TestExpAgreesWithCPU(t *testing.T) {
	d := cudatest.Device(t)
	o, host := cudaoracles.NewChainOracle(d), chain.NewPlain()
	r := rand.New(rand.NewPCG(1, 2))
	for _, y := range []int{1, 2, 3, 31, 32, 33, 64, 100, 128, 129, 200} {
		for _, perPosition := range []bool{false, true} {
			for _, c := range []struct {
				scale, μ, forbidden float64
				holds               bool
			}{{1, 1, 0, true}, {1, 0.5, 0.2, true}, {3, 100, 0, true}, {10, 0.01, 0, false},
				{1e4, 1, 0.1, false}, {5, 1e-3, 0.3, false}} {
				if perPosition && y > 100 && !c.holds {
					continue // slow, and covered by the others
				}
				θ := drawChains(r, []int{7, 0, 1, 12, 2}, y, perPosition, c.scale, c.forbidden)
				want, got := make([]float64, θ.Len()), make([]float64, θ.Len())
				var u, v structured.Marginals
				host.Exp(θ.All, c.μ, want, &u)
				o.Exp(θ.All, c.μ, got, &v)
				cudatest.Must(t, d.Err())
				name := fmt.Sprintf("Y=%d per position %v %v", y, perPosition, c)
				for b := range want {
					if want[b] != got[b] && !(math.Abs(want[b]-got[b]) <= 1e-5*max(1, math.Abs(want[b]), c.μ)) {
						t.Fatalf("%s: value %g, want %g", name, got[b], want[b])
					}
				}
				checkClose(t, name+": node", v.Parts[0].Values, u.Parts[0].Values, 1e-5)
				checkClose(t, name+": edge", v.Parts[1].Values, u.Parts[1].Values, 1e-5)
				if y < 31 || y > 128 && perPosition {
					continue // few labels may span a small range; or this kernel does not try float32
				}
				declined := o.Oracle().Declined(θ.Len())
				if c.holds && !slices.Equal(declined, make([]int32, 5)) || !c.holds && declined[3] == 0 {
					t.Errorf("%s: float32 cannot hold chains %v", name, declined)
				}
			}
		}
	}
}

// Chains that float32 cannot hold, among many that it can, have the same bits however many blocks look for them, and
// the CPU's answers.
func TestExpFindsDeclinedChains(t *testing.T) {
	d := cudatest.Device(t)
	o, host := cudaoracles.NewChainOracle(d), chain.NewPlain()
	for _, c := range []struct {
		chains, y   int
		perPosition bool
	}{{150, 3, false}, {150, 3, true}, {70, 40, false}, {40, 34, true}, {1, 5, false}} {
		r := rand.New(rand.NewPCG(7, uint64(c.chains+c.y)))
		lengths := make([]int, c.chains)
		for b := range lengths {
			lengths[b] = r.IntN(4)
		}
		lengths[c.chains-1] = 3
		θ := drawChains(r, lengths, c.y, c.perPosition, 1, 0)
		var wide []int32
		for b := range lengths {
			wide = append(wide, 0)
			if lengths[b] > 1 && (b == c.chains-1 || r.IntN(20) == 0) {
				wide[b] = 1
				θ.Node[θ.Offsets[b]*c.y] += 500
			}
		}
		want := make([]float64, θ.Len())
		var u structured.Marginals
		host.Exp(θ.All, 1, want, &u)
		var first []float64
		var bits structured.Marginals
		for _, threads := range []int{0, 1 << 10, 1 << 20} { // the fewest first: memory does not hold the answers yet
			defer cudaoracles.SetBusyThreads(cudaoracles.SetBusyThreads(threads))
			got := make([]float64, θ.Len())
			var v structured.Marginals
			o.Exp(θ.All, 1, got, &v)
			cudatest.Must(t, d.Err())
			if declined := o.Oracle().Declined(θ.Len()); !slices.Equal(declined, wide) {
				t.Fatalf("%v: declined %v, want %v", c, declined, wide)
			}
			for b := range want {
				if math.Abs(want[b]-got[b]) > 1e-5*max(1, math.Abs(want[b])) {
					t.Fatalf("%v, %d threads: value %g, want %g", c, threads, got[b], want[b])
				}
			}
			checkClose(t, "node", v.Parts[0].Values, u.Parts[0].Values, 1e-5)
			checkClose(t, "edge", v.Parts[1].Values, u.Parts[1].Values, 1e-5)
			if first == nil {
				first, bits = got, v
			}
			if !slices.Equal(got, first) || !slices.Equal(v.Parts[0].Values, bits.Parts[0].Values) ||
				!slices.Equal(v.Parts[1].Values, bits.Parts[1].Values) {
				t.Errorf("%v: other bits with blocks for %d threads", c, threads)
			}
		}
	}
}

// Four chains to a block give the bits of one chain to a block, and the CPU's answers: with lengths of every kind,
// chains without outputs, chains that float32 cannot hold, and a last block of fewer chains.
func TestExpOfChainsThatShareABlock(t *testing.T) {
	d := cudatest.Device(t)
	o, host := cudaoracles.NewChainOracle(d), chain.NewPlain()
	for i, y := range []int{129, 131, 160, 260} {
		r := rand.New(rand.NewPCG(3, uint64(y)))
		θ := drawChains(r, []int{3, 0, 1, 6, 2, 5, 4, 4, 0, 0, 0, 0, 1, 2}, y, false, 1, 0.2*float64(i%2))
		for _, b := range []int{0, 7} { // no output is allowed
			for l := range y {
				θ.Node[(θ.Offsets[b+1]-1)*y+l] = never
			}
		}
		θ.Node[(θ.Offsets[5]+2)*y+1] = 700
		want := make([]float64, θ.Len())
		var u structured.Marginals
		host.Exp(θ.All, 1, want, &u)
		var values []float64
		var marginals structured.Marginals
		for _, many := range []int{0, 1 << 30} {
			defer cudaoracles.SetManyChains(cudaoracles.SetManyChains(many))
			got := make([]float64, θ.Len())
			var v structured.Marginals
			o.Exp(θ.All, 1, got, &v)
			cudatest.Must(t, d.Err())
			if declined := o.Oracle().Declined(θ.Len()); declined[5] != 1 || declined[3] != 0 {
				t.Errorf("Y=%d: declined %v", y, declined)
			}
			for b := range want {
				if want[b] != got[b] && !(math.Abs(want[b]-got[b]) <= 1e-5*max(1, math.Abs(want[b]))) {
					t.Fatalf("Y=%d: value %d is %g, want %g", y, b, got[b], want[b])
				}
			}
			checkClose(t, "node", v.Parts[0].Values, u.Parts[0].Values, 1e-5)
			checkClose(t, "edge", v.Parts[1].Values, u.Parts[1].Values, 1e-5)
			if many == 0 {
				values, marginals = got, v
			} else if !slices.Equal(values, got) || !slices.Equal(marginals.Parts[0].Values, v.Parts[0].Values) ||
				!slices.Equal(marginals.Parts[1].Values, v.Parts[1].Values) {
				t.Errorf("Y=%d: other bits with four chains to a block", y)
			}
			alone := make([]float64, θ.Len())
			if o.Exp(θ.All, 1, alone, nil); !slices.Equal(alone, got) {
				t.Errorf("Y=%d: values without marginals %v, with them %v", y, alone, got)
			}
		}
	}
}

// With equal potentials log Z is T·log Y. Sums over many labels in one go would err by 19 units per position, always
// down.
func TestExpOfManyEqualLabels(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewChainOracle(d)
	const labels, length = 1000, 3
	for _, c := range []struct{ low, μ float64 }{{0, 1}, {-1e3, 1}} { // in float32, and with exponents of their own
		θ := cases.NewPotentials([]int{0, length}, labels, false)
		clear(θ.Node)
		clear(θ.Edge)
		θ.Edge[0] = float32(c.low)
		value := make([]float64, 1)
		var u structured.Marginals
		o.Exp(θ.All, c.μ, value, &u)
		cudatest.Must(t, d.Err())
		want, far := length*math.Log(labels), 0.0
		if c.low < 0 { // all paths but those with the step between labels 0: 2·Y of Y³, less one that has both
			want += math.Log1p(-(2.*labels - 1) / (labels * labels * labels))
		}
		if units := (value[0] - want) * 0x1p24; math.Abs(units) > 3*length {
			t.Errorf("lowest edge %g: log Z errs by %g units", c.low, units)
		}
		for p := range length {
			sum := 0.0
			for _, x := range u.Parts[0].Values[p*labels:][:labels] {
				sum += float64(x)
			}
			far = max(far, math.Abs(sum-1)*0x1p24)
		}
		if far > 40 {
			t.Errorf("lowest edge %g: marginals sum to 1 up to %g units", c.low, far)
		}
	}
}

// NaN propagates.
func TestExpOfNaN(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewChainOracle(d)
	for _, y := range []int{3, 130} {
		for _, perPosition := range []bool{false, true} {
			θ := drawChains(rand.New(rand.NewPCG(1, 2)), []int{4, 4}, y, perPosition, 1, 0)
			θ.Node[2*y+1] = float32(math.NaN())
			value := make([]float64, 2)
			o.Exp(θ.All, 1, value, new(structured.Marginals))
			cudatest.Must(t, d.Err())
			if !math.IsNaN(value[0]) || !(math.Abs(value[1]) < 1e3) {
				t.Errorf("Y=%d, per position %v: values %g, the first chain has a NaN", y, perPosition, value)
			}
		}
	}
}

// Where one path is allowed and each of its steps is far below the largest one, probabilities shrink in every step
// though those of a position sum to 1: two steps in a row must not leave float32.
func TestExpOfFaintSteps(t *testing.T) {
	d := cudatest.Device(t)
	o, host := cudaoracles.NewChainOracle(d), chain.NewPlain()
	for _, y := range []int{2, 33, 129} {
		for _, perPosition := range []bool{false, true} {
			for _, faint := range []float32{-20, -45, -50, -50.7, -51.2, -70} {
				θ := drawChains(rand.New(rand.NewPCG(1, 1)), []int{8}, y, perPosition, 0, 0)
				for i := range θ.Node {
					if i%y != 0 {
						θ.Node[i] = never
					}
				}
				for i := 0; i < len(θ.Edge); i += y * y {
					θ.Edge[i] = faint
				}
				want, got := make([]float64, 1), make([]float64, 1)
				var u, v structured.Marginals
				host.Exp(θ.All, 1, want, &u)
				o.Exp(θ.All, 1, got, &v)
				cudatest.Must(t, d.Err())
				name := fmt.Sprintf("Y=%d per position %v step %v", y, perPosition, faint)
				if !(math.Abs(want[0]-got[0]) <= 1e-5*math.Abs(want[0])) {
					t.Errorf("%s: value %g, want %g", name, got[0], want[0])
				}
				checkClose(t, name+": node", v.Parts[0].Values, u.Parts[0].Values, 1e-5)
				checkClose(t, name+": edge", v.Parts[1].Values, u.Parts[1].Values, 1e-5)
			}
		}
	}
}
