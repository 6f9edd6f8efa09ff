package methods

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// activeOutputs are a dual point of the hinge, stored as the outputs that it mixes: ū_i = Σ_k α_k 1_{y_k} over the
// outputs of example i that the oracle has found, of which some may have no share. At first there is only the gold
// output.
type activeOutputs [][]activeOutput // [n]

// activeOutput is an output and its share α_k.
type activeOutput struct {
	labels []int32
	α      float64
}

func newActiveOutputs(data *structured.Dataset) activeOutputs {
	c := make(activeOutputs, data.Len())
	for i := range c {
		c[i] = []activeOutput{{slices.Clone(data.Gold(i)), 1}}
	}
	return c
}

// find adds an output to those of example i unless it is among them already.
func (c activeOutputs) find(i int, labels []int32) {
	if !slices.ContainsFunc(c[i], func(k activeOutput) bool { return slices.Equal(k.labels, labels) }) {
		c[i] = append(c[i], activeOutput{labels: slices.Clone(labels)})
	}
}

// extremes returns the best active output of example i, the worst active output with a positive share, their scores and
// the score of ū_i. It uses the potentials of chain b.
func (c activeOutputs) extremes(i int, θ *structured.Potentials, b int) (best, worst int, high, low, mean float64) {
	best, worst = -1, -1
	for k, one := range c[i] {
		s := θ.Score(b, one.labels)
		mean += one.α * s
		if best < 0 || s > high {
			best, high = k, s
		}
		if one.α > 0 && (worst < 0 || s < low) {
			worst, low = k, s
		}
	}
	return best, worst, high, low, mean
}

// move moves γ of the share of one active output to another.
func (c activeOutputs) move(i, from, to int, γ float64) {
	k := c[i]
	k[to].α += γ
	k[from].α = max(0, k[from].α-γ)
}

// shift moves ū_i by γ along the step from one active output to another, either of which may be the mixture ū_i itself.
func (c activeOutputs) shift(i int, by pair, γ float64) {
	switch mixture {
	case by.from: // towards an active output
		c.scale(i, 1-γ)
		c[i][by.to].α += γ
	case by.to: // away from one
		c.scale(i, 1+γ)
		k := &c[i][by.from]
		if k.α -= γ; k.α < roundedShare {
			k.α = 0
		}
	default:
		c.move(i, by.from, by.to, γ)
		return
	}
	total := 0.0 // 1 up to rounding
	for _, k := range c[i] {
		total += k.α
	}
	c.scale(i, 1/total)
}

// roundedShare is what rounding may leave of an active output whose share a step away from it has removed.
const roundedShare = 1e-12

func (c activeOutputs) scale(i int, by float64) {
	for k := range c[i] {
		c[i][k].α *= by
	}
}

// add adds an active output of example i, or the mixture ū_i, times a number to the example of v.
func (c activeOutputs) add(v *structured.Marginals, i, which int, times float64) {
	if which != mixture {
		v.Add(0, c[i][which].labels, float32(times))
		return
	}
	for _, k := range c[i] {
		if k.α > 0 {
			v.Add(0, k.labels, float32(times*k.α))
		}
	}
}

// merge leaves no more than most active outputs of example i with a share: the one with the largest share gets those of
// the least.
func (c activeOutputs) merge(i, most int) {
	if len(c[i]) <= most {
		return
	}
	order := make([]int, len(c[i]))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(k, l int) int { return cmp.Compare(c[i][l].α, c[i][k].α) })
	for _, k := range order[most:] {
		c[i][order[0]].α += c[i][k].α
		c[i][k].α = 0
	}
}

// prune removes the active outputs of example i without a share.
func (c activeOutputs) prune(i int) {
	c[i] = slices.DeleteFunc(c[i], func(k activeOutput) bool { return k.α == 0 })
}

// trim leaves at most so many active outputs of example i, if as many have no share: those that were found first go
// first.
func (c activeOutputs) trim(i, most int) {
	surplus := len(c[i]) - most
	c[i] = slices.DeleteFunc(c[i], func(k activeOutput) bool {
		goes := surplus > 0 && k.α == 0
		if goes {
			surplus--
		}
		return goes
	})
}

