// Package branching finds the best assignment of a factor graph of any order, and proves it: a solver that can be
// stopped at any time with its best assignment so far and an upper bound of the best value.
//
// It works in whole numbers (network.go), so that bounds and pruning are exact; what rounding the tables loses is told.
// Its stages are
//
//	functional.go     variables that others settle, as equality does, are left out
//	messages.go       value moves between tables, which lowers a bound (sequential reweighted message passing);
//	                  states that can be in no better assignment go
//	local.go          local search for better assignments, before the tree and beside the search: blocks of variables
//	                  are set to their best states, given the others (neighbourhood.go), in turns with changes that
//	                  are accepted though they are worse (annealing.go)
//	order.go, tree.go an order of elimination, and the tree of what depends on what in it
//	buckets.go        a bound for every partial assignment in that order: mini-bucket elimination, exact wherever
//	                  nothing has to be split
//	search.go         limited discrepancies for better assignments, then AND/OR branch and bound for the proof
//	bestfirst.go      best-first search that passes messages anew at each node; it wins where few decisions settle
//	                  the rest
//	branch.go         turns of both searches, with buckets that grow where they get long
//
// Everything follows from the model, the limits and the seed: only when it is stopped depends on time.
package branching
