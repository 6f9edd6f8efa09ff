// Package cudaoracles answers the questions of package oracles for batches of chains on a GPU: max, top-K, exp and smoothed
// answers, with the task loss added as the kernels load the potentials. Potentials and answers stay in the device's memory;
// ChainOracle moves them there and back for callers whose potentials are in the host's memory.
package cudaoracles
