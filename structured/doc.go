// Package structured defines what all structures share: data sets and batches, potentials and marginals as ragged
// tables (parts), the interfaces of structures, task losses and evaluators, and metrics. Its folders hold one structure
// each, the readers of data, and the templates that turn text into attributes.
//
// Everything lives in potential space. An example i has potentials θ_i, for instance one number per node and label and
// one per pair of neighbouring labels. An output y is the 0/1 indicator 1_y in the same space, so that score(y) = ⟨θ_i,
// 1_y⟩. An oracle answers with a point u of the marginal polytope, the convex hull of those indicators.
package structured
