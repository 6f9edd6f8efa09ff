package methods

import (
	"context"
	"math"
	"sort"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// SaddleBCFW is block-coordinate saddle-point Frank-Wolfe (SP-BCFW; Gidel, Jebara and Lacoste-Julien 2017, section 4)
// for the hinge with ‖w‖₁ ≤ R: SaddleFW with a dual point ū_i per example. A step on a batch B, at t passes since the
// start, is
//
//	ū_i ← (1−γ)ū_i + γu_i for i ∈ B,    w ← (1 − γ|B|/n)w + (γ|B|/n)s_w,    γ = 2/(t+2),
//
// with the oracle's answers u_i at w and the ball's corner s_w at g(ū) + λw. In a pass each block of ū moves once, by
// γ, and w n/|B| times by |B|/n of that: both players move at the same pace, as in batch steps.
//
// With sparse inputs a step costs what its rows cost. w is kept as p·v, and a tournament over the rows of g finds the
// largest entry: only rows that a batch touches play again. Weights that are not 0, of which there are few, are
// compared apart, with λw added.
type SaddleBCFW struct {
	memory *engine.Memory
	scale  float64        // p
	v      []float32      // w = p·v
	g      []float32      // g(ū)
	games  *tournament    // over the rows of g; nil without access by rows
	rows   *sparse.Linear // that play
	active []int          // where v is not 0
	held   leastPrimal
	bound  train.LowerBound
	passes int

	batch   structured.Batch
	touched sparse.Rows
}

var _ train.MemoryKeeper = &SaddleBCFW{}

func (m *SaddleBCFW) Name() string { return "sp-bcfw" }

func (m *SaddleBCFW) Traits() train.Traits {
	return train.Traits{Convex: true, Radius: true, Lanes: true}
}

// Start begins at the gold outputs and w = 0, regardless of s.W.
func (m *SaddleBCFW) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkSaddle(m, p); err != nil {
		return err
	}
	if err := train.CheckEngine(m, p.Engine); err != nil {
		return err
	}
	if len(m.v) > 0 { // restored
		dim := p.Scorer.Dim()
		if len(m.v) != dim || len(m.g) != dim || len(m.held.w) != dim {
			return structured.BadInput("the checkpoint is damaged: it has %d weights, expected %d", len(m.v), dim)
		}
		var err error
		m.memory, err = p.Attach(m.memory)
		m.seat(p)
		return err
	}
	clear(s.W)
	m.scale, m.v, m.g = 1, make([]float32, len(s.W)), make([]float32, len(s.W))
	m.held = leastPrimal{append([]float32(nil), s.W...), math.Inf(1)}
	m.bound = train.LowerBound{Value: p.Floor()}
	var err error
	m.memory, err = p.NewMemory()
	m.seat(p)
	return err
}

// seat lets all rows play.
func (m *SaddleBCFW) seat(p *train.Problem) {
	m.active = m.active[:0]
	for j, x := range m.v {
		if x != 0 {
			m.active = append(m.active, j)
		}
	}
	if s, ok := p.Rows(); ok && s.NumRows() > 0 {
		m.rows, m.games = s, newTournament(s.NumRows(), func(row int) float64 { return m.strength(s, row) })
	}
}

// strength is the largest |g_j| of a row, without the weights that are not 0.
func (m *SaddleBCFW) strength(s *sparse.Linear, row int) (most float64) {
	lo, hi := s.Row(int32(row))
	for j := lo; j < hi; j++ {
		if m.v[j] == 0 {
			most = max(most, math.Abs(float64(m.g[j])))
		}
	}
	return most
}

// corner returns the entry of g + λw with the largest absolute value, and that entry; −1 if all are 0.
func (m *SaddleBCFW) corner(p *train.Problem) (j int, r float64) {
	j = -1
	try := func(k int) {
		x := float64(m.g[k]) + p.Lambda*m.scale*float64(m.v[k])
		if math.Abs(x) > math.Abs(r) {
			j, r = k, x
		}
	}
	if m.games == nil {
		for k := range m.g {
			try(k)
		}
		return j, r
	}
	lo, hi := m.rows.Row(int32(m.games.winner()))
	for k := lo; k < hi; k++ {
		try(k)
	}
	for _, k := range m.active {
		try(k)
	}
	return j, r
}

