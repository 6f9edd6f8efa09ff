package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// NSlack is the n-slack cutting plane method for the hinge objective (Tsochantaridis, Joachims, Hofmann and Altun
// 2005): each example has planes of its own. A pass asks the max oracle about all examples at one w and adds its
// answers to the examples' active outputs. It then raises the dual over all mixtures of these active outputs by
// pairwise steps, without the oracle, until the gap of this restricted dual is a share of the gap that is left
// (workingSet). A restricted step costs far less than an answer, so a pass takes many of them, and few passes are
// needed.
//
// The first pass begins at the centre, where all wrong outputs are alike and the answers say little. So it asks about a
// part of the examples at a time, and raises the dual after each. Later passes ask at v ← ½(v + w), between the last v
// and the w of the dual point, because F at w alone jumps.
//
// The state shows the v with the least F. The dual is certified when it is recomposed from the active outputs: whenever
// the estimated gap has halved, and in Certify.
type NSlack struct {
	Warm bool // ask at s.W first, not at the centre

	at     []float32 // v, where the oracle is asked next
	active activeOutputs
	gap    []float32 // [n] of the blocks, at the last answer or visit
	held   leastPrimal
	bound  train.LowerBound
	best   float64 // largest dual value seen
	passes int

	set   *workingSet // of the active outputs
	point []float32   // w of the dual point
	order []int
}

const (
	keepOfQuery   = 0.5 // share of v that stays
	restrictedGap = 0.1 // of the gap, to which a pass solves the restricted dual
	mostSweeps    = 100 // over the working sets, in a pass
	mostProducts  = 1   // of inputs with weights in these sweeps, as a multiple of those of an answer about all examples; whole sweeps check it
	wholeSweep    = 10  // every so many sweeps visit all working sets, others those with a large gap; behind them the dual point is extrapolated
	firstParts    = 16  // of the examples, in the first pass
	firstExamples = 32  // in its first part
	firstSweeps   = 5   // after each part
)

func (m *NSlack) Name() string { return "n-slack" }

func (m *NSlack) Traits() train.Traits { return train.Traits{Convex: true, Lanes: true} }

// Start begins without planes but those of the gold outputs, where w is the centre.
func (m *NSlack) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkHingeDual(m.Name(), p); err != nil {
		return err
	}
	if err := train.CheckGold(m.Name(), p.Objective); err != nil {
		return err
	}
	if err := train.CheckEngine(m, p.Engine); err != nil {
		return err
	}
	if len(m.at) > 0 { // restored
		if err := m.active.fit(p); err != nil {
			return err
		}
		if len(m.gap) != p.Len() || len(m.at) != p.Scorer.Dim() || len(m.held.w) != p.Scorer.Dim() {
			return structured.BadInput("the checkpoint is damaged: its weights and gaps do not fit %s and the network", p.Data.Name)
		}
	} else {
		m.at = startAt(p, s, m.Warm)
		m.active, m.gap = newActiveOutputs(p.Data), make([]float32, p.Len())
		m.held = leastPrimal{append([]float32(nil), m.at...), math.Inf(1)}
		m.bound, m.best = train.LowerBound{Value: p.Floor()}, p.Constant
	}
	var err error
	m.set, err = newWorkingSet(ctx, p, m.active)
	m.point = make([]float32, len(m.at))
	m.set.weights(m.point)
	return err
}

// Pass adds planes and maximises the restricted dual.
func (m *NSlack) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	random := p.Rand(s.Passes)
	shuffle := func(order []int) {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	if m.passes == 0 && !m.Warm {
		if err := m.first(ctx, p, shuffle); err != nil {
			return err
		}
		s.OracleCalls += p.Len()
	}
	upper, err := m.ask(ctx, p)
	if err != nil {
		return err
	}
	copy(s.W, m.at)
	s.Primal = upper
	m.held.keep(s)
	if err := m.solve(ctx, p, restrictedGap*(s.Primal-m.best)*float64(p.Len()), shuffle); err != nil {
		return err
	}
	dual := m.settle(p)
	m.best = max(m.best, dual)
	vec.Axpby(1-keepOfQuery, m.point, keepOfQuery, m.at)
	m.passes++
	s.Passes++
	s.OracleCalls += p.Len()
	if s.Primal-m.best <= (s.Primal-m.bound.Value)/2 {
		if err := m.recompose(ctx, p, s); err != nil {
			return err
		}
	}
	m.bound.Show(s, m.best)
	s.Done = s.Primal-s.Dual <= 2*s.Rounding
	return nil
}

