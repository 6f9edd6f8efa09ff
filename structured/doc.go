// Package structured says what an output is: ragged batches of chains, their potentials and marginals, labelings, task
// losses and metrics, and the readers that bring data in.
//
// Everything lives in potential space. An example i has potentials θ_i (a number for every node-label, and for every
// label pair of an edge); an output y is the 0/1 indicator 1_y in the same space, so that score(y) = ⟨θ_i, 1_y⟩; an
// oracle answers with a point u of the marginal polytope, the convex hull of those indicators.
package structured
