package foreign

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
)

// Chains with ends answer every question as chains do whose node scores have the ends in them: the ends' marginals are
// those of the first and the last positions, and their scores are added there.
func TestEnds(t *testing.T) {
	const Y, k = 3, 4
	r := rand.New(rand.NewPCG(7, 7))
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	o := []int{0, 4, 4, 5, 7} // lengths 4, 0, 1 and 2
	n := o[len(o)-1]
	for _, steps := range []bool{false, true} {
		made := func(settings string, ends ...[]int) *Batch {
			form, err := NewForm([]byte(fmt.Sprintf(`{"structure": "chain", "labels": %d, "per_position": %t%s}`, Y, steps, settings)))
			if err != nil {
				t.Fatal(err)
			}
			edges := []int(nil)
			if steps {
				edges = o
			}
			b, err := form.NewBatch(Layout{Outputs: o, Offsets: append([][]int{o, edges}, ends...)})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		got, want := made(`, "ends": true`, nil, nil), made("")
		draw := func() (all, added [][]float32) {
			all = [][]float32{random(n * Y), random(want.Size(1)), random(Y), random(Y)}
			node := append([]float32(nil), all[0]...)
			for b := range want.Len() {
				for i := range Y {
					if o[b+1] > o[b] {
						node[o[b]*Y+i] += all[2][i]
						node[(o[b+1]-1)*Y+i] += all[3][i]
					}
				}
			}
			return all, [][]float32{node, all[1]}
		}
		p, pAdded := draw()
		q, qAdded := draw()
		type answers struct {
			y, top, drawn  []int32
			counts         []int
			values, scores []float64
			u              [][]float32 // marginals, gradient, product, and so on: the parts of each
		}
		ask := func(b *Batch, p, q [][]float32) (a answers) {
			run, B := Run{}, b.Len()
			check := func(next int, err error) {
				if t.Helper(); next != B || err != nil {
					t.Fatalf("%d, %v", next, err)
				}
			}
			value := func() []float64 {
				a.values = append(a.values, make([]float64, B)...)
				return a.values[len(a.values)-B:]
			}
			parts := func() (u [][]float32) {
				for k := range b.Parts() {
					u = append(u, make([]float32, b.MarginalSize(k)))
				}
				a.u = append(a.u, u...)
				return u
			}
			a.y, a.top, a.drawn, a.counts = make([]int32, n), make([]int32, k*n), make([]int32, k*n), make([]int, 2*B)
			a.scores = make([]float64, k*B)
			check(b.Max(p, run, a.y, value()))
			check(b.Exp(p, run, 0.7, value(), parts()))
			check(b.Loss(p, run, []int32{0, 2, 1, 1, 2, 0, 0}, value(), parts()))
			check(b.TopK(p, run, k, a.top, a.scores, a.counts[:B]))
			check(b.Sample(p, run, 0.7, k, []uint64{1, 2, 3, 4}, a.drawn, a.counts[B:]))
			check(b.Score(p, run, a.y, value()))
			check(b.Divergence(p, nil, run, 0.7, value()))
			check(b.Divergence(p, q, run, 0.7, value()))
			check(b.Hessian(p, run, 0.7, q, false, parts()))
			return a
		}
		a, plain := ask(got, p, q), ask(want, pAdded, qAdded)
		for what, pair := range map[string][2]any{
			"best outputs": {a.y, plain.y}, "top": {a.top, plain.top}, "draws": {a.drawn, plain.drawn}, "counts": {a.counts, plain.counts},
			"values": {a.values, plain.values}, "scores": {a.scores, plain.scores},
		} {
			if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
				t.Errorf("%s: %v, expected %v", what, pair[0], pair[1])
			}
		}
		for i := range 3 {
			u, plain := a.u[4*i:4*i+4], plain.u[2*i:2*i+2]
			oracletest.NearAll(t, "node", u[0], plain[0], 0)
			oracletest.NearAll(t, "edge", u[1], plain[1], 0)
			for b := range want.Len() {
				first, last := make([]float32, Y), make([]float32, Y)
				if o[b+1] > o[b] {
					first, last = plain[0][o[b]*Y:], plain[0][(o[b+1]-1)*Y:]
				}
				oracletest.NearAll(t, "start", u[2][b*Y:(b+1)*Y], first[:Y], 0)
				oracletest.NearAll(t, "end", u[3][b*Y:(b+1)*Y], last[:Y], 0)
			}
		}
	}
}
