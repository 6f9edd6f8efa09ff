package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"

	"github.com/dsp-go/dsp/models/optimisers"
)

// A factor is something that is chosen for a run.
type factor int

const (
	structure factor = iota
	method
	loss
	smoothing
	scorer
	home
	course
	factors
)

var factorNames = [factors]string{"structure", "method", "loss", "smoothing", "net", "home", "course"}

// values are the choices of each factor.
var values = [factors][]string{
	structure: slices.Sorted(maps.Keys(structures)),
	method:    optimisers.NamesOf(func(*optimisers.Descriptor) bool { return true }),
	loss:      {"hinge", "crf", "softmax-margin", "quadratic"},
	smoothing: slices.Sorted(maps.Keys(smoothings)),
	scorer:    {linear, network},
	home:      slices.Sorted(maps.Keys(homes)),
	course:    {whole, resumed},
}

// The courses of a run: in one go, or interrupted after the first pass and resumed.
const (
	whole   = "whole"
	resumed = "resumed"
)

// pair is two choices of two factors that occur in one run.
type pair struct {
	f, g factor
	x, y string
}

func pairsOf(choices *[factors]string) (all []pair) {
	for f := range factors {
		for g := f + 1; g < factors; g++ {
			all = append(all, pair{f, g, choices[f], choices[g]})
		}
	}
	return all
}

// attempts bounds the runs that are tried for one pair: many choices do not go together, such as sdca with the hinge,
// and the program refuses them.
const attempts = 12

// drawRows adds runs to the rows until each pair of choices with a match occurs in one, but for pairs that the program
// refuses in every attempt.
func drawRows(ctx context.Context, b *bench, rows []*row, match *regexp.Regexp, jobs int) ([]*row, error) {
	random := rand.New(rand.NewPCG(1, 0))
	var wanted []pair
	for f := range factors {
		for g := f + 1; g < factors; g++ {
			for _, x := range values[f] {
				for _, y := range values[g] {
					if match.MatchString(x) || match.MatchString(y) {
						wanted = append(wanted, pair{f, g, x, y})
					}
				}
			}
		}
	}
	random.Shuffle(len(wanted), func(i, j int) { wanted[i], wanted[j] = wanted[j], wanted[i] })
	open := map[pair]bool{}
	for _, p := range wanted {
		open[p] = true
	}
	var mutex sync.Mutex
	tried := map[[factors]string]bool{}
	for _, r := range rows {
		tried[r.choices] = true
		for _, p := range pairsOf(&r.choices) {
			delete(open, p)
		}
	}
	refused := map[pair]int{}
	failures := 0
	inParallel(jobs, len(wanted), func(k int) {
		for range attempts {
			mutex.Lock()
			if !open[wanted[k]] || ctx.Err() != nil {
				mutex.Unlock()
				return
			}
			choices, ok := complete(wanted[k], open, refused, random)
			seen := tried[choices] || !ok
			tried[choices] = true
			mutex.Unlock()
			if seen {
				continue
			}
			r := &row{choices: choices, hashes: map[string]string{}}
			_, err := b.measure(ctx, r, b.best)
			mutex.Lock()
			switch {
			case err == nil:
				rows = append(rows, r)
				for _, p := range pairsOf(&choices) {
					delete(open, p)
				}
			case errors.Is(err, errRefused):
				for _, p := range pairsOf(&choices) {
					refused[p]++
				}
			case errors.Is(err, errNotHere):
			default:
				fmt.Printf("FAILED   %s: %v\n", r.name(), err)
				failures++
			}
			mutex.Unlock()
		}
	})
	fmt.Printf("%d rows hold %d of %d pairs; the program refuses the others, or they were not found in %d attempts\n",
		len(rows), len(wanted)-len(open), len(wanted), attempts)
	slices.SortFunc(rows, func(a, b *row) int { return slices.Compare(a.choices[:], b.choices[:]) })
	if failures > 0 {
		return rows, fmt.Errorf("%d runs fail", failures)
	}
	return rows, ctx.Err()
}

// plausible reports whether choices go together, as far as descriptors of methods tell. The program knows more, and
// refuses some of these. Networks of words and of pairs of words take minutes on an emulated device.
func plausible(c *[factors]string) bool {
	p, at := structures[c[structure]], homes[c[home]]
	d, _ := optimisers.Find(c[method])
	isHinge := c[loss] == "hinge"
	return d.Losses.Takes(c[loss]) && (p.sums || isHinge && !d.Sums) &&
		(c[smoothing] == "auto" || isHinge && d.Smoothing != optimisers.NotSmoothed) &&
		(c[scorer] == linear || p.network != "" && !d.Convex()) && (at.ranks == 0 || d.Ranks) &&
		(!at.device || d.OnDevice() && (c[scorer] == linear || p.network == "cnn" || p.network == "mlp")) &&
		(!d.Chains || p.task == "tag")
}

// complete returns plausible choices with the pair p: of some drawn at random those with the most open pairs. Pairs
// that have often been refused count against them. It returns false if there are none.
func complete(p pair, open map[pair]bool, refused map[pair]int, random *rand.Rand) (best [factors]string, ok bool) {
	most := -1 << 30
	for range 400 {
		var c [factors]string
		for f := range factors {
			c[f] = values[f][random.IntN(len(values[f]))]
		}
		c[p.f], c[p.g] = p.x, p.y
		if !plausible(&c) {
			continue
		}
		n := 0
		for _, q := range pairsOf(&c) {
			if open[q] {
				n += 2
			}
			if q != p {
				n -= min(refused[q], 6)
			}
		}
		if n > most {
			most, best, ok = n, c, true
		}
	}
	return best, ok
}
