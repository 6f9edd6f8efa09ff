package uai

import (
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/query"
)

// wholeSums bounds the sum of all tables' largest costs below which every sum and difference of costs, and half of one,
// is exact in float64.
const wholeSums = 1 << 52

// CostNetwork is a weighted constraint network, whose costs are whole numbers. An assignment costs Least, and what
// Model's value is below zero.
type CostNetwork struct {
	Model *factors.Model
	Upper int64 // what solutions cost less than
	// what every assignment costs at least, which the tables lack; 0 where float64 has room for all sums of costs
	// without it; at most Upper
	Least int64
	Error float64 // by which a value of Model may be off, 0 where float64 has room for all sums
}

// network makes the model of what was read: costs times −1.
func (c *costs) network() *CostNetwork {
	n := &CostNetwork{Model: c.model, Upper: c.upper}
	size := func(least bool) (sum float64) {
		for _, table := range c.tables {
			low, high := c.ends(table)
			if least {
				high -= low
			}
			sum += float64(high)
		}
		return sum
	}
	shift := size(false) >= wholeSums
	if left := size(true); shift && left >= wholeSums {
		n.Error = float64(len(c.tables)+1) * (math.Nextafter(left, math.Inf(1)) - left)
	}
	made := map[*int64][]float64{} // tables that functions share stay one
	for f, table := range c.tables {
		low := int64(0)
		if shift {
			low, _ = c.ends(table)
			n.Least = min(n.Least+min(low, c.upper-n.Least), c.upper)
		}
		of := made[&table[0]]
		if of == nil {
			of = make([]float64, len(table))
			for k, cost := range table {
				if of[k] = math.Inf(-1); cost < c.upper {
					of[k] = -float64(cost - low)
				}
			}
			made[&table[0]] = of
		}
		c.model.Factors[f].Table = of
	}
	return n
}

// ends returns the least and the largest cost of a table that is not forbidden; 0 if all are.
func (c *costs) ends(table []int64) (low, high int64) {
	low = c.upper
	for _, cost := range table {
		if cost < c.upper {
			low, high = min(low, cost), max(high, cost)
		}
	}
	return min(low, high), high
}

// Cost returns what the assignment of an answer costs, and whether that is known exactly: an answer about Model with
// states.
func (n *CostNetwork) Cost(a *query.Answer) (cost int64, ok bool) {
	if a.States == nil || n.Error > 0 || math.IsInf(a.Value, -1) || float64(n.Upper-n.Least) < -a.Value {
		return 0, false
	}
	return n.Least + int64(math.Round(-a.Value)), true
}

// Restore makes an answer about Model one about the network. It is not exact where rounding may hide a whole cost.
func (n *CostNetwork) Restore(a *query.Answer) {
	if rounding := 2 * n.Error; rounding > 0 || a.Rounding >= 0.5 {
		a.Exact, a.Value, a.Bound, a.Rounding = false, a.Value-n.Error, a.Bound+n.Error, a.Rounding+rounding
	}
	if n.Least == 0 {
		return
	}
	a.Estimate -= float64(n.Least)
	a.Value -= float64(n.Least)
	if a.Exact {
		a.Bound = a.Value
		return
	}
	a.Bound = math.Nextafter(a.Bound-float64(n.Least), math.Inf(1))
}
