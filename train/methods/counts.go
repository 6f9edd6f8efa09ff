package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Counts sets the weights of a linear chain over attributes to the log probabilities of a hidden Markov model, in
// closed form from the counts of the training data (Rabiner 1989). With one attribute x_t per position, such as its
// word, the score of labels y is
//
//	log p(x, y) = log p(y_1) + Σ_t log p(x_t|y_t) + Σ_{t>1} log p(y_t|y_{t−1}) + log p(end|y_T),
//
// so that the model's distribution over labels is that of the hidden Markov model given x. An attribute that every
// example has at its first position and nowhere else carries p(y_1), and one that every example has at its last
// position and nowhere else p(end|y_T); without such attributes these terms are missing. Positions with several
// attributes count as if their attributes were independent of each other given the label (naive Bayes).
//
// One pass counts; nothing is minimised. The state shows F at these weights.
type Counts struct {
	Word float64 // added to the count of each attribute with each label
	Step float64 // added to the count of each label at the first position, after each label, and of each end
}

func (m *Counts) Name() string { return "counts" }

func (m *Counts) Traits() train.Traits { return train.Traits{Convex: true, Lanes: true} }

// Archive has nothing to save.
func (m *Counts) Archive(engine.Archive) {}

// Start checks that weights of attributes and of steps between labels are all there is to set.
func (m *Counts) Start(_ context.Context, p *train.Problem, _ *train.State) error {
	if !p.Loss.Smooth() || p.Loss == engine.Quadratic {
		return train.Refuse(m.Name(), train.SmoothLoss, "gives probabilities, of which the loss %v knows nothing", p.Loss)
	}
	if err := train.CheckLabels(m.Name(), p.Objective); err != nil {
		return err
	}
	_, err := m.scorer(p)
	return err
}

func (m *Counts) scorer(p *train.Problem) (*sparse.Linear, error) {
	s, ok := p.Scorer.(*sparse.Linear)
	if !ok || s.HasDense() || p.Data.Attributes == nil {
		return nil, train.Refuse(m.Name(), train.Countable, "counts attributes, such as words, of a linear net without dense inputs")
	}
	if _, chain := s.Form().Structure.(chains.Chain); !chain {
		return nil, train.Refuse(m.Name(), train.Countable, "counts labels of sequences, not a %s", s.Form().Structure.Name())
	}
	if !s.Scores(1) {
		return nil, train.Refuse(m.Name(), train.Countable, "counts steps between labels, for which edges none have no weights")
	}
	if p.Data.EdgeAttributes != nil {
		return nil, train.Refuse(m.Name(), train.Countable, "has one distribution of steps between labels; attributes of steps (B lines of a template) give each step its own")
	}
	if p.Soft {
		return nil, train.Refuse(m.Name(), train.KnownLabels, "counts labels, not the targets of a teacher")
	}
	for _, x := range p.Data.Attributes.Value {
		if !(x >= 0) {
			return nil, train.Refuse(m.Name(), train.Countable, "counts attributes with values of at least 0, not %v", x)
		}
	}
	return s, nil
}

// Pass sets the weights.
func (m *Counts) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	scorer, err := m.scorer(p)
	if err != nil {
		return err
	}
	_, words := scorer.Weights(0, s.W)
	steps, _ := scorer.Weights(1, s.W)
	m.set(p.Data, scorer.Form().Parts[0].Width, words, steps)
	s.Passes++
	s.FullPasses++
	s.Step = math.NaN()
	s.Done = true
	s.Primal, _, err = p.Upper(ctx, s.W)
	return err
}

// set writes the logarithms of the probabilities: words [attributes×Y] and steps [Y×Y], row "from".
func (m *Counts) set(d *structured.Dataset, y int, words, steps []float32) {
	first, last := ends(d, len(words)/y)
	counts, pairs := make([]float64, len(words)), make([]float64, y*y)
	for i := range d.Len() {
		c, gold := d.Weight(i), d.Gold(i)
		for t, l := range gold {
			index, value := d.Attributes.Row(d.Offsets[i] + t)
			for k, a := range index {
				x := c
				if value != nil {
					x *= float64(value[k])
				}
				counts[int(a)*y+int(l)] += x
			}
			if t > 0 {
				pairs[int(gold[t-1])*y+int(l)] += c
			}
		}
	}
	occurs, occurring := make([]float64, y), 0.0 // Σ_a c(a,l), and how many attributes there are
	each := func(do func(a int, row []float64)) {
		for a := range len(counts) / y {
			if row := counts[a*y : (a+1)*y]; a != first && a != last && totalOf(row) > 0 {
				do(a, row)
			}
		}
	}
	each(func(_ int, row []float64) {
		occurring++
		for l, c := range row {
			occurs[l] += c
		}
	})
	each(func(a int, row []float64) {
		for l, c := range row {
			words[a*y+l] = logRatio(c+m.Word, occurs[l]+m.Word*occurring)
		}
	})
	if first >= 0 {
		row := counts[first*y : (first+1)*y]
		n := totalOf(row)
		for l, c := range row {
			words[first*y+l] = logRatio(c+m.Step, n+m.Step*float64(y))
		}
	}
	for i := range y {
		row := pairs[i*y : (i+1)*y]
		n := totalOf(row) + m.Step*float64(y)
		if last >= 0 {
			n += counts[last*y+i] + m.Step
			words[last*y+i] = logRatio(counts[last*y+i]+m.Step, n)
		}
		for j, c := range row {
			steps[i*y+j] = logRatio(c+m.Step, n)
		}
	}
}

// ends returns the attributes that say where examples begin and end, −1 for those that there are not: every example
// that is not empty has it at its first or last position, with value 1, and nowhere else.
func ends(d *structured.Dataset, attributes int) (first, last int) {
	all, atFirst, atLast, n := make([]int, attributes), make([]int, attributes), make([]int, attributes), 0
	at := func(t int, counts []int) {
		index, value := d.Attributes.Row(t)
		for k, a := range index {
			if value == nil || value[k] == 1 {
				counts[a]++
			}
		}
	}
	for i := range d.Len() {
		if lo, hi := d.Offsets[i], d.Offsets[i+1]; lo < hi {
			n++
			at(lo, atFirst)
			at(hi-1, atLast)
		}
	}
	for _, a := range d.Attributes.Index {
		all[a]++
	}
	first, last = -1, -1
	for a := range attributes {
		switch {
		case all[a] != n:
		case first < 0 && atFirst[a] == n:
			first = a
		case last < 0 && atLast[a] == n:
			last = a
		}
	}
	return first, last
}

func totalOf(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// logRatio returns log(a/b) of a count and its total, and a number that other scores hardly make up for where the count
// is 0.
func logRatio(a, b float64) float32 {
	if a <= 0 {
		return leastLog
	}
	return float32(math.Log(a / b))
}

const leastLog = -1e4
