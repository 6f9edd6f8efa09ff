package sweep

import (
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/structured"
)

// foldsStream separates the shuffle of folds from everything else drawn from the seed.
const foldsStream = 0x666f6c6473

// folds splits n examples, shuffled by the seed, into k parts whose sizes differ by at most one. Each part lists its
// examples in increasing order.
func folds(n, k int, seed uint64) [][]int {
	order := rand.New(rand.NewPCG(seed, foldsStream)).Perm(n)
	parts := make([][]int, k)
	for f := range parts {
		parts[f] = order[f*n/k : (f+1)*n/k]
		slices.Sort(parts[f])
	}
	return parts
}

// holdOut returns d with part held out of the training data, to be the development data instead of what d has. Nothing
// is learned from the part: Fit makes the inputs of columns later, and attributes are renumbered by those that occur in
// the rest at least minCount times. Labels keep their numbers, even those that the rest lacks.
func holdOut(d *models.Raw, part []int, minCount int) *models.Raw {
	var rest []int
	for i := range d.Train.Len() {
		if _, held := slices.BinarySearch(part, i); !held {
			rest = append(rest, i)
		}
	}
	fold := *d
	fold.Train, fold.Dev, fold.Test = d.Train.Subset(rest), d.Train.Subset(part), nil
	fold.Train.Name += " but for a fold"
	fold.Dev.Name += ", a fold held out"
	if d.Train.Dictionary != nil && !d.Continues() {
		structured.Narrow(max(1, minCount), fold.Train, fold.Dev)
	}
	return &fold
}

// checkFolds refuses folds that the training data has too few examples for.
func checkFolds(d *structured.Dataset, k int) error {
	if k > d.Len() {
		return structured.BadInput("--folds %d: %s has %d sequences only", k, d.Name, d.Len())
	}
	return nil
}
