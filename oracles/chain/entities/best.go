package entities

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured/chains"
)

// leastRunning is the least probability that an entity has begun and goes on, below which Best leaves it out: so do all
// labelings that have it.
const leastRunning = 1e-9

// running is the best beginning of a labeling, up to some position where an entity has reached it.
type running struct {
	first int
	label int32
	value float64 // Σ (p − θ) of the entities before
	from  int     // what it was a position earlier, −1 if it begins here
}

// Best returns the entities, with their probabilities p, of an allowed labeling for which Σ (p − θ) is largest: by
// dynamic programming over labels and the positions where entities begin, so that steps between labels that θ or the
// constraints forbid are on no way. It returns none where no labeling is allowed.
func (s *Sums) Best(θ float64) (chosen []chains.Entity, probabilities []float64) {
	if s.n == 0 || math.IsInf(s.value, -1) {
		return nil, nil
	}
	s.run()
	active := make([][]running, s.n)
	closed, from := make([]float64, s.n*s.y), make([]int32, s.n*s.y) // where what is at a position ends there, and the label before it where it begins
	by := make([]int, s.n*s.y)                                       // the entity that ends, −1 outside
	for t := range s.n {
		value := s.row(closed, t)
		for j := range int32(s.y) {
			at := t*s.y + int(j)
			start := math.Inf(-1)
			if t == 0 {
				start = 0
			}
			for i := range int32(s.y) {
				if t > 0 && s.closedAt(closed, t-1, i) > start && !s.rules.Continue(i, j) && !math.IsInf(s.edge(t, i, j), -1) {
					start, from[at] = s.closedAt(closed, t-1, i), i
				}
			}
			if math.IsInf(s.node(t, j), -1) {
				start = math.Inf(-1)
			}
			value[j], by[at] = math.Inf(-1), -1
			if s.rules.Type(j) < 0 {
				value[j] = start
			} else if !math.IsInf(start, -1) {
				active[t] = append(active[t], running{t, j, start, -1})
			}
		}
		if t > 0 {
			active[t] = s.goOn(active[t], active[t-1], t)
		}
		for k, x := range active[t] {
			if p := s.runs[x.first][s.rules.Type(x.label)]; t-x.first < len(p) && x.value+p[t-x.first]-θ > value[x.label] {
				value[x.label], by[t*s.y+int(x.label)] = x.value+p[t-x.first]-θ, k
			}
		}
	}
	label := int32(0)
	for j := range int32(s.y) {
		if s.closedAt(closed, s.n-1, j) > s.closedAt(closed, s.n-1, label) {
			label = j
		}
	}
	if math.IsInf(s.closedAt(closed, s.n-1, label), -1) {
		return nil, nil
	}
	for t := s.n - 1; t >= 0; t-- {
		if k := by[t*s.y+int(label)]; k >= 0 {
			last := t
			x := active[t][k]
			for ; x.from >= 0; t-- {
				x = active[t-1][x.from]
			}
			e := chains.Entity{First: x.first, Last: last, Type: s.rules.Type(x.label)}
			chosen, probabilities = append(chosen, e), append(probabilities, s.runs[e.First][e.Type][e.Last-e.First])
			label = x.label
		}
		label = from[t*s.y+int(label)]
	}
	slices.Reverse(chosen)
	slices.Reverse(probabilities)
	return chosen, probabilities
}

func (s *Sums) closedAt(closed []float64, t int, j int32) float64 { return closed[t*s.y+int(j)] }

// goOn appends the entities that run at t−1 and are continued at t, the best one of each beginning and label.
func (s *Sums) goOn(to, before []running, t int) []running {
	found := map[[2]int]int{}
	for k, x := range before {
		if t-x.first >= len(s.runs[x.first][s.rules.Type(x.label)]) {
			continue
		}
		for _, j := range s.out[x.label] {
			if math.IsInf(s.node(t, j), -1) || math.IsInf(s.edge(t, x.label, j), -1) {
				continue
			}
			key := [2]int{x.first, int(j)}
			at, ok := found[key]
			switch {
			case !ok:
				found[key] = len(to)
				to = append(to, running{x.first, j, x.value, k})
			case x.value > to[at].value:
				to[at] = running{x.first, j, x.value, k}
			}
		}
	}
	return to
}

// run computes the probabilities of the entities of each first position and type, by their length, as far as they are
// likely enough to go on.
func (s *Sums) run() {
	if s.runs != nil {
		return
	}
	s.runs = make([][][]float64, s.n)
	for first := range s.n {
		s.runs[first] = make([][]float64, len(s.of))
		for x := range int32(len(s.of)) {
			s.begin(first, x)
			for last := first; s.share(last, x, s.β) >= leastRunning; {
				s.runs[first][x] = append(s.runs[first][x], s.share(last, x, s.close))
				if last++; last == s.n {
					break
				}
				s.extend(last, x)
			}
		}
	}
}

// Labels returns the best labels that have just these entities, in order; nil if none are allowed.
func (s *Sums) Labels(chosen []chains.Entity) []int32 {
	value, next, from := make([]float64, s.y), make([]float64, s.y), make([]int32, s.n*s.y)
	k := 0
	for t := range s.n {
		for k < len(chosen) && chosen[k].Last < t {
			k++
		}
		typ, inside := int32(-1), false
		if k < len(chosen) && chosen[k].First <= t {
			typ, inside = chosen[k].Type, chosen[k].First < t
		}
		for j := range int32(s.y) {
			next[j] = math.Inf(-1)
			if s.rules.Type(j) != typ {
				continue
			}
			if t == 0 {
				next[j] = s.node(0, j)
				continue
			}
			for i := range int32(s.y) {
				if x := value[i] + s.edge(t, i, j) + s.node(t, j); x > next[j] && s.rules.Continue(i, j) == inside {
					next[j], from[t*s.y+int(j)] = x, i
				}
			}
		}
		value, next = next, value
	}
	if s.n == 0 || math.IsInf(slices.Max(value), -1) {
		return nil
	}
	labels := make([]int32, s.n)
	for t, label := s.n-1, int32(slices.Index(value, slices.Max(value))); t >= 0; t-- {
		labels[t] = label
		label = from[t*s.y+int(label)]
	}
	return labels
}
