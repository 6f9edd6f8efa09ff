package calibration

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// part is a part of a gold output: an entry of an example's values of a part of the potentials.
type part struct {
	part, at  int
	score     float64 // of the best output known that has it
	reference bool    // there is one
}

// leastMarginal is the least marginal in float32 whose logarithm is taken. Smaller ones may be 0, or differences of
// rounded numbers.
const leastMarginal = 1e-3

// parts measures the parts of gold outputs under their marginal probabilities.
func (s *search) parts(o oracles.Summer, examples []int, θ *structured.Potentials, logs []float64, rare bool) measured {
	r := newMeasured(len(logs))
	gold := make([][]part, len(examples))
	for b, i := range examples {
		parts, skipped := s.gold(θ, b, i)
		gold[b], r.skipped = parts, r.skipped+skipped
	}
	value, u := make([]float64, len(examples)), &structured.Marginals{}
	f := forcing{oracle: o}
	for k, log := range logs {
		t := math.Exp2(log)
		o.Exp(θ, t, value, u)
		for b, parts := range gold {
			kept := parts[:0]
			for _, p := range parts {
				width := float64(max(1, u.Parts[p.part].Width))
				least := min(leastMarginal, 0.05/width)
				switch q := float64(u.Parts[p.part].Of(b)[p.at]); {
				case q >= least:
					r.sums[k] -= math.Log(min(1, q))
				case !f.possible(θ, b, &p):
					r.skipped++
					continue
				case rare:
					r.sums[k] += f.nll(θ, b, p, value[b], t)
				default:
					r.sums[k] -= math.Log(least)
					r.bound[k] = true
				}
				kept = append(kept, p)
			}
			gold[b] = kept
		}
	}
	for _, parts := range gold {
		r.count += len(parts)
	}
	return r
}

// gold returns what is known of the gold output of example i, number b of the batch, and how much of that the model
// cannot predict: labels that it does not know, and parts that its constraints forbid.
func (s *search) gold(θ *structured.Potentials, b, i int) (parts []part, skipped int) {
	y, width := s.data.Gold(i), s.model.Labels.Len()
	whole := !s.data.Partial(i)
	var one structured.Potentials // a structure may locate by the sizes of the example
	θ.View(b, &one)
	structured.Locate(&one, y, func(of, at int, label int32) {
		if int(label) >= width || math.IsInf(float64(one.Parts[of].Values[at]), -1) {
			skipped++
			whole = false
			return
		}
		parts = append(parts, part{part: of, at: at})
	})
	if !whole || len(parts) == 0 {
		return parts, skipped
	}
	if score := θ.Score(b, y); !math.IsInf(score, -1) {
		for k := range parts {
			parts[k].score, parts[k].reference = score, true
		}
	}
	return parts, skipped
}

// forcing measures parts that are too rare for marginals, one at a time.
type forcing struct {
	oracle oracles.Summer
	view   structured.Potentials
	u      structured.Marginals
	y      []int32
	value  [1]float64
}

// possible reports whether some output has p, and sets its reference.
func (f *forcing) possible(θ *structured.Potentials, b int, p *part) bool {
	if p.reference {
		return true
	}
	θ.View(b, &f.view)
	size := 0.0 // by more than twice as much no two outputs differ
	for k := range f.view.Parts {
		most := 0.0
		for _, x := range f.view.Parts[k].Values {
			if !math.IsInf(float64(x), -1) {
				most = max(most, math.Abs(float64(x)))
			}
		}
		size += most * float64(len(f.view.Parts[k].Values))
	}
	entry := &f.view.Parts[p.part].Values[p.at]
	was := *entry
	*entry += float32(min(2*size+1, structured.MostPotential/2))
	f.y = vec.Grow(f.y, f.view.OutputSize())
	f.oracle.Max(&f.view, f.y, f.value[:])
	*entry = was
	if math.IsInf(f.value[0], -1) {
		return false
	}
	has := false
	structured.Locate(&f.view, f.y, func(of, at int, _ int32) { has = has || of == p.part && at == p.at })
	if has {
		p.score, p.reference = f.view.Score(0, f.y), true
	}
	return has
}

// nll returns −log of the probability of p in example b at temperature t, whose sums are value. It adds to the
// potential of p by how much its reference scores less than all outputs together, c. Then p has a probability q of a
// half or more, whatever it had before, and
//
//	log P(p) = log q + (value with c − c − value)/t.
func (f *forcing) nll(θ *structured.Potentials, b int, p part, value, t float64) float64 {
	θ.View(b, &f.view)
	entry := &f.view.Parts[p.part].Values[p.at]
	was := *entry
	*entry = float32(float64(was) + max(0, value-p.score))
	c := float64(*entry) - float64(was) // as float32 has it
	f.oracle.Exp(&f.view, t, f.value[:], &f.u)
	*entry = was
	q := float64(f.u.Parts[p.part].Of(0)[p.at])
	return max(0, (value+c-f.value[0])/t-math.Log(q))
}
