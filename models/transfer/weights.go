// Package transfer carries the weights of one network over to another whose labels, words and attributes continue those
// of the first.
package transfer

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/nets/graph"
)

// Sizes are the numbers of names that the axes of parameters run over, of labels, words, attributes and so on. A larger
// network numbers the names of the smaller one alike, and its own after them.
type Sizes struct {
	Labels int
	Others []int // of the words, characters and attributes; 0 where a network has none
}

// aliases are parameters that linear models and other networks name differently.
var aliases = map[string]string{"transition": "transitions", "transitions": "transition"}

// Linear are the names of the parameters of a network without layers, and those of the same weights in a linear model
// of attributes and dense features.
var Linear = map[string]string{"node.weight": "dense", "node.bias": "bias"}

// Weights copies the weights of every array that both layouts have, under the same name or one that other networks have
// for it, into w. More are such names. Where an array has grown along an axis because there are more names, its old
// entries are copied to their place, and the new ones become zero. It returns the names of the arrays of the new layout
// that it filled, and of those that it left as they were: the old layout lacks them, or has them in a shape that more
// names do not explain.
func Weights(to graph.Layout, w []float32, is Sizes, from graph.Layout, old []float32, was Sizes,
	more map[string]string) (taken, left []string) {
	for _, a := range to {
		b, ok := from.Find(a.Name)
		if !ok {
			b, ok = from.Find(cmp.Or(aliases[a.Name], more[a.Name]))
		}
		var places [][]int
		if ok {
			places, ok = axes(a.Shape, is, b.Shape, was)
		}
		if !ok {
			left = append(left, a.Name)
			continue
		}
		taken = append(taken, a.Name)
		into := a.Of(w)
		clear(into)
		scatter(into, a.Shape, b.Of(old), b.Shape, places)
	}
	return taken, left
}

// axes returns, for every axis, the new index of each old one; false if the shapes do not go together.
func axes(to []int, is Sizes, from []int, was Sizes) (places [][]int, ok bool) {
	if len(to) != len(from) {
		return nil, false
	}
	for k := range to {
		place := axis(to[k], is, from[k], was)
		if place == nil {
			return nil, false
		}
		places = append(places, place)
	}
	return places, true
}

// axis returns the new index of each old one along one axis; nil if more names do not explain the sizes. An axis over
// pairs of labels has row·Labels + column.
func axis(to int, is Sizes, from int, was Sizes) []int {
	first := func(n int) []int {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	switch {
	case to == from && (from != was.Labels*was.Labels || is.Labels == was.Labels):
		return first(from)
	case from == was.Labels && to == is.Labels, from == was.Labels+1 && to == is.Labels+1: // none, and then the labels
		return first(from)
	case was.Labels > 0 && from%(was.Labels*was.Labels) == 0 && to%(is.Labels*is.Labels) == 0 &&
		from/(was.Labels*was.Labels) == to/(is.Labels*is.Labels):
		all := make([]int, from)
		for i := range all {
			table, pair := i/(was.Labels*was.Labels), i%(was.Labels*was.Labels)
			all[i] = (table*is.Labels+pair/was.Labels)*is.Labels + pair%was.Labels
		}
		return all
	}
	for k, n := range was.Others {
		if n == from && k < len(is.Others) && is.Others[k] == to && n > 0 {
			return first(from)
		}
	}
	return nil
}

// scatter copies an array into a larger one.
func scatter(to []float32, shape []int, from []float32, was []int, places [][]int) {
	index := make([]int, len(was))
	last := len(was) - 1
	if slices.Contains(was, 0) {
		return
	}
	if last < 0 { // a number
		copy(to, from)
		return
	}
	for at := 0; at < len(from); at += was[last] {
		base := 0
		for k := range last {
			base = base*shape[k] + places[k][index[k]]
		}
		base *= shape[last]
		for i, x := range from[at : at+was[last]] {
			to[base+places[last][i]] = x
		}
		for k := last - 1; k >= 0; k-- {
			if index[k]++; index[k] < was[k] {
				break
			}
			index[k] = 0
		}
	}
}
