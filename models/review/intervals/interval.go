package intervals

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// The methods of intervals.
const (
	Exact     = "Clopper-Pearson"
	Effective = "Korn-Graubard"
	recovered = "Newcombe"
)

// Interval says how far a number varies over data sets of the same size.
type Interval struct {
	Deviation float64 `json:"sd"`  // standard deviation
	Low       float64 `json:"low"` // the ends of the 95 % interval
	High      float64 `json:"high"`
	Method    string  `json:"interval"`          // Exact, Effective or recovered
	Caution   string  `json:"caution,omitempty"` // what the interval depends on beyond the outputs
}

// rounding bounds what rounding errors make of a standard deviation that is 0.
const rounding = 1e-12

// outside is the chance on either side of a 95 % interval.
const outside = 0.025

// ends gives the interval that has a chance of outside on either side.
type ends func(outside float64) Interval

// Interval returns the 95 % interval of the metric.
func (c Counts) Interval() Interval {
	i := c.ends()(outside)
	if i.Caution == "" {
		i.Caution = c.missing(i)
	}
	return i
}

// missing says which kind of outputs would have the truth below an interval, if these may well have none of it: outputs
// that are wrong as a whole. No spread of others tells that there are such; how many outputs there are does. A mean of
// several shares has intervals of each.
func (c Counts) missing(i Interval) string {
	value, n := c.Value(), c.counted()
	if len(c) == 0 || len(c[0]) != 2 || i.Method != Effective || value <= 0 {
		return ""
	}
	share := (value - i.Low) / value
	if math.Pow(1-share, float64(n)) <= unshown {
		return ""
	}
	return fmt.Sprintf("if 1 in %.0f outputs is wrong as a whole, of which %d outputs may hold none by chance, "+
		"the true value is below", 1/share, n)
}

func (c Counts) ends() ends {
	switch {
	case len(c) == 0:
		return func(float64) Interval {
			return Interval{Deviation: math.NaN(), Low: math.NaN(), High: math.NaN(), Method: Exact}
		}
	case len(c[0]) == 2:
		return c.share(0).ends()
	}
	return c.mean()
}

// mean gives the intervals of the mean of several shares. Each share has an interval of its own, from the outputs that
// have it, and one that no output has is anything from 0 to 1. How far their ends are from the shares stands for
// standard deviations there, which add up as the shares vary together (Zou and Donner 2008).
func (c Counts) mean() ends {
	value, terms := c.influences()
	i := Interval{Deviation: deviation(terms, c.counted()), Method: Effective}
	shares := len(c[0]) / 2
	all, values, of := make([]ends, shares), make([]float64, shares), make([][]float64, shares)
	for k := range shares {
		one := c.share(k)
		if values[k], of[k] = one.influences(); math.IsNaN(values[k]) {
			values[k], of[k] = value, nil
			all[k] = func(float64) Interval { return Interval{High: 1, Caution: unseen} }
		} else {
			all[k] = one.ends()
		}
		if x := all[k](outside); x.Caution == unseen || i.Caution == "" {
			i.Caution = x.Caution
		}
	}
	together := make([][]float64, shares)
	for k := range together {
		for l := range shares {
			ρ := 1.0
			if l != k {
				ρ = max(0, correlation(of[k], of[l]))
			}
			together[k] = append(together[k], ρ)
		}
	}
	return func(outside float64) Interval {
		below, above := 0.0, 0.0
		reached := make([]Interval, shares)
		for k := range reached {
			reached[k] = all[k](outside)
		}
		for k, x := range reached {
			for l, y := range reached {
				below += together[k][l] * (values[k] - x.Low) * (values[l] - y.Low)
				above += together[k][l] * (x.High - values[k]) * (y.High - values[l])
			}
		}
		x := i
		x.Low, x.High = max(0, value-math.Sqrt(below)/float64(shares)), min(1, value+math.Sqrt(above)/float64(shares))
		return x
	}
}

// What there is to say beside an interval.
const (
	unseen = "some classes are in no output, and count as anything from 0 to 100 %"
	large  = "a few large outputs weigh most: others may be missing, and the truth be outside"
)

func (c Counts) share(k int) share {
	one := share{make(Counts, len(c))}
	for i, row := range c {
		one.Counts[i] = row[2*k : 2*k+2]
	}
	return one
}

