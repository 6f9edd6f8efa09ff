package intervals

import (
	"math"
	"slices"
)

// Counts are what a metric is made of, output by output: the part and the whole of each share, [outputs][2×shares]. The
// metric is the mean of Σ part / Σ whole over the shares with a whole; the sums are over outputs.
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

// Condensed returns counts of at most that many numbers, for a file: those of blocks of outputs, which are independent
// as outputs are.
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

// integral reports whether parts are whole numbers.
func (c Counts) integral() bool {
	return !slices.ContainsFunc(c, func(row []float64) bool { return row[0] != math.Trunc(row[0]) })
}
