package onnxtest

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
)

// every has all fields of all messages.
func every() *format.Model {
	return &format.Model{
		IRVersion: 8, ProducerName: "dsp", ProducerVersion: new("v1"), Doc: "about",
		Operators: []*format.Version{{Domain: new(""), Version: 18}},
		Metadata:  []*format.Entry{{Key: "k", Value: new("")}, {Key: "l", Value: new("v")}},
		Graph: &format.Graph{
			Name: "g",
			Nodes: []*format.Node{{Op: "Add", Name: "n", Inputs: []string{"a", ""}, Outputs: []string{"c"},
				Attributes: []*format.Attribute{
					{Name: "i", Type: format.IntAttribute, Int: new(int64(-1))},
					{Name: "s", Type: format.IntsAttribute, Ints: []int64{0, 1 << 40}},
					{Name: "f", Type: format.FloatAttribute, Float: new(float32(1.5))},
					{Name: "b", Type: format.GraphAttribute, Graph: &format.Graph{Name: "body"}},
				}}},
			Initializers: []*format.Tensor{{Name: "a", Type: format.Bool, Dims: []int64{2, 1}, Raw: []byte{1, 0}},
				{Raw: []byte{}}},
			Inputs: []*format.Array{{Name: "x", Type: &format.Type{Tensor: &format.TensorType{Elem: format.Float}}}},
			Outputs: []*format.Array{{Name: "y", Type: &format.Type{Tensor: &format.TensorType{
				Elem: format.Int64, Shape: &format.Shape{Dims: []*format.Dim{{Name: "batch"}, {Size: 300}}},
			}}}},
		},
	}
}

func written(t *testing.T, m *format.Model) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := format.Write(&file, m); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// What was written is read again.
func TestReadWhatWasWritten(t *testing.T) {
	got, err := Read(written(t, every()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, every()) {
		t.Errorf("read %+v", got)
	}
}

// Errors say where a file is not as dsp writes it, and what is there.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"\x08", "byte 0: IRVersion: unexpected EOF"},
		{"\x08\x08\x2a\x00", "byte 2: field 5 is not one that dsp writes"},
		{"\x08\x08\x12\x05dsp", "byte 2: ProducerName: unexpected EOF"},
		{"\x10\x05", "byte 0: ProducerName: wire type 0, expected 2"},
		{"\x3a\x02\x12\x09", "byte 0: Graph: byte 0: Name: unexpected EOF"},
		{"\x3a\x0b\x2a\x09\x10\xff\xff\xff\xff\xff\x7f\x0a\x00", "Graph: byte 0: Initializers: byte 0: Type: " +
			"4398046511103 is too large"},
		{"\x08\x08\x80", "byte 2: no tag"},
	} {
		if _, err := Read([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.file, err, c.want)
		}
	}
}

// No file makes Read panic, and what it reads, it reads again from what Write makes of it.
func FuzzRead(f *testing.F) {
	var whole bytes.Buffer
	if err := format.Write(&whole, every()); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()/2])
	f.Add([]byte("\x3a\x02\x12\x09"))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := Read(file)
		if err != nil {
			return
		}
		again, err := Read(written(t, m))
		if err != nil {
			t.Fatal(err)
		}
		if one, two := written(t, m), written(t, again); !bytes.Equal(one, two) {
			t.Errorf("read %q, then %q", one, two)
		}
	})
}
