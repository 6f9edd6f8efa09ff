// Package oracles does inference: given potentials θ it finds best outputs, smoothed maxima and marginals.
//
// An oracle serves one structure and implements up to three interfaces: Maximiser, Ranker and Summer. Smoothing turns their
// answers (max, top-K, exp) into the value and the marginals that learning needs. Every file holds one algorithm, and every
// oracle passes one contract suite against enumeration (package oracletest).
package oracles