// correlation returns that of two vectors of influences; 0 where one does not vary.
func correlation(a, b []float64) float64 {
	product, squaresA, squaresB := 0.0, 0.0, 0.0
	for i := range min(len(a), len(b)) {
		product, squaresA, squaresB = product+a[i]*b[i], squaresA+a[i]*a[i], squaresB+b[i]*b[i]
	}
	if s := math.Sqrt(squaresA * squaresB); s > rounding*rounding {
		return max(-1, min(1, product/s))
	}
	return 0
}

// share are counts of one share.
type share struct{ Counts }

// What data may not have shown. The numbers were chosen so that intervals of the populations in coverage_test.go
// contain the truth.
const (
	few    = 40  // outputs, among which one of a rare kind is easily not seen
	partly = .05 // how much one that is all wrong counts where the others are counted in many small things
	uneven = 1.3 // where n outputs say no more than n/uneven of one size would, one like the largest may be missing
	// where they say no more than this part of n would, larger ones than all that were seen may be missing, too
	most = .5

	unshown = .2 // chance that outputs have none of a kind that matters, above which that is said
)

// ends gives the intervals of a share, those of as many independent trials as vary as much. What varies are the outputs
// that were seen, and one that was not, and is all wrong or all right.
func (s share) ends() ends {
	p, terms := s.influences()
	whole, squares, largest, n := 0.0, 0.0, 0.0, 0
	variance, fourth := 0.0, 0.0
	bounded := true
	for i, row := range s.Counts {
		if row[1] <= 0 {
			continue
		}
		n++
		whole, squares, largest = whole+row[1], squares+row[1]*row[1], max(largest, row[1])
		square := terms[i] * terms[i]
		variance, fourth = variance+square, fourth+square*square
		bounded = bounded && row[0] >= 0 && row[0] <= row[1]
	}
	i := Interval{Deviation: deviation(terms, n), Method: Exact}
	equal := 1.0 // so many outputs of one size say as much (Kish 1965)
	if squares > 0 {
		equal = whole * whole / squares
	}
	if equal < most*float64(n) {
		i.Caution = large
	}
	if i.Deviation <= rounding || bounded && (p <= 0 || p >= 1) || s.whole() {
		return func(outside float64) Interval {
			x := i
			x.Low, x.High = clopperPearson(p*equal, equal, outside)
			return x
		}
	}
	i.Method = Effective
	// The deviation is an estimate itself. Where few outputs make most of it, it has fewer degrees of freedom than
	// there are outputs.
	student := distuv.StudentsT{Sigma: 1, Nu: max(1, min(float64(n-1), 3*variance*variance/fourth-1))}
	if p <= 0 || p >= 1 { // errors may be more than there are things
		return func(outside float64) Interval {
			x, t := i, student.Quantile(1-outside)
			x.Low, x.High = p-t*i.Deviation, min(1, p+t*i.Deviation)
			return x
		}
	}
	integral, rare := s.integral(), 1.0
	if integral {
		rare = partly * min(1, few*few/float64(n*n))
	}
	missing := max(0, 1-uneven*equal/float64(n)) * (largest / whole) * (largest / whole)
	deviates := i.Deviation*i.Deviation + (p*p+(1-p)*(1-p))*max(rare/(equal*equal), missing)
	return func(outside float64) Interval {
		ratio := distuv.UnitNormal.Quantile(1-outside) / student.Quantile(1-outside)
		trials := max(equal, p*(1-p)/deviates*ratio*ratio)
		if integral { // things that are counted are not more trials than there are
			trials = min(trials, whole)
		}
		x := i
		x.Low, x.High = clopperPearson(p*trials, trials, outside)
		return x
	}
}

// clopperPearson returns the exact interval of a probability, of which right of that many trials came true, with a
// chance of outside on either side. Neither number has to be whole.
func clopperPearson(right, trials, outside float64) (low, high float64) {
	low, high = 0, 1
	if wrong := trials - right; right > rounding && wrong > rounding {
		return mathext.InvRegIncBeta(right, wrong+1, outside), mathext.InvRegIncBeta(right+1, wrong, 1-outside)
	}
	bound := math.Pow(outside, 1/math.Max(trials, rounding)) // of trials that all came out alike
	if right > rounding {
		low = bound
	} else {
		high = 1 - bound
	}
	return low, high
}
