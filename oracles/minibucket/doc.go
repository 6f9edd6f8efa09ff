// Package minibucket bounds log Z, the logarithm of the partition function of a factor graph of any order, from above
// and below, where exact inference is too expensive.
//
// # From above
//
// Bucket elimination sums up the variables one after the other. The factors and messages that mention a variable form
// its bucket, whose table grows exponentially with the width of the graph. So a bucket is split into mini-buckets r
// with small tables f_r, and by Hölder's inequality
//
//	Σ_x Π_r f_r  ≤  Π_r (Σ_x f_r^{1/w_r})^{w_r},   w_r > 0,  Σ_r w_r = 1,
//
// for every state of the other variables (Liu and Ihler 2011). The dual of the bound is a maximum over pseudo-marginals
// u that agree where mini-buckets meet:
//
//	log Z ≤ max_u ⟨θ, u⟩ + Σ_v Σ_r w_r H(x_v | the other variables of r),
//
// since knowing less does not lower an entropy. If all tables are those of two variables, this is the tree-reweighted
// entropy of a random forest in which v picks the edge r with probability w_r, as in package reweighted. Larger tables
// make it tighter, and exact once no bucket is split.
//
// Shifts ν_r(x_v) with Σ_r ν_r = 0 move scores between the mini-buckets of a variable, and weights move towards those
// that know most about it. Both descend along the gradient of the bound, and never raise it: any shifts and weights
// give a valid bound.
//
// # From below
//
// For any distribution q, log Z ≥ ⟨θ, q⟩ + H(q). The mean field q is a product of distributions of single variables,
// improved one at a time, which never lowers the bound.
package minibucket
