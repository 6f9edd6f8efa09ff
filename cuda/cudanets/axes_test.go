package cudanets_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets/graph"
)

// sizes are outer, middle and inner: few long sums and many short ones, across and along.
var sizes = [][3]int{{1, 1, 1}, {1, 1000, 1}, {1, 1500, 33}, {3, 257, 5}, {700, 3, 1}, {2, 40, 70}, {5, 33, 2},
	{300, 2, 3}}

func TestAxes(t *testing.T) {
	d := cudatest.Device(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range sizes {
		outer, size, inner := s[0], s[1], s[2]
		x, g := cudatest.Vector(rng, outer*size*inner, 1), cudatest.Vector(rng, outer*size*inner, 1)
		// each calls f with the entries of x along every middle axis.
		each := func(f func(k int, at []int)) {
			for o := range outer {
				for i := range inner {
					at := make([]int, size)
					for j := range at {
						at[j] = (o*size+j)*inner + i
					}
					f(o*inner+i, at)
				}
			}
		}
		before := cudatest.Vector(rng, outer*inner, 1)
		sum, top := make([]float32, outer*inner), make([]float32, outer*inner)
		soft, logs, pulls, logPulls := slices.Clone(x), slices.Clone(x), slices.Clone(x), slices.Clone(x)
		each(func(k int, at []int) {
			total, most, z := 0.0, math.Inf(-1), 0.0
			for _, i := range at {
				total += float64(x[i])
				most = max(most, float64(x[i]))
			}
			for _, i := range at {
				z += math.Exp(float64(x[i]) - most)
			}
			sum[k], top[k] = float32(total), float32(most)
			weighted, all := 0.0, 0.0
			for _, i := range at {
				y := math.Exp(float64(x[i])-most) / z
				soft[i], logs[i] = float32(y), float32(math.Log(y))
				weighted += y * float64(g[i])
				all += float64(g[i])
			}
			for _, i := range at {
				pulls[i] = soft[i] * float32(float64(g[i])-weighted)
				logPulls[i] = float32(float64(g[i]) - float64(soft[i])*all)
			}
		})
		added := slices.Clone(before)
		for k := range added {
			added[k] += sum[k]
		}
		compute := func(what string, o graph.Op, want, before []float32, args ...[]float32) {
			t.Helper()
			got, err := cudanets.Run(d, o, len(want), before, args...)
			cudatest.Must(t, err)
			cudatest.Near(t, what, got, want, 1e-5)
		}
		compute("sum", graph.Sum{Outer: outer, Repeat: size, Inner: inner}, sum, nil, x)
		compute("added sum", graph.Sum{Outer: outer, Repeat: size, Inner: inner}, added, before, x)
		compute("maximum", graph.Maximum{Outer: outer, Repeat: size, Inner: inner}, top, nil, x)
		o := graph.Softmax{Outer: outer, Size: size, Inner: inner}
		compute("softmax", o, soft, nil, x)
		compute("softmax'", graph.SoftmaxPull{Softmax: o}, pulls, nil, soft, g)
		o.Log = true
		compute("log softmax", o, logs, nil, x)
		compute("log softmax'", graph.SoftmaxPull{Softmax: o}, logPulls, nil, logs, g)
	}
}

func TestPermute(t *testing.T) {
	d := cudatest.Device(t)
	x := make([]float32, 2*3*4*5)
	for i := range x {
		x[i] = float32(i)
	}
	want := make([]float32, len(x)) // axes 2, 0, 3, 1
	at := 0
	for c := range 4 {
		for a := range 2 {
			for e := range 5 {
				for b := range 3 {
					want[at] = x[((a*3+b)*4+c)*5+e]
					at++
				}
			}
		}
	}
	got, err := cudanets.Run(d, graph.Permute{From: []int{2, 3, 4, 5}, Order: []int{2, 0, 3, 1}}, len(x), nil, x)
	cudatest.Must(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("permuted %v", got)
	}
}

func TestSort(t *testing.T) {
	d := cudatest.Device(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, padding, passes int }{{1, 5, 1}, {31, 255, 1}, {700, 300, 2},
		{1000, 70000, 3}, {257, 1 << 23, 3}} {
		ids := make([]int32, c.n)
		for i := range ids {
			ids[i] = int32(rng.IntN(c.padding+1) - 1)
			if rng.IntN(2) == 0 {
				ids[i] = int32(rng.IntN(3) - 1)
			}
		}
		want := make([]int32, c.n) // sorted positions
		key := func(i int32) int {
			if ids[i] < 0 {
				return c.padding
			}
			return int(ids[i])
		}
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(i, j int32) int { return cmp.Compare(key(i), key(j)) })
		keys, order := cudanets.Sort(d, ids, c.padding, c.passes)
		if !slices.Equal(order, want) {
			t.Fatalf("%d numbers up to %d: sorted positions %v", c.n, c.padding, order)
		}
		for k, i := range order {
			if int(keys[k]) != key(i) {
				t.Fatalf("sorted number %d is %d", k, keys[k])
			}
		}
	}
	for n := 1; n < 1<<22; n += 1 + n/7 {
		if stretch := cudanets.SortStretch(n); stretch%32 != 0 || (n+stretch-1)/stretch > 256 {
			t.Errorf("stretches of %d for %d numbers", stretch, n)
		}
	}
}
