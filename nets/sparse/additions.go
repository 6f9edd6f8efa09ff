package sparse

import (
	"math"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// Additions are what calls of Measure have added to weights that began at zero: enough for a bound on how far the
// weights are from the sums in exact arithmetic (Drift).
type Additions struct {
	Count int     // of additions, each to the rows of one position or to one block of weights; −1 if they are unknown
	After float64 // Σ of the squares of the weights after each
	Moved float64 // Σ of c²‖v‖² of each, where attributes of one position count once
}

const unknown = -1

// add adds more additions, which are known or not.
func (a *Additions) add(more Additions, known bool) {
	if a.Count == unknown || !known {
		*a = Additions{Count: unknown}
		return
	}
	a.Count, a.After, a.Moved = a.Count+more.Count, a.After+more.After, a.Moved+more.Moved
}

// mostTerms is how many numbers a sum in float32 may have at most if it is to be known to a share of 1/4.
const mostTerms = 1 << 21

// unit is the relative error of an operation in float32.
const unit = 0x1p-24

// Drift bounds ‖w − w̃‖, where w̃ is the sum in exact arithmetic of c·x_a·v for all additions, x_a being the value of
// attribute a, for data of this reach. The numbers c and v themselves may have relative errors of four units.
//
// An addition leaves w'_j = (w_j + δ_j)(1 + e) with |e| ≤ ε, and δ_j is c·x_a·v_j but for a rounding of the product
// c·x_a, one of its product with v_j where the processor rounds that, and those of c and v: it errs by no more than
// ε(|w'_j| + 7|δ_j|), in first order. Errors of one weight add up, so that w − w̃ is no larger, entry by entry, than
// ε times the sum over additions of vectors |w'| + 7|δ|, which are zero where the addition does not reach. In one
// addition an entry counts as often as its attribute occurs. With m additions, Σ‖w'‖ ≤ √(m Σ‖w'‖²), and likewise Σ‖δ‖,
// where ‖δ‖² ≤ c²‖v‖² Σx_a².
func (a Additions) Drift(reach *Reach) float64 {
	if a.Count == unknown {
		return math.Inf(1)
	}
	m := float64(a.Count) * float64(reach.Times)
	return 1.01 * unit * (math.Sqrt(m*a.After) + 7*math.Sqrt(m*a.Moved*reach.Squares))
}

// Reach says how attributes occur in the rows of data, and how much all rows together move weights.
type Reach struct {
	Times   int       // 1 + the occurrences in a row that are not an attribute's first, at most: none occurs more often
	Squares float64   // Σx_a² of a row, at most, where a bias counts as an attribute; at least 1
	counts  []float64 // by row of weights: Σ over examples i of c_i Σ|x_a|
}

// ReachOf returns the reach of examples first to end−1, in the rows of all parts that s scores but for tied ones.
func (s *Linear) ReachOf(data *structured.Dataset, first, end int) Reach {
	reach := Reach{Times: 1, Squares: 1, counts: make([]float64, s.NumRows())}
	seen := make([]int32, len(reach.counts)) // 1 + the last row of a part with the attribute
	for k := range s.parts {
		p := &s.parts[k]
		if p.Rows == structured.Tied {
			continue
		}
		x, rows, at := data.AttributesOf(p.Shape), data.Rows(p.Rows), p.first
		for i := first; i < end; i++ {
			c := data.Weight(i)
			if p.bias >= 0 {
				reach.counts[p.first] += c * float64(rows[i+1]-rows[i])
				at = p.first + 1
			}
			if x == nil || p.attributes == 0 {
				continue
			}
			for r := rows[i]; r < rows[i+1]; r++ {
				index, value := x.Row(r)
				mark, again, squares := int32(r+1), 0, 1.0
				for n, a := range index {
					a += at
					if seen[a] == mark {
						again++
					}
					seen[a] = mark
					v := float64(kernels.ValueAt(value, n))
					reach.counts[a] += c * math.Abs(v)
					squares += v * v
				}
				reach.Times, reach.Squares = max(reach.Times, 1+again), max(reach.Squares, squares)
			}
		}
	}
	return reach
}

// Add adds the reach of other examples.
func (r *Reach) Add(other Reach) {
	r.Times, r.Squares = max(r.Times, other.Times), max(r.Squares, other.Squares)
	for a, x := range other.counts {
		r.counts[a] += x
	}
}

// Length bounds ‖Σ c_i J_iᵀu_i‖ for u_i ≥ 0 that are 0 in tied parts and of which no row sums to more than 1: in the
// row of weights of an attribute, entries of the sum are at least 0 and sum to no more than its count.
func (r Reach) Length() float64 {
	square := 0.0
	for _, x := range r.counts {
		square += x * x
	}
	return math.Sqrt(square)
}
