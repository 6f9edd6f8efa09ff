package intervals

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Counts are what a metric is made of, output by output: the part and the whole of each share, [outputs][2×shares]. The metric is the mean of
// Σ part / Σ whole over the shares with a whole; the sums are over outputs.
type Counts [][]float64

// sum adds up the outputs.
func (c Counts) sum() []float64 {
	if len(c) == 0 {
		return nil
	}
	total := make([]float64, len(c[0]))
	for _, row := range c {
		for k, x := range row {
			total[k] += x
		}
	}
	return total
}

// valueOf returns the metric of sums, NaN if no share has a whole.
func valueOf(total []float64) float64 {
	sum, shares := 0.0, 0.0
	for k := 0; k < len(total); k += 2 {
		if total[k+1] > 0 {
			sum += total[k] / total[k+1]
			shares++
		}
	}
	return sum / shares
}

// Value returns the metric, NaN if it is not defined.
func (c Counts) Value() float64 { return valueOf(c.sum()) }

// influences returns the metric, and how much each output moves it, to first order. They sum to 0.
func (c Counts) influences() (value float64, of []float64) {
	total := c.sum()
	shares := 0.0
	for k := 0; k < len(total); k += 2 {
		if total[k+1] > 0 {
			shares++
		}
	}
	of = make([]float64, len(c))
	for i, row := range c {
		for k := 0; k < len(row); k += 2 {
			if whole := total[k+1]; whole > 0 {
				of[i] += (row[k] - total[k]/whole*row[k+1]) / whole / shares
			}
		}
	}
	return valueOf(total), of
}

// deviation returns the standard deviation of a sum of independent terms, of which n are not 0 for certain.
func deviation(terms []float64, n int) float64 {
	squares := 0.0
	for _, x := range terms {
		squares += x * x
	}
	return math.Sqrt(squares * float64(n) / float64(max(1, n-1)))
}

// counted returns how many outputs have a part in the metric.
func (c Counts) counted() int {
	n := 0
	for _, row := range c {
		for k := 1; k < len(row); k += 2 {
			if row[k] > 0 {
				n++
				break
			}
		}
	}
	return n
}

// whole reports whether the metric is the share of outputs that are right or wrong as a whole.
func (c Counts) whole() bool {
	return !slices.ContainsFunc(c, func(row []float64) bool {
		return len(row) != 2 || row[1] > 1 || row[0] != 0 && row[0] != row[1]
	})
}

// Condensed returns counts of at most that many numbers, for a file: those of blocks of outputs, which are independent as outputs are.
func (c Counts) Condensed(numbers int) Counts {
	if len(c) == 0 || len(c)*len(c[0]) <= numbers {
		return c
	}
	return c.blocks(max(2, numbers/len(c[0])))
}

// blocks adds up neighbouring outputs, so that n rows are left.
func (c Counts) blocks(n int) Counts {
	if len(c) <= n {
		return c
	}
	all := make(Counts, n)
	for b := range all {
		all[b] = c[b*len(c)/n : (b+1)*len(c)/n].sum()
	}
	return all
}

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
	Method    string  `json:"interval"` // Exact, Effective or Recovered
}

// Interval returns the interval of the metric.
func (c Counts) Interval() Interval {
	p, terms := c.influences()
	n := c.counted()
	i := Interval{Deviation: deviation(terms, n), Method: Exact}
	trials := float64(n)
	if i.Deviation > rounding && p > 0 && p < 1 && !c.whole() {
		i.Method, trials = Effective, c.effective(p, i.Deviation, n)
	}
	i.Low, i.High = clopperPearson(p*trials, trials)
	return i
}

// rounding bounds what rounding errors make of a standard deviation that is 0.
const rounding = 1e-12

// confidence is the chance on either side of an interval.
const outside = 0.025

// effective returns how many independent trials vary as much as a share p of that standard deviation over n outputs. The deviation is an
// estimate itself, with n−1 degrees of freedom, for which Student's distribution allows. Things that are counted, such as tokens, are not
// more trials than there are.
func (c Counts) effective(p, deviation float64, n int) float64 {
	normal := distuv.UnitNormal.Quantile(1 - outside)
	student := distuv.StudentsT{Sigma: 1, Nu: float64(max(1, n-1))}.Quantile(1 - outside)
	trials := p * (1 - p) / (deviation * deviation) * (normal / student) * (normal / student)
	if total := c.sum(); len(total) == 2 && c.integral() {
		return min(trials, total[1])
	}
	return trials
}

// integral reports whether parts are whole numbers.
func (c Counts) integral() bool {
	return !slices.ContainsFunc(c, func(row []float64) bool { return row[0] != math.Trunc(row[0]) })
}

// clopperPearson returns the exact 95 % interval of a probability, of which right of that many trials came true. Neither has to be a
// whole number.
func clopperPearson(right, trials float64) (low, high float64) {
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
