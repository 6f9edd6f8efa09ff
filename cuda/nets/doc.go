// Package cudanets computes potentials on a GPU. Data is a data set in the device's memory, and Batch a choice of its examples.
// A Scorer maps weights and a batch to potentials, and pulls gradients back. Executor runs the networks of package nets,
// Linearised their linearisation at a point, and SparseLinear linear scorers on attributes.
package cudanets
