// Package query answers questions about a factor graph by the oracle that is asked for, or by the cheapest exact one
// that fits it:
//
//	tree      exact, for graphs without loops: the tables of a junction tree are those of the factors
//	cut       exact, best assignment only: one minimum cut, for variables of two states and factors that favour equal
//	          ones
//	junction  exact; its tables grow exponentially with the width of the graph
//	search    at any time an answer and how good it is, in the end exact: branch and bound for the best assignment,
//	          conditioning for sums
//	relaxed   bounds for every graph: reweighted messages for the best assignment, mini-buckets and a mean field for sums
package query
