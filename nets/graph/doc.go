// Package graph holds what networks are made of. A Spec builds a Gorgonia graph with the methods of a Graph; Compile
// lowers the graph, with Gorgonia's symbolic gradient, to a Program for one Size, and a Machine runs it.
//
// To compute a batch, the positions of all its examples become the rows of one matrix, padded to one of a few heights
// (Bucket); pairs of positions and the characters of words become the rows of other matrices (pairs.go, characters.go).
// Each Size has a program, made in these steps: the Spec builds its graph (spec.go), Gorgonia adds the pullback
// (differentiate.go), the nodes become values (lower.go, fields.go), graphs that mix rows of different examples are
// refused (rowaxis.go), the push-forward is added op by op, and the planner orders and fuses the values and places
// their buffers in one arena (planner.go). Each op is a type with its tangent rule and its loop: matmul.go,
// elementwise.go, gather.go, reduce.go, shape.go, pool.go, bilinear.go, align.go, segmentmax.go, grid.go, bag.go,
// conv.go, attention.go, related.go, relatedpull.go, positions.go, recurrence.go, normalise.go, ownop.go. Forward
// programs, for networks that are not trained, fuse ops over weights that stay the same (forward.go, fuse.go). A
// Gorgonia op without such a type is an error that names it. Other devices run a Program, too: its instructions and ops
// are exported.
//
// # Why Gorgonia
//
// Networks are Gorgonia graphs: who writes one uses functions that others have written and documented, and dsp's own
// layers use the same. Gorgonia infers shapes and adds the pullback, and its machines, which are slow, are the
// reference that tests hold every program against. It runs nothing in training, and computes no push-forward.
//
// Only these files know how Gorgonia works inside:
//
//   - lower.go has a case for each kind of op. Others are refused by name, as are log2, invSqrt and outer products, which
//     Gorgonia v0.9.18 differentiates wrongly.
//   - fields.go reads an op's kind, name and fields by reflection, since Gorgonia exports neither the types of ops nor
//     their fields; what an op prints would say less, and change as easily. Products are told apart by the axes of what
//     they multiply. An op without the field that lower.go asks for is an error, so another version of Gorgonia cannot be
//     misread.
//   - fusedop.go wraps ops that Gorgonia lacks, with a simple loop for its machines.
//   - differentiate.go asks for the pullback.
//
// Less would break the promise or cost more. Without reflection, Gorgonia's functions would have to be wrapped one by
// one, and its documentation would describe functions that nobody may call. With a pullback of our own on values, each
// op would need a third rule beside its loop and its tangent; lower.go would stay as it is, without the kinds of op
// that only gradients have (two of fifteen); and tests would have no gradient of others to compare with.
package graph
