// Package oracles does inference: given potentials θ it finds best outputs, their smoothed combinations and marginals.
//
// An Oracle knows one structure. Smoothing turns its three questions (max, top-K, exp) into the value and the marginals
// that learning needs. One algorithm a file; every oracle passes one contract suite against enumeration.
package oracles
