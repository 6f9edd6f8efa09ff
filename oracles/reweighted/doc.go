// Package reweighted bounds the best score of a labeling, and the sum over all labelings, for graphs with loops of any
// size. The bounds are maxima over the local polytope, whose points are marginals of variables and edges that agree
// with each other, but that may belong to no distribution of labelings.
//
// # Sums
//
// Order the variables. Since the entropy of labels is Σ_v H(y_v | y of earlier variables), and knowing less does not
// lower an entropy, for weights w_j ≥ 0 that sum to 1 over the edges j from each variable v to earlier ones u(j),
//
//	μ log Σ_y exp(⟨θ, 1_y⟩/μ) ≤ max_u ⟨θ, u⟩ + μ Σ_v Σ_j w_j H(y_v | y_u(j))
//
// over the local polytope (Globerson and Jaakkola 2007). This is the tree-reweighted bound of Wainwright, Jaakkola and
// Willsky 2005 for a random forest in which every variable picks one edge to an earlier variable, edge j with
// probability w_j. The right-hand side is convex in θ, and equals the left-hand side if the graph is a forest.
//
// Its dual eliminates variables from the last to the first. With θ_v and all that was eliminated before in score_v,
//
//	Σ_{y_v} exp(score_v + Σ_j θ_j)  ≤  Π_j (Σ_{y_v} exp(θ_j/w_j + score_v + ν_j))^{w_j},   Σ_j w_j ν_j = 0,
//
// by Hölder's inequality, and every factor is a function of a single earlier variable. So any shifts ν give an upper
// bound, and derivatives of the bound are marginals that agree once ν is optimal. The descent moves ν towards
// agreement, and never lets the bound rise. It ends when the bound is close to the value of a point of the local
// polytope: that is certified, for value and for marginals.
//
// # Maxima
//
// Sequential tree-reweighted messages (Kolmogorov 2006) lower the dual of max ⟨θ, u⟩ over the local polytope, pass by
// pass, and labels are decided on the way.
package reweighted
