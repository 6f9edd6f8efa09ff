// Package nets turns inputs into potentials. A network is a Gorgonia expression graph with Gorgonia's symbolic gradient. The
// package lowers the graph, once per Size, to a small program that reuses its buffers. Besides score (w → θ) and pullback
// (v → Jᵀv) a program computes the push-forward (ẇ → Jẇ), and with it the network linearised at a point, which the prox-linear
// method optimises.
//
// Make makes the network that a Config chooses: a preset, a stack of layers (stack.go), or a registered network (register.go).
// Build makes a custom network from a Spec. Each returns a Net. Its weights are one flat vector, whose layout is Net.Layout. Linear
// scorers of sparse inputs are in nets/sparse, the inner loops of both in nets/kernels, checks of networks in nets/netstest.
//
// To compute a batch, the positions of all its examples become the rows of one matrix, padded to one of a few heights
// (Bucket); pairs of positions and the characters of words become the rows of other matrices (pairs.go, characters.go). Each
// Size has a program, made in these steps: the Spec builds its graph (outputs.go), Gorgonia adds the pullback (differentiate
// in program.go), the nodes become values (lower.go), graphs that mix rows of different examples are refused (rowaxis.go), the
// push-forward is added op by op (tangent.go), and the planner orders and fuses the values and places their buffers in one
// arena (planner.go). Each op is a type with its tangent rule and its loop: matmul.go, elementwise.go, gather.go, reduce.go,
// shape.go, softmax.go, pool.go, bilinear.go, segmentmax.go, bag.go, attention.go, positions.go, recurrence.go,
// normalise.go, ownop.go. A Gorgonia op without such a type is an error that names it. Net.Program returns the program, so that other
// devices can run it.
package nets
