// Package matchings is the structure of bipartite matchings: every source item is linked to at most one target item,
// and every target item to at most one source item. Aligning the words of two sentences is one.
package matchings
