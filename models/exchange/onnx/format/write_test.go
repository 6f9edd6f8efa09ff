package format

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// bytesOf joins texts and bytes.
func bytesOf(parts ...any) (all []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			all = append(all, p...)
		case int:
			all = append(all, byte(p))
		case []byte:
			all = append(all, p...)
		}
	}
	return all
}

// within is a field that holds others: its tag, its size, and they.
func within(tag int, parts ...any) []byte {
	content := bytesOf(parts...)
	return bytesOf(tag, len(content), content)
}

// A file has the bytes that onnx.proto and the encoding of Protocol Buffers ask for: a tag is the number of the field
// times 8, plus 0 for a varint, 2 for what has a size and 5 for 32 bits.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *Model
		want []byte
	}{
		{"nothing", &Model{}, nil},
		{
			"model", &Model{
				IRVersion: 8, ProducerName: "dsp", ProducerVersion: new("v1"), Doc: "about",
				Operators: []*Version{{Domain: new(""), Version: 18}, {Version: 3}},
				Metadata:  []*Entry{{Key: "k", Value: new("")}},
			},
			bytesOf(1*8, 8, within(2*8+2, "dsp"), within(3*8+2, "v1"), within(6*8+2, "about"),
				within(8*8+2, 1*8+2, 0, 2*8, 18), within(8*8+2, 2*8, 3), within(14*8+2, 1*8+2, 1, "k", 2*8+2, 0)),
		},
		{
			"graph", &Model{Graph: &Graph{
				Name:  "g",
				Nodes: []*Node{{Op: "Add", Name: "n", Inputs: []string{"a", ""}, Outputs: []string{"c"}}},
				Initializers: []*Tensor{{Name: "a", Type: Bool, Dims: []int64{2, 0}, Raw: []byte{1, 0}},
					{Type: Double, Raw: []byte{}}},
				Inputs: []*Array{{Name: "x", Type: &Type{Tensor: &TensorType{Elem: Float, Shape: &Shape{}}}}},
				Outputs: []*Array{{Name: "y", Type: &Type{Tensor: &TensorType{
					Elem: Int64, Shape: &Shape{Dims: []*Dim{{Name: "batch"}, {Size: 300}}},
				}}}},
			}},
			within(7*8+2,
				within(1*8+2, within(1*8+2, "a"), within(1*8+2), within(2*8+2, "c"), within(3*8+2, "n"), within(4*8+2, "Add")),
				within(2*8+2, "g"),
				within(5*8+2, 1*8, 2, 1*8, 0, 2*8, 9, within(8*8+2, "a"), within(9*8+2, 1, 0)),
				within(5*8+2, 2*8, 11, within(9*8+2)),
				within(11*8+2, within(1*8+2, "x"), within(2*8+2, within(1*8+2, 1*8, 1, within(2*8+2)))),
				within(12*8+2, within(1*8+2, "y"), within(2*8+2, within(1*8+2, 1*8, 7,
					within(2*8+2, within(1*8+2, within(2*8+2, "batch")), within(1*8+2, 1*8, 0x80|300&127, 300>>7)))))),
		},
		{
			"attributes", &Model{Graph: &Graph{Nodes: []*Node{{Attributes: []*Attribute{
				{Name: "i", Type: IntAttribute, Int: new(int64(0))},
				{Name: "m", Type: IntAttribute, Int: new(int64(-1))},
				{Name: "s", Type: IntsAttribute, Ints: []int64{0, 5}},
				{Name: "f", Type: FloatAttribute, Float: new(float32(1))},
				{Name: "g", Type: GraphAttribute, Graph: &Graph{}},
			}}}}},
			within(7*8+2, within(1*8+2,
				within(5*8+2, within(1*8+2, "i"), 3*8, 0, 0x80|20*8&127, 20*8>>7, 2),
				within(5*8+2, within(1*8+2, "m"), 3*8, slices.Repeat([]byte{0xff}, 9), 1, 0x80|20*8&127, 20*8>>7, 2),
				within(5*8+2, within(1*8+2, "s"), 8*8, 0, 8*8, 5, 0x80|20*8&127, 20*8>>7, 7),
				within(5*8+2, within(1*8+2, "f"), 2*8+5, 0, 0, 0x80, 0x3f, 0x80|20*8&127, 20*8>>7, 1),
				within(5*8+2, within(1*8+2, "g"), within(6*8+2), 0x80|20*8&127, 20*8>>7, 5))),
		},
	} {
		var got bytes.Buffer
		if err := Write(&got, c.m); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !bytes.Equal(got.Bytes(), c.want) {
			t.Errorf("%s:\n% x, want\n% x", c.name, got.Bytes(), c.want)
		}
		if n := Size(c.m); n != len(c.want) {
			t.Errorf("%s: size %d, want %d", c.name, n, len(c.want))
		}
	}
}

var errFull = errors.New("full")

// full takes some bytes and no more.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return f.left, errFull
	}
	f.left -= len(b)
	return len(b), nil
}

// An error of the writer comes back, wherever it happens.
func TestErrorsOfTheWriter(t *testing.T) {
	m := &Model{ProducerName: "dsp", Graph: &Graph{Initializers: []*Tensor{{Raw: make([]byte, 1<<16)}}, Name: "g"}}
	for left := range Size(m) {
		if left%1000 > 3 && left < 1<<16 {
			continue // a few places of the long constant are enough
		}
		if err := Write(&full{left}, m); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes of %d: %v", left, Size(m), err)
		}
	}
	if err := Write(&full{Size(m)}, m); err != nil {
		t.Error(err)
	}
}
