package cut

import "math"

// term is what the potentials of an edge between u and v cost, up to a constant: u if y_u = 1, v if y_v = 1, forward if
// y_u = 0 and y_v = 1, backward if y_u = 1 and y_v = 0. A negative u or v is what label 0 costs. All may be infinite.
//
// forward and backward are equal or one of them is infinite. A negative forward is half of what the edge lacks to be
// submodular; then size is Σ |potential|.
type term struct {
	u, v, forward, backward, size float64
}

var inf = math.Inf(1)

// termOf returns the term of an edge with potentials θ(y_u, y_v). legal is false if equal labels are forbidden and
// different ones are not, which no cut can say: the term then forbids nothing.
func termOf(θ00, θ01, θ10, θ11 float64) (t term, legal bool) {
	if θ00+θ01+θ10+θ11 == -inf {
		return forbidding(θ00, θ01, θ10, θ11)
	}
	half, lean := (θ00+θ11-θ01-θ10)/2, (θ01-θ10)/2
	return term{(θ00-θ11)/2 + lean, (θ00-θ11)/2 - lean, half, half, math.Abs(θ00) + math.Abs(θ01) +
		math.Abs(θ10) + math.Abs(θ11)}, true
}

// forbidding is termOf for potentials some of which are −∞.
func forbidding(θ00, θ01, θ10, θ11 float64) (t term, legal bool) {
	out := func(θ float64) bool { return θ == -inf }
	switch {
	case out(θ00) && out(θ01): // y_u = 1
		return term{u: -inf, v: difference(θ10, θ11)}, true
	case out(θ10) && out(θ11): // y_u = 0
		return term{u: inf, v: difference(θ00, θ01)}, true
	case out(θ00) && out(θ10): // y_v = 1
		return term{u: difference(θ01, θ11), v: -inf}, true
	case out(θ01) && out(θ11): // y_v = 0
		return term{u: difference(θ00, θ10), v: inf}, true
	case out(θ00) && out(θ11):
		return term{u: (θ01 - θ10) / 2, v: (θ10 - θ01) / 2}, false
	case out(θ00):
		return term{u: θ01 - θ11, v: θ10 - θ11}, false
	case out(θ11):
		return term{u: θ00 - θ10, v: θ00 - θ01}, false
	case out(θ01) && out(θ10):
		return term{u: θ00 - θ11, forward: inf, backward: inf}, true
	case out(θ01):
		return term{u: θ00 - θ10, v: θ10 - θ11, forward: inf}, true
	}
	return term{u: θ01 - θ11, v: θ00 - θ01, backward: inf}, true
}

// difference returns a − b, NaN if both are −∞, so that nothing is allowed.
func difference(a, b float64) float64 { return a - b }