// Load copies ū_i into the lane's answers for its batch.
func (c activeOutputs) Load(ln *engine.Lane) {
	u := &ln.Answer.U
	u.Like(&ln.Theta)
	u.Clear()
	for b, i := range ln.Batch.Examples {
		for _, k := range c[i] {
			u.Add(b, k.labels, float32(k.α))
		}
	}
}

// Refine implements engine.RefinedPoint: ū_i − 1_{y_i} = Σ_k α_k (1_{y_k} − 1_{y_i}), to which the gold output's own
// share adds nothing.
func (c activeOutputs) Refine(ln *engine.Lane) {
	for b, i := range ln.Batch.Examples {
		if ln.Batch.Data.Partial(i) {
			continue
		}
		gold, total := ln.Batch.Gold(b), 0.0
		ln.V.Scale(b, 0)
		for _, k := range c[i] {
			if !slices.Equal(k.labels, gold) {
				ln.V.Add(b, k.labels, float32(k.α))
				total += float64(float32(k.α))
			}
		}
		ln.V.Add(b, gold, -float32(total))
	}
}

// packed returns the active outputs of some examples as numbers: how many an example has, and of each the length of its
// output, the output and its share.
func packed(c [][]activeOutput) (counts, lengths, labels []int32, shares []float64) {
	for _, of := range c {
		counts = append(counts, int32(len(of)))
		for _, k := range of {
			shares = append(shares, k.α)
			lengths = append(lengths, int32(len(k.labels)))
			labels = append(labels, k.labels...)
		}
	}
	return counts, lengths, labels, shares
}

// unpacked is the reverse of packed.
func unpacked(counts, lengths, labels []int32, shares []float64) (c [][]activeOutput) {
	for _, n := range counts {
		of := make([]activeOutput, n)
		for k := range of {
			of[k] = activeOutput{slices.Clone(labels[:lengths[0]]), shares[0]}
			labels, lengths, shares = labels[lengths[0]:], lengths[1:], shares[1:]
		}
		c = append(c, of)
	}
	return c
}

// archive saves or restores the active outputs.
func (c *activeOutputs) archive(a engine.Archive) {
	counts, lengths, labels, shares := packed(*c)
	a.Ints("corners.counts", &counts)
	a.Ints("corners.lengths", &lengths)
	a.Ints("corners.outputs", &labels)
	a.Doubles("corners.shares", &shares)
	if !a.Restores() {
		return
	}
	*c = activeOutputs{nil} // of a damaged file: fit refuses it
	all, need := 0, 0
	for _, n := range counts {
		all += max(0, int(n))
	}
	for _, n := range lengths {
		need += max(0, int(n))
	}
	if slices.ContainsFunc(counts, negative) || slices.ContainsFunc(lengths, negative) || all != len(lengths) || all != len(shares) || need != len(labels) {
		return
	}
	*c = unpacked(counts, lengths, labels, shares)
}

func negative(n int32) bool { return n < 0 }

// fit refuses, as bad input, active outputs restored from a file that is damaged or of other data. The shares of an
// example are those of a mixture, and its outputs have scores.
func (c activeOutputs) fit(p *train.Problem) error {
	damaged := structured.BadInput("the checkpoint is damaged: the outputs that it remembers do not fit %s", p.Data.Name)
	if len(c) != p.Len() {
		return damaged
	}
	var batch structured.Batch
	var θ structured.Potentials
	worker, w := p.Scorer.NewWorker(), make([]float32, p.Scorer.Dim())
	for i, of := range c {
		batch.Reset(p.Data, []int{i})
		if err := worker.Score(w, &batch, &θ); err != nil {
			return err
		}
		n, total := len(p.Data.Gold(i)), 0.0
		for _, k := range of {
			if len(k.labels) != n || !(k.α >= 0) {
				return damaged
			}
			total += k.α
			if err := host.Guard(func() error { θ.Score(0, k.labels); return nil }); err != nil { // an index out of range
				return damaged
			}
		}
		if !(math.Abs(total-1) <= unevenShares) {
			return damaged
		}
	}
	return nil
}

// unevenShares is how far from 1 rounding may bring the sum of an example's shares.
const unevenShares = 1e-6
