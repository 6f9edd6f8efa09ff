// Package onnx writes a model as an ONNX graph (Open Neural Network Exchange, opset 18), which runtimes in other
// languages run. The graph holds the network and, for chains, the decoding: the best labels with their score and, on
// request, the marginals. Decoder writes the decoding alone, for graphs of other programs.
//
// A batch is padded: inputs have a row for each of B examples and T positions, both free, and lengths says how many
// positions of each example count. Padding changes no output.
//
// A network is translated from its graph.Flow, op by op (network.go and the files of its ops); a linear net of
// attributes from its weights (linear.go). chain.go and marginals.go add the decoding. onnxpb has the types of the
// format, which protoc generates:
//
//	protoc --go_out=. --go_opt=paths=source_relative --go_opt=Monnx.proto=github.com/dsp-go/dsp/models/exchange/onnx/onnxpb onnx.proto
//
// with protoc-gen-go of google.golang.org/protobuf in the version of go.mod, protoc from the Python package
// grpcio-tools or elsewhere, and onnx.proto, which is the part of ONNX's that is used here.
package onnx
