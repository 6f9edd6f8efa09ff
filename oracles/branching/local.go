package branching

import "math/rand/v2"

// local looks for better assignments by small changes, before the tree and beside the search: blocks of variables and
// annealing take turns, each of about the same work, and go on from the better of their best states.
type local struct {
	*Solver
	near      *neighbourhood
	annealing *annealing
	blocks    int // work on blocks
	annealed  int // work on annealing

	proving  int // work on everything else
	fruitful int // all work up to the last improvement
	owed     float64
}

// Of shares.
const (
	annealTurn = 1 << 14 // entries
	localWork  = 1 << 21 // entries of local search at a time
	// the search for a proof has so many times the work of a local search that has not improved for long; it has the
	// same otherwise
	unlucky = 8
)

func newLocal(v *Solver, s Settings, states []int) *local {
	l := &local{Solver: v, near: newNeighbourhood(v.whole, v.r, states)}
	l.annealing = newAnnealing(v.whole, rand.New(rand.NewPCG(s.Seed, 22)), states, int(s.Entries/4))
	return l
}

// improve looks for better assignments for about as much work as computing so many entries.
func (l *local) improve(work int) {
	if len(l.whole.states) == 0 {
		l.take(nil)
		return
	}
	for work > 0 && !l.done() {
		before, spent := l.value, 0
		if l.annealed <= l.blocks {
			spent = l.anneal()
			l.annealed += spent
		} else {
			spent = l.block()
			l.blocks += spent
		}
		if work -= spent; l.value > before {
			l.fruitful = l.all()
		}
	}
}

// all is all work so far.
func (l *local) all() int { return l.blocks + l.annealed + l.proving }

// beside is told of work on a proof, after which local search gets its share: half of all until nothing has improved
// for as long as everything before the last improvement took, and little then. So a proof takes little longer.
func (l *local) beside(work int) {
	if l == nil {
		return
	}
	l.proving += work
	share := 1.0
	if l.all() > 2*l.fruitful {
		share = 1.0 / unlucky
	}
	if l.owed += share * float64(work); l.owed >= localWork {
		l.improve(int(l.owed))
		l.owed = 0
	}
}

func (l *local) block() (work int) {
	if l.states != nil && max(l.near.value, l.near.bestValue) < l.value {
		l.near.begin(l.states)
	}
	if l.near.stuck() {
		l.near.kick()
	}
	improved, work := l.near.step()
	if improved {
		l.take(l.near.states)
	}
	return work
}

func (l *local) anneal() (work int) {
	a := l.annealing
	if l.states != nil && (a.bestBroken > 0 || a.bestValue < l.value) {
		a.adopt(l.states, l.value)
	}
	improved, work := a.step(annealTurn)
	if improved && a.bestBroken == 0 {
		l.take(a.best)
	}
	return work
}
