// Package graphs is the structure of labels on the variables of a graph whose edges score pairs of labels: parts, loss, constraints
// and enumeration.
package graphs
