// Package cudaoracles implements the oracles of package oracles for batches of chains on a GPU: max, top-K, exp and
// smoothed answers. Kernels add the task loss as they load the potentials. Potentials and answers stay in the device's
// memory; ChainOracle copies them for callers whose potentials are in the host's memory.
package cudaoracles
