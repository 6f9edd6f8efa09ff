// Package nets turns inputs into potentials. A network is a Gorgonia expression graph with Gorgonia's symbolic
// gradient, which nets/graph lowers, once per size of a batch, to a small program. Besides score (w → θ) and pullback
// (v → Jᵀv) a program computes the push-forward (ẇ → Jẇ), and with it the network linearised at a point, which the
// prox-linear method optimises.
//
// Make makes the network that a Config chooses: a preset, a stack of layers (stack.go), or a registered network
// (register.go). Build makes a custom network from a graph.Spec. Each returns a Net. Its weights are one flat vector,
// whose layout is Net.Layout. Net.Program returns the program for a size, so that other devices can run it. Linear
// scorers of sparse inputs are in nets/sparse, the inner loops of both in nets/kernels, checks of networks in
// nets/netstest.
package nets
