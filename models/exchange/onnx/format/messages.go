// Package format has the messages of an ONNX file that dsp writes, and writes them. The file is one Model in the wire
// format of Protocol Buffers. The tag of a field holds its number in onnx.proto of ONNX
// (https://github.com/onnx/onnx); fields and messages that dsp does not write are not here.
//
// A field that is zero, or nil, is not written. Pointers to numbers and strings are for fields that must be there even
// if they are zero or empty.
package format

// Model is the file.
type Model struct {
	IRVersion       int64      `onnx:"1"`
	ProducerName    string     `onnx:"2"`
	ProducerVersion *string    `onnx:"3"`
	Doc             string     `onnx:"6"`
	Graph           *Graph     `onnx:"7"`
	Operators       []*Version `onnx:"8"`
	Metadata        []*Entry   `onnx:"14"`
}

// Version is that of a set of operators. ONNX's own set has an empty domain.
type Version struct {
	Domain  *string `onnx:"1"`
	Version int64   `onnx:"2"`
}

// Entry is an entry of the metadata.
type Entry struct {
	Key   string  `onnx:"1"`
	Value *string `onnx:"2"`
}

// Graph is the model's graph, or the body of a loop.
type Graph struct {
	Nodes        []*Node   `onnx:"1"`
	Name         string    `onnx:"2"`
	Initializers []*Tensor `onnx:"5"`
	Inputs       []*Array  `onnx:"11"`
	Outputs      []*Array  `onnx:"12"`
}

// Node is an operator that reads arrays and makes others.
type Node struct {
	Inputs     []string     `onnx:"1"`
	Outputs    []string     `onnx:"2"`
	Name       string       `onnx:"3"`
	Op         string       `onnx:"4"`
	Attributes []*Attribute `onnx:"5"`
}

// Attribute is a setting of an operator; Type says which of the other fields holds it.
type Attribute struct {
	Name  string        `onnx:"1"`
	Float *float32      `onnx:"2"`
	Int   *int64        `onnx:"3"`
	Graph *Graph        `onnx:"6"`
	Ints  []int64       `onnx:"8"`
	Type  AttributeType `onnx:"20"`
}

// AttributeType is the type of an attribute.
type AttributeType int32

// The types of attributes that dsp writes.
const (
	FloatAttribute AttributeType = 1
	IntAttribute   AttributeType = 2
	GraphAttribute AttributeType = 5
	IntsAttribute  AttributeType = 7
)

// Tensor is a constant. Raw holds its numbers, little-endian, row after row.
type Tensor struct {
	Dims []int64  `onnx:"1"`
	Type DataType `onnx:"2"`
	Name string   `onnx:"8"`
	Raw  []byte   `onnx:"9"`
}

// DataType is the type of the numbers of an array.
type DataType int32

// The types of numbers that dsp writes.
const (
	Float   DataType = 1
	Int64   DataType = 7
	Bool    DataType = 9
	Float16 DataType = 10
	Double  DataType = 11
)

// Array describes an input or an output of a graph.
type Array struct {
	Name string `onnx:"1"`
	Type *Type  `onnx:"2"`
}

// Type is that of an array; all arrays of dsp are tensors.
type Type struct {
	Tensor *TensorType `onnx:"1"`
}

// TensorType is the type of the numbers of a tensor, and its shape; nil leaves the shape to runtimes.
type TensorType struct {
	Elem  DataType `onnx:"1"`
	Shape *Shape   `onnx:"2"`
}

// Shape lists the dimensions of a tensor.
type Shape struct {
	Dims []*Dim `onnx:"1"`
}

// Dim is a dimension: a number, or the name of a free one.
type Dim struct {
	Size int64  `onnx:"1"`
	Name string `onnx:"2"`
}
