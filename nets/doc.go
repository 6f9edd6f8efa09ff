// Package nets turns inputs into potentials. A network is a Gorgonia expression graph with Gorgonia's symbolic gradient,
// lowered once per shape to a small program of ours that runs with reused buffers. Beside score (w → θ) and pullback
// (v → Jᵀv) it offers the push-forward (ẇ → Jẇ), and with it the network linearised at a point, which is what the
// prox-linear method optimises.
//
// New makes one of the presets for chains, NewBiaffine the one for dependency trees, Build a network of one's own from a
// Spec. All give a Net, whose weights are one flat vector, laid out as Net.Layout says.
//
// How a batch is computed: the positions of all its examples are the rows of one matrix, padded to one of a few heights;
// pairs of positions are the rows of others (pairs.go); and for each Size there is a program. To make one, the Spec builds
// its graph (outputs.go), Gorgonia adds the pullback (differentiate, in program.go), the nodes become values (lower.go), a
// graph that mixes rows of different examples is refused (rowaxis.go), the values' push-forward is added rule by rule
// (tangent.go), the values are put in order and fused (planner.go) and their buffers placed in one arena (arena.go). An
// op is one type, with its rule for tangents and its loop: matmul.go, elementwise.go, gather.go, reduce.go, shape.go,
// softmax.go, pool.go, bilinear.go. A Gorgonia op that is not among them is an error that names it. Net.Program shows the
// result, for other machines to run.
//
// Matrix products come from kernels of our own on amd64, from OpenBLAS where it is installed and they are not to be
// had, or from gonum; the environment variable DSP_BLAS (own, openblas, gonum) asks for one.
package nets
