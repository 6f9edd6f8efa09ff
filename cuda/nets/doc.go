// Package cudanets computes potentials on a GPU. Data is a data set in the device's memory and Batch a choice of its examples.
// A Scorer maps weights and a batch to potentials, and pulls gradients back: Executor runs the networks of package nets,
// Linearised their linearisation at a point, SparseLinear linear scorers of attributes.
package cudanets
