// Package matching is the inference of matchings (matchings.Matching): the best one by a dense assignment solver, the
// best one through every pair by shortest paths in the residual graph, and the K best ones by repeated max-marginals.
//
// The solver takes float32 scores and computes in float64. Its inner loops have vector versions, which give the same
// bits as the plain ones.
package matching
