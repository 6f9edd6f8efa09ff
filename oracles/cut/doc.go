// Package cut finds the best labels of graphs with two labels whose edges favour equal labels: a minimum cut, found as
// a maximum flow. For more labels, Expansion improves labels by cuts.
package cut
