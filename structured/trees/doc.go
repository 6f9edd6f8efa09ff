// Package trees holds dependency trees as data: what makes heads a tree, how treebanks in CoNLL-U are read and written back,
// projectivity, and attachment scores.
//
// Words are numbered from 1 as in CoNLL-U, and slices hold word t at index t−1. The head of a word is the number of another
// word, or 0 for the root of the sentence, of which there is exactly one.
package trees