// first asks about a part of the examples after the other, each at the dual point of those before.
func (m *NSlack) first(ctx context.Context, p *train.Problem, shuffle func([]int)) error {
	rest := append([]int(nil), p.All()...)
	shuffle(rest)
	for seen := 0; len(rest) > 0; {
		part := rest[:min(len(rest), min(max(firstExamples, seen/2), max(firstExamples, p.Len()/firstParts)))]
		rest, seen = rest[len(part):], seen+len(part)
		work := func(ln *engine.Lane) error {
			if err := p.Potentials(ln, engine.At(m.point)); err != nil {
				return err
			}
			n := ln.Batch.Len()
			ln.Output = vec.Grow(ln.Output, ln.Theta.OutputSize())
			ln.Values = vec.Grow(ln.Values, n)
			ln.Oracle.Max(&ln.Theta, ln.Output, ln.Values[:n])
			for b, i := range ln.Batch.Examples {
				m.active.find(i, ln.Output[ln.Theta.Outputs[b]:ln.Theta.Outputs[b+1]])
			}
			return nil
		}
		err := p.Alone(ctx, func() error {
			_, err := p.OverBatch(ctx, engine.At(m.point), part, false, work)
			return err
		})
		if err != nil {
			return err
		}
		if err := m.set.extend(ctx, p, part); err != nil {
			return err
		}
		for range firstSweeps {
			shuffle(part)
			for _, i := range part {
				m.gap[i] = float32(m.set.visit(p, i))
			}
		}
		m.set.weights(m.point)
	}
	m.settle(p)
	copy(m.at, m.point)
	return nil
}

// ask asks about all examples at v and adds the answers to the working sets. It returns F(v), rounded up.
func (m *NSlack) ask(ctx context.Context, p *train.Problem) (float64, error) {
	upper, err := p.UpperAnswers(ctx, m.at, m.active.find)
	if err != nil {
		return 0, err
	}
	if err := m.exchange(ctx, p); err != nil {
		return 0, err
	}
	return upper, m.set.extend(ctx, p, p.All())
}

// exchange adds the new active outputs of other ranks' examples.
func (m *NSlack) exchange(ctx context.Context, p *train.Problem) error {
	var mine [][]activeOutput
	for _, i := range p.Own() {
		mine = append(mine, m.active[i][len(m.set.sets[i].planes):])
	}
	all, err := allGatherActive(ctx, p.Engine, mine)
	if err != nil {
		return err
	}
	for rank, of := range all {
		if rank == p.Ranks().Rank() {
			continue
		}
		for k, i := range p.OwnOf(rank) {
			m.active[i] = append(m.active[i], of[k]...)
		}
	}
	return nil
}

// solve visits working sets until their gaps add up to no more than enough. The first sweep and every tenth visit all
// of them, other sweeps those whose gap was at least half the mean. It ends at a whole sweep, too, when its products
// are as many as those of new answers, which then promise more.
func (m *NSlack) solve(ctx context.Context, p *train.Problem, enough float64, shuffle func([]int)) error {
	products, most := 0, mostProducts*m.set.answerProducts(p)
	for sweep := range mostSweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		whole := sweep%wholeSweep == 0
		if whole {
			if sweep > 0 {
				m.set.extrapolate(p)
			}
			m.set.mark(sweep == 0)
		}
		mean, several := 0.0, 0
		for i := range m.active {
			if len(m.active[i]) > 1 {
				mean += float64(m.gap[i])
				several++
			}
		}
		if several == 0 {
			return nil
		}
		mean /= float64(several)
		m.order = m.order[:0]
		for i := range m.active {
			if len(m.active[i]) > 1 && (whole || float64(m.gap[i]) >= mean/2) {
				m.order = append(m.order, i)
			}
		}
		shuffle(m.order)
		total := 0.0
		for _, i := range m.order {
			gap := m.set.visit(p, i)
			m.gap[i] = float32(gap)
			total += gap
			products += len(m.set.sets[i].cells)
		}
		if whole && (total <= enough || products > most && most > 0) {
			break
		}
	}
	return nil
}

// settle drops active outputs without a share, and computes the weights of the dual point from the others. It returns
// its value.
func (m *NSlack) settle(p *train.Problem) float64 {
	for i := range m.active {
		m.set.prune(i)
	}
	linear := m.set.recompose(p)
	m.set.weights(m.point)
	return p.DualValue(linear, m.point)
}

// recompose records the bound of the dual point.
func (m *NSlack) recompose(ctx context.Context, p *train.Problem, s *train.State) error {
	_, err := m.bound.Recompose(ctx, p, s, m.point, m.active, train.Entropy{}, m.passes)
	return err
}

func (m *NSlack) Certify(ctx context.Context, p *train.Problem, s *train.State, keep bool) error {
	return m.bound.Certify(s, m.passes, m.best, keep, func() error { return m.recompose(ctx, p, s) })
}

// Archive saves or restores the method's state.
func (m *NSlack) Archive(a engine.Archive) {
	m.active.archive(a)
	a.Floats("gaps", &m.gap)
	a.Floats("w", &m.at)
	m.held.archive(a)
	m.bound.Archive(a)
	a.Number("best", &m.best)
	a.Count("passes", &m.passes)
}
