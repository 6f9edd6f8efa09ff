// Package tree does inference for dependency trees: the best tree, the K best trees, and sums over all trees with the
// marginals of arcs, for projective trees (Eisner's algorithm) and for all trees (Chu-Liu-Edmonds, the matrix-tree
// theorem).
//
// A sentence of n tokens is given as n×n arc scores: arc[d*n+h] scores head h of dependent d, both from 0, and the
// diagonal arc[d*n+d] scores the root as head of d. A score of −∞ forbids the arc; no score is NaN or +∞. Exactly one
// token has the root as its head. Trees are written as in CoNLL: heads[d] is 0 for the root, else the head's number
// from 1.
//
// Sums over all trees of a batch are those of several sentences of one length at a time, where they are; the answer for
// each is the same.
//
// A sentence without tokens has one tree, the empty one, with value 0. If no tree is allowed, values are −∞.
package tree
