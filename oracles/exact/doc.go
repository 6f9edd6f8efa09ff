// Package exact does exact inference for labels on the variables of a graph whose edges score pairs of labels: the best
// labels, the K best, and sums over all of them.
//
// Forests are found by themselves and cost O(V·Y²) for Y labels (Algorithms 7 to 9 of Pillutla et al. 2019). Graphs
// with loops go through a junction tree (package junction), whose tables are exponential in the width of the graph.
//
// Inference is in float64 throughout. Nothing recurses, so a path of a million variables is no problem.
package exact