// Pass visits every example once, in random order.
func (m *SaddleBCFW) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	order, size := p.Rand(s.Passes).Perm(p.Len()), p.BatchSize()
	for lo := 0; lo < len(order); lo += size {
		t := float64(m.passes) + float64(lo)/float64(len(order))
		if err := m.step(ctx, p, order[lo:min(lo+size, len(order))], 2/(t+2)); err != nil {
			return err
		}
	}
	for j, x := range m.v {
		s.W[j] = float32(m.scale * float64(x))
	}
	p.IntoBall(s.W)
	copy(m.v, s.W)
	m.scale = 1
	u, err := p.Recompose(ctx, s.W, m.memory)
	if err != nil {
		return err
	}
	copy(m.g, u.Grad)
	m.seat(p)
	wide, largest := make([]float64, len(m.g)), 0.0
	for j, x := range m.g {
		wide[j] = float64(x)
		largest = max(largest, math.Abs(wide[j]))
	}
	recordBall(p, &m.bound, u.Linear, wide, u.Rounded, largest)
	if s.Primal, _, err = p.Upper(ctx, s.W); err != nil {
		return err
	}
	m.held.keep(s)
	m.passes++
	s.Passes++
	s.OracleCalls += p.Len()
	s.FullPasses += 2
	m.bound.Show(s, math.NaN())
	s.Step = 2 / float64(m.passes+2)
	s.Done = s.Primal-s.Dual <= 2*s.Rounding
	return nil
}

// leastScale is the least p before v takes it.
const leastScale = 1. / 1024

// step moves the dual points of a batch and w, both from where they were.
func (m *SaddleBCFW) step(ctx context.Context, p *train.Problem, batch []int, γ float64) error {
	st, err := p.StepAt(ctx, engine.Scaled(m.scale, m.v), batch, oracles.Smoothing{}, m.memory, 0)
	if err != nil {
		return err
	}
	j, r := m.corner(p)
	if st.Moved > 0 {
		p.Remember(m.memory, float32(γ))
		st.Grad.AddTo(float32(γ/float64(p.Len())), m.g)
	}
	if j >= 0 {
		share := γ * float64(len(batch)) / float64(p.Len())
		if m.scale *= 1 - share; m.scale < leastScale || m.games == nil { // scores of dense inputs may have an offset
			vec.Scale(float32(m.scale), m.v)
			m.scale = 1
		}
		if m.v[j] == 0 {
			m.active = append(m.active, j)
		}
		m.v[j] -= float32(share * math.Copysign(p.Radius, r) / m.scale)
	}
	if m.games != nil && st.Moved > 0 {
		m.batch.Reset(p.Data, batch)
		m.rows.Rows(&m.batch, &m.touched)
		for _, row := range m.touched.Index {
			m.games.play(int(row))
		}
	}
	if m.games != nil && j >= 0 {
		m.games.play(rowOf(m.rows, j))
	}
	return nil
}

// rowOf returns the row of a weight.
func rowOf(s *sparse.Linear, j int) int {
	return sort.Search(s.NumRows(), func(row int) bool {
		_, hi := s.Row(int32(row))
		return hi > j
	})
}

func (m *SaddleBCFW) FetchMemory(p *train.Problem) error { return p.Fetch(m.memory) }

// Archive saves or restores the method's state.
func (m *SaddleBCFW) Archive(a engine.Archive) {
	engine.ArchiveMemory(a, &m.memory)
	a.Floats("v", &m.v)
	a.Floats("g", &m.g)
	m.held.archive(a)
	m.bound.Archive(a)
	a.Count("passes", &m.passes)
	if a.Restores() {
		m.scale = 1 // as at the end of each pass
	}
}

// tournament finds the strongest of n players when the strengths of few change at a time: a binary tree of winners.
type tournament struct {
	first    int       // node of player 0
	best     []float64 // [2·first] strength of each node's winner
	who      []int32
	strength func(player int) float64
}

func newTournament(n int, strength func(player int) float64) *tournament {
	t := &tournament{first: 1, strength: strength}
	for t.first < n {
		t.first *= 2
	}
	t.best, t.who = make([]float64, 2*t.first), make([]int32, 2*t.first)
	for k := range t.first {
		t.who[t.first+k] = int32(min(k, n-1))
		if k < n {
			t.best[t.first+k] = strength(k)
		}
	}
	for k := t.first - 1; k > 0; k-- {
		t.meet(k)
	}
	return t
}

// meet decides node k. The first of two equal players wins.
func (t *tournament) meet(k int) {
	by := 2 * k
	if t.best[by+1] > t.best[by] {
		by++
	}
	t.best[k], t.who[k] = t.best[by], t.who[by]
}

// play lets a player whose strength has changed play again.
func (t *tournament) play(player int) {
	k := t.first + player
	t.best[k] = t.strength(player)
	for k /= 2; k > 0; k /= 2 {
		t.meet(k)
	}
}

// winner returns the strongest player.
func (t *tournament) winner() int { return int(t.who[1]) }
