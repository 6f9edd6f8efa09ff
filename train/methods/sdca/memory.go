package sdca

import (
	"context"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// dualMemory is what SDCA stores for every example.
type dualMemory struct {
	φ, u    engine.Memory // the dual potentials, and their marginals u_i, which are 1_{y_i} before the first visit
	entropy []float64     // [n] H(u_i)
	step    []float32     // [n] η of the next visit; 0 before the first
	gap     []float32     // [n] c_i KL(u_i ‖ marginals(θ_i + ℓ_i)) at the last visit, to first order
	age     []float32     // [n] sweeps since the last visit
	bonus   float32       // added to the gold output's scores on the first visit: firstBonus or warmBonus
	gram    [][]float32   // [n] inner products of the positions, for the quadratic loss; nil before the first visit, and not archived
}

const (
	firstStep  = 0.3 // η of the second visit
	fullPasses = 3   // passes that visit every example
	large      = 1.5 // gaps that are large, in mean gaps
	oldest     = 8   // most sweeps that an example whose gap is not large may miss
)

func newDualMemory(o *engine.Objective) *dualMemory {
	n := o.Data.Len()
	m := &dualMemory{u: *engine.NewMemory(o), entropy: make([]float64, n), step: make([]float32, n), gap: make([]float32, n), age: make([]float32, n), bonus: firstBonus}
	m.φ.Form(o)
	m.φ.Clear()
	m.gram = make([][]float32, n)
	return m
}

// attach makes m, which Archive restored, a memory of o. It refuses what does not fit.
func (m *dualMemory) attach(o *engine.Objective) error {
	if err := m.u.Fits(o); err != nil {
		return err
	}
	if err := m.φ.Fits(o); err != nil {
		return err
	}
	for _, k := range []int{len(m.entropy), len(m.step), len(m.gap), len(m.age)} {
		if k != o.Data.Len() {
			return structured.BadInput("the checkpoint is damaged: it knows %d examples, expected %d", k, o.Data.Len())
		}
	}
	m.u, m.φ, m.gram = *m.u.Attach(o), *m.φ.Attach(o), make([][]float32, o.Data.Len())
	return nil
}

// due returns those of own examples that the pass's next sweep visits, in order, all of them if asked for, and
// increments the age of the others.
func (m *dualMemory) due(own []int, pass int, all bool) []int {
	mean := vec.Sum(m.gap) / float64(len(m.gap))
	var order []int
	for _, i := range own {
		if all || pass < fullPasses || float64(m.gap[i]) >= large*mean || m.age[i] >= oldest {
			m.age[i] = 0
			order = append(order, i)
		} else {
			m.age[i]++
		}
	}
	return order
}

// prefetch asks for example i of the memory, which is not in a cache as a rule.
func (m *dualMemory) prefetch(i int) {
	for k := range m.φ.Parts {
		vec.Prefetch(m.φ.Parts[k].Of(i))
		vec.Prefetch(m.u.Parts[k].Of(i))
	}
}

func (m *dualMemory) meanEntropy(o *engine.Objective) float64 {
	s := 0.0
	for i, h := range m.entropy {
		s += o.Data.Weight(i) * h
	}
	return s / float64(len(m.entropy))
}

// visited reports whether u_i is the marginals of φ_i, not the gold output.
func (m *dualMemory) visited(i int) bool { return m.step[i] != 0 }

// boundedEntropy returns the mean entropy with a bound on its rounding error.
func (m *dualMemory) boundedEntropy(ctx context.Context, p *train.Problem) (train.Entropy, error) {
	if p.Loss == engine.Quadratic { // Recompose knows it
		return train.Entropy{}, nil
	}
	visited := slices.DeleteFunc(slices.Clone(p.Own()), func(i int) bool { return !m.visited(i) }) // others have an entropy of 0
	if !p.Loss.Smooth() {                                                                          // no entropy
		p.Blur(&m.φ.Marginals, visited)
		return train.Entropy{}, nil
	}
	rounded, err := p.SumOverRanks(ctx, p.EntropyRounding(&m.u.Marginals, &m.φ.Marginals, visited))
	entropy := train.Entropy{Value: m.meanEntropy(p.Objective), Error: rounded}
	if p.L1 > 0 && p.Lambda == 0 {
		entropy.Mixed = m.mixed(p)
	}
	return entropy, err
}

// mixed returns a function for train.Entropy.Mixed, or nil if u_i is no distribution of outputs that is known, or the
// gold outputs are mixtures themselves. f_i, −log of the probability of the gold output, is log Z(φ_i) − ⟨1_{y_i},
// φ_i⟩, where log Z(φ_i) = H(u_i) + ⟨u_i, φ_i⟩. An error in f_i changes the entropy by 1 − s times as much at most, and
// one in H(u_i) by s times as much.
func (m *dualMemory) mixed(p *train.Problem) func(context.Context, float64) (float64, error) {
	if p.Soft || p.Relaxed() != "" || !p.Loss.Smooth() || p.Loss == engine.Quadratic {
		return nil
	}
	return func(ctx context.Context, s float64) (float64, error) {
		var φ structured.Potentials
		var u structured.Marginals
		total := 0.0
		for _, i := range p.Own() {
			if m.step[i] == 0 { // the gold output
				continue
			}
			h := m.entropy[i]
			m.φ.AsPotentials(i, p.Data.OutputLength(i), &φ)
			m.u.View(i, &u)
			f := h + inner(p, &u, &φ) - φ.Score(0, p.Data.Gold(i))
			total += p.Data.Weight(i) * engine.MixedEntropy(s, max(0, f), h)
		}
		total, err := p.SumOverRanks(ctx, total)
		return total / float64(p.Len()), err
	}
}

func (m *dualMemory) meanStep() float64 { return vec.Sum(m.step) / float64(len(m.step)) }

func (m *dualMemory) archive(a engine.Archive) {
	engine.ArchiveMarginals(a, "marginals", &m.u.Marginals)
	engine.ArchiveMarginals(a, "potentials", &m.φ.Marginals)
	a.Doubles("entropies", &m.entropy)
	a.Floats("steps", &m.step)
	a.Floats("gaps", &m.gap)
	a.Floats("ages", &m.age)
	bonus := float64(m.bonus)
	a.Number("bonus", &bonus)
	m.bonus = float32(bonus)
}
