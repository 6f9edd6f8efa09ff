package derivations_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/derivations"
)

// graph is a table of its own: entry e has terms whose parts are entries before e. Scores are whole numbers, so that
// sums are exact and many tie.
type graph [][]term

type term struct {
	own         float64
	first, then int
}

// all returns the scores of the derivations of an entry, the largest first.
func (g graph) all(entry int) []float64 {
	of := func(part int) []float64 {
		if part == derivations.None {
			return []float64{0}
		}
		return g.all(part)
	}
	var scores []float64
	for _, t := range g[entry] {
		for _, x := range of(t.first) {
			for _, y := range of(t.then) {
				if s := t.own + x + y; !math.IsInf(s, -1) {
					scores = append(scores, s)
				}
			}
		}
	}
	slices.SortFunc(scores, func(a, b float64) int { return int(b - a) })
	return scores
}

// best returns the score of the best derivation of an entry, −∞ if there is none.
func (g graph) best(entry int) float64 {
	if entry == derivations.None {
		return 0
	}
	best := math.Inf(-1)
	for _, t := range g[entry] {
		best = max(best, t.own+g.best(t.first)+g.best(t.then))
	}
	return best
}

func (g graph) Terms(entry int, open []derivations.Derivation) []derivations.Derivation {
	for k, t := range g[entry] {
		open = derivations.Open(open, int32(k), t.own+g.best(t.first)+g.best(t.then))
	}
	return open
}

func (g graph) Parts(entry int, k int32) (first, then int) {
	return g[entry][k].first, g[entry][k].then
}

// score adds what an entry's derivation is made of.
func (g graph) score(t *rapid.T, r *derivations.Ranking, entry int, rank int32) float64 {
	if entry == derivations.None {
		return 0
	}
	x, ok := r.Derivation(entry, int(rank))
	if !ok {
		t.Fatalf("entry %d has no derivation of rank %d, which another is made of", entry, rank)
	}
	part := g[entry][x.Term]
	return part.own + g.score(t, r, part.first, x.First) + g.score(t, r, part.then, x.Then)
}

// An enumeration lists all derivations of every entry, the best first, each once, and their scores are those of what
// they are made of. A ranking is used again for the next table.
func TestRanking(t *testing.T) {
	var r derivations.Ranking
	rapid.Check(t, func(t *rapid.T) {
		g := make(graph, rapid.IntRange(1, 4).Draw(t, "entries"))
		for e := range g {
			for range rapid.IntRange(0, 2).Draw(t, "terms") {
				one := term{own: float64(rapid.IntRange(-2, 2).Draw(t, "own")), first: rapid.IntRange(-1, e-1).Draw(t, "first"),
					then: rapid.IntRange(-1, e-1).Draw(t, "then")}
				if rapid.IntRange(0, 9).Draw(t, "forbidden") == 0 {
					one.own = math.Inf(-1)
				}
				g[e] = append(g[e], one)
			}
		}
		r.Begin(g, len(g))
		for e := len(g) - 1; e >= 0; e-- {
			want := g.all(e)
			seen := map[derivations.Derivation]bool{}
			for rank, s := range want[:min(len(want), 200)] {
				x, ok := r.Derivation(e, rank)
				if !ok || x.Score != s || seen[x] {
					t.Fatalf("entry %d, rank %d: %+v, %v, again %v; expected the score %v", e, rank, x, ok, seen[x], s)
				}
				if sum := g.score(t, &r, e, int32(rank)); sum != s {
					t.Fatalf("entry %d, rank %d: made of %v, expected %v", e, rank, sum, s)
				}
				seen[x] = true
			}
			if x, ok := r.Derivation(e, len(want)); ok && len(want) <= 200 {
				t.Fatalf("entry %d has %d derivations, and %+v more", e, len(want), x)
			}
		}
	})
}
