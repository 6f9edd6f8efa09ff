// Package uai reads graphical models and evidence, and writes answers, in the text formats of the UAI inference
// competitions, and reads models in toulbar2's (wcsp.go). The competitions' formats:
// https://uaicompetition.github.io/uci-2022/file-formats/. A model file holds
//
//	MARKOV or BAYES
//	the number of variables, and the number of states of each
//	the number of factors, and of each the number of variables and the variables
//	of each factor the number of entries and the entries, the last variable changing fastest
//
// as words separated by white space. Evidence is the number of observed variables and, for each, the variable and its
// state.
package uai
