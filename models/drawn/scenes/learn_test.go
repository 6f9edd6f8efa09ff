package scenes

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// logistic is a logistic regression on standardised features of cells.
type logistic struct {
	labels, dim  int
	mean, spread []float64
	weights      []float64 // [labels×(dim+1)]
}

// probabilities writes those of the labels of variable v to p and returns its features and a 1.
func (m *logistic) probabilities(p []float64, d *structured.Dataset, v int) (x []float64) {
	x = make([]float64, m.dim+1)
	for k := range m.dim {
		x[k] = (float64(d.Features[v*m.dim+k]) - m.mean[k]) / m.spread[k]
	}
	x[m.dim] = 1
	sum := 0.0
	for l := range p {
		s := 0.0
		for k, f := range x {
			s += m.weights[l*(m.dim+1)+k] * f
		}
		p[l] = math.Exp(s)
		sum += p[l]
	}
	for l := range p {
		p[l] /= sum
	}
	return x
}

// fit takes steps of stochastic gradient descent that grow shorter.
func fit(d *structured.Dataset, passes int) *logistic {
	m := &logistic{labels: d.Alphabet.Len(), dim: d.Dim, mean: make([]float64, d.Dim), spread: make([]float64, d.Dim)}
	m.weights = make([]float64, m.labels*(m.dim+1))
	n := float64(d.Positions())
	for i, v := range d.Features {
		m.mean[i%d.Dim] += float64(v) / n
	}
	for i, v := range d.Features {
		m.spread[i%d.Dim] += math.Pow(float64(v)-m.mean[i%d.Dim], 2) / n
	}
	for k, v := range m.spread {
		m.spread[k] = math.Sqrt(v) + 1e-6
	}
	rng := rand.New(rand.NewPCG(1, 2))
	p, step := make([]float64, m.labels), 0
	for range passes {
		for _, v := range rng.Perm(d.Positions()) {
			x := m.probabilities(p, d, v)
			rate := 0.05 / (1 + float64(step)/n)
			step++
			for l := range p {
				error := p[l]
				if d.Labels[v] == int32(l) {
					error--
				}
				for k, f := range x {
					m.weights[l*(m.dim+1)+k] -= rate * error * f
				}
			}
		}
	}
	return m
}

// predict labels the cells of example i: each alone, or, with weight above 0, with its neighbours, whose labels count
// as much as the border is long (mean field of a Potts model).
func (m *logistic) predict(d *structured.Dataset, i int, weight float64) []int32 {
	n := d.Length(i)
	p := make([]float64, n*m.labels)
	for v := range n {
		m.probabilities(p[v*m.labels:][:m.labels], d, d.Offsets[i]+v)
	}
	edges, g, q := d.Table(graphs.EdgeRows), d.Graphs[i], slices.Clone(p)
	for range 20 {
		field := make([]float64, len(p))
		for e, ends := range g.Ends {
			w := weight * float64(edges.Features[(edges.Offsets[i]+e)*edges.Dim+2])
			for l := range m.labels {
				a, b := int(ends[0])*m.labels+l, int(ends[1])*m.labels+l
				field[a] += w * q[b]
				field[b] += w * q[a]
			}
		}
		for v := range n {
			sum := 0.0
			for k := v * m.labels; k < (v+1)*m.labels; k++ {
				field[k] = p[k] * math.Exp(field[k])
				sum += field[k]
			}
			for k := v * m.labels; k < (v+1)*m.labels; k++ {
				q[k] = (q[k] + field[k]/sum) / 2
			}
		}
	}
	y := make([]int32, n)
	for v := range y {
		s := q[v*m.labels:][:m.labels]
		y[v] = int32(slices.Index(s, slices.Max(s)))
	}
	return y
}

// Cells alone are well above chance and well below perfect, and their neighbours help.
func TestNeighboursHelp(t *testing.T) {
	for _, classes := range []int{2, 4} {
		o := DefaultOptions()
		o.Train, o.Test, o.Classes = 25, 15, classes
		read := func(p Part) *structured.Dataset {
			d, err := segmentation.Reader{Division: segmentation.DefaultDivision(),
				Labels: o.Labels()}.Read(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		train, test := read(o.Parts()[0]), read(o.Parts()[2])
		m := fit(train, 6)
		score := func(predict func(i int) []int32) *graphs.Evaluator {
			e := graphs.NewEvaluator(o.Labels())
			for i := range test.Len() {
				e.Add(test, i, predict(i))
			}
			return e
		}
		accuracy := func(e *graphs.Evaluator) float64 { m := e.Metrics(); return m.Get("accuracy") }
		chance := accuracy(score(func(i int) []int32 { return make([]int32, test.Length(i)) }))
		alone := score(func(i int) []int32 { return m.predict(test, i, 0) })
		together := score(func(i int) []int32 { return m.predict(test, i, 1.2) })
		gold := accuracy(score(test.Gold))
		t.Logf("%d classes: all ground %.3f, gold labels of cells %.3f, cells alone\n%swith neighbours\n%s", classes, chance,
			gold, alone.Table(), together.Table())
		a, b := accuracy(alone), accuracy(together)
		if a < chance+0.12 || a > 0.9 || b < a+0.03 || gold < 0.96 {
			t.Errorf("%d classes: accuracy of ground everywhere %.3f, cells alone %.3f, with neighbours %.3f, of the "+
				"gold labels of cells %.3f", classes, chance, a, b, gold)
		}
	}
}
