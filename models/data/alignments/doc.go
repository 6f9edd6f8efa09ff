// Package alignments holds sentence pairs with word alignments: it reads and writes them in Pharaoh format, makes data
// sets of them, and computes the alignment error rate.
//
// A link joins a source word to a target word. Annotators mark links as sure, or as possible where they doubt or
// disagree. Every sure link counts as possible, too (Och and Ney 2003).
package alignments
