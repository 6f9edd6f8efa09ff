// Package cudanets computes potentials on a GPU, from batches of data that package resident keeps there. A Scorer maps
// weights and a batch to potentials, and pulls gradients back. Executor runs the networks of package nets, Linearised
// their linearisation at a point, and SparseLinear linear scorers on attributes.
package cudanets
