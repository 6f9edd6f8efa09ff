// Package relaxation bounds the best value of a factor graph from above where exact inference is too expensive: it
// maximises over the local polytope, which contains the marginal polytope, and finds an assignment whose value is a
// bound from below.
//
// The bound is the dual of the relaxation. Messages λ_fv(x_v) move value between a factor f and a variable v without
// changing the value of any assignment:
//
//	max_x Σ_v θ_v(x_v) + Σ_f θ_f(x_f)  ≤  Σ_v max (θ_v + Σ_f λ_fv)  +  Σ_f max (θ_f − Σ_v λ_fv).
//
// Every choice of messages gives a valid bound. Sequential reweighted message passing (Kolmogorov 2015, which is TRW-S
// of Kolmogorov 2006 for pairs) lowers it, pass by pass, and never raises it.
package relaxation
