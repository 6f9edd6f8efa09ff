// Package trees defines dependency trees: the structure and its task loss, checks that heads form a tree, projectivity,
// and attachment scores.
//
// Words are numbered from 1 as in CoNLL-U, and slices hold word t at index t−1. The head of a word is the number of
// another word, or 0 for the root of the sentence; exactly one word has head 0.
package trees
