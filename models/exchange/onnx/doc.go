// Package onnx writes a model as an ONNX graph (Open Neural Network Exchange, opset 18), which runtimes in other
// languages run. The graph holds the network and, for chains, the decoding: the best labels with their score and, on
// request, the marginals. Decoder writes the decoding alone, for graphs of other programs.
//
// A batch is padded: inputs have a row for each of B examples and T positions, both free, and lengths says how many
// positions of each example count. Padding changes no output.
//
// A network is translated from its graph.Flow, op by op (network.go and the files of its ops); a linear net of
// attributes from its weights (linear.go). chain.go and marginals.go add the decoding. Package format
// has the messages of the file.
package onnx
