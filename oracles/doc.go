// Package oracles does inference: given potentials θ it finds best outputs, smoothed maxima and marginals.
//
// An oracle serves one structure and implements Maximiser, and as far as the structure allows Ranker and Summer. One
// whose answers may be bounds implements Relaxed. Smoothing turns the answers (max, top-K, exp) into the value and the
// marginals that learning needs. Every file holds one algorithm, and every oracle passes one contract suite against
// enumeration (package oracletest).
package oracles
