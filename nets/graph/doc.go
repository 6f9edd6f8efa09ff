// Package graph holds what networks are made of. A Spec builds a Gorgonia graph with the methods of a Graph; Compile lowers the graph,
// with Gorgonia's symbolic gradient, to a Program for one Size, and a Machine runs it.
//
// To compute a batch, the positions of all its examples become the rows of one matrix, padded to one of a few heights
// (Bucket); pairs of positions and the characters of words become the rows of other matrices (pairs.go, characters.go). Each
// Size has a program, made in these steps: the Spec builds its graph (spec.go), Gorgonia adds the pullback (differentiate.go),
// the nodes become values (lower.go), graphs that mix rows of different examples are refused (rowaxis.go), the
// push-forward is added op by op, and the planner orders and fuses the values and places their buffers in one
// arena (planner.go). Each op is a type with its tangent rule and its loop: matmul.go, elementwise.go, gather.go, reduce.go,
// shape.go, pool.go, bilinear.go, align.go, segmentmax.go, grid.go, bag.go, conv.go, attention.go, related.go, relatedpull.go, positions.go, recurrence.go,
// normalise.go, ownop.go. Forward programs, for networks that are not trained, fuse ops over weights
// that stay the same (forward.go, fuse.go). A Gorgonia op without such a type is an error that names it. Other devices run a Program, too: its
// instructions and ops are exported.
package graph
