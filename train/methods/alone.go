package methods

import (
	"context"

	"github.com/dsp-go/dsp/train"
)

// localSteps is how many steps on batches of its own examples each of several ranks takes before all average what they
// have (local SGD: Mangasarian 1995; Stich 2019). 0: the ranks share each batch.
//
// A rank sees its own examples only, and one of K ranks takes 1/K of a pass's steps. Where the ranks' examples are
// alike, the means of K iterates have 1/K of the variance, as a batch K times as large has; the more steps between
// averages, the further the ranks are apart. Stich: for strongly convex objectives, of T steps up to about √(T/K) may
// lie between averages without loss of the rate. For networks nothing of that kind is proved.
type localSteps int

// apart reports whether ranks step on their own.
func (h localSteps) apart(p *train.Problem) bool { return h > 0 && p.Ranks().Size() > 1 }

// steps returns the number of steps of a pass, the same on each rank.
func (h localSteps) steps(p *train.Problem) int {
	if !h.apart(p) {
		return p.Steps()
	}
	most, least := 0, p.Len()
	for r := range p.Ranks().Size() {
		of := p.OwnOf(r)
		most, least = max(most, p.StepsOf(of)), min(least, len(of))
	}
	return max(1, min(most, least))
}

// batches returns the batches of a pass, in random order, none of them empty.
func (h localSteps) batches(p *train.Problem, pass int) [][]int {
	if !h.apart(p) {
		return p.Batches(p.Rand(pass).Perm(p.Len()))
	}
	own, batches := p.Own(), make([][]int, h.steps(p))
	order := p.Rand(pass).Perm(len(own))
	for k := range order {
		order[k] = own[order[k]]
	}
	for k := range batches {
		batches[k] = order[len(order)*k/len(batches) : len(order)*(k+1)/len(batches)]
	}
	return batches
}

// each calls step for all batches of a pass. Ranks that step on their own call average every so many steps, and at the
// end.
func (h localSteps) each(ctx context.Context, p *train.Problem, batches [][]int, step func(t int, batch []int) error, average func() error) error {
	some := func(lo, hi int) error {
		for t := lo; t < hi; t++ {
			if err := step(t, batches[t]); err != nil {
				return err
			}
		}
		return nil
	}
	if !h.apart(p) {
		return some(0, len(batches))
	}
	for lo := 0; lo < len(batches); lo += int(h) {
		err := p.Alone(ctx, func() error { return some(lo, min(lo+int(h), len(batches))) })
		if err == nil {
			err = average()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mask returns the seed of a step's dropout masks. Each rank that steps on its own has other masks.
func (h localSteps) mask(p *train.Problem, step int) uint64 {
	if h.apart(p) {
		step = step*p.Ranks().Size() + p.Ranks().Rank()
	}
	return dropoutSeed(p, step)
}
