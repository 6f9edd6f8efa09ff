// Package treebank reads and writes dependency trees in CoNLL-U and makes data sets of them.
package treebank
