package format

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Write writes the file of a model.
func Write(w io.Writer, m *Model) error {
	to := bufio.NewWriter(w)
	e := encoder{to: to}
	e.message(reflect.ValueOf(m).Elem())
	return to.Flush() // which returns the first error of all writes
}

// Size returns how many bytes Write writes.
func Size(m *Model) int { return size(reflect.ValueOf(m).Elem()) }

// encoder writes messages and counts their bytes. Messages stand behind their sizes, so an encoder that only counts
// goes ahead of each: nothing but the messages themselves is held in memory.
type encoder struct {
	to   *bufio.Writer // nil: counts only
	size int
	word []byte // the number written last; its memory is used again
}

func size(message reflect.Value) int {
	var e encoder
	e.message(message)
	return e.size
}

func (e *encoder) bytes(b []byte) {
	if e.size += len(b); e.to != nil {
		e.to.Write(b) // the writer keeps its first error
	}
}

func (e *encoder) text(s string) {
	if e.size += len(s); e.to != nil {
		e.to.WriteString(s)
	}
}

func (e *encoder) varint(x uint64) {
	e.word = protowire.AppendVarint(e.word[:0], x)
	e.bytes(e.word)
}

func (e *encoder) tag(number protowire.Number, t protowire.Type) {
	e.varint(protowire.EncodeTag(number, t))
}

// message writes the fields of a struct that are there.
func (e *encoder) message(m reflect.Value) {
	for i := range m.NumField() {
		number, err := strconv.Atoi(m.Type().Field(i).Tag.Get("onnx"))
		if err != nil {
			panic(fmt.Sprintf("format: field %s of %s has no number", m.Type().Field(i).Name, m.Type()))
		}
		n, field := protowire.Number(number), m.Field(i)
		if raw, ok := field.Interface().([]byte); ok {
			if raw != nil {
				e.tag(n, protowire.BytesType)
				e.varint(uint64(len(raw)))
				e.bytes(raw)
			}
			continue
		}
		if field.Kind() == reflect.Slice {
			for k := range field.Len() {
				e.value(n, field.Index(k))
			}
		} else if !field.IsZero() {
			e.value(n, field)
		}
	}
}

// value writes one value of a field.
func (e *encoder) value(number protowire.Number, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		e.value(number, v.Elem())
	case reflect.Int32, reflect.Int64:
		e.tag(number, protowire.VarintType)
		e.varint(uint64(v.Int()))
	case reflect.Float32:
		e.tag(number, protowire.Fixed32Type)
		e.word = protowire.AppendFixed32(e.word[:0], math.Float32bits(float32(v.Float())))
		e.bytes(e.word)
	case reflect.String:
		e.tag(number, protowire.BytesType)
		e.varint(uint64(v.Len()))
		e.text(v.String())
	case reflect.Struct:
		e.tag(number, protowire.BytesType)
		e.varint(uint64(size(v)))
		e.message(v)
	default:
		panic(fmt.Sprintf("format: field %d is of %s, which has no encoding", number, v.Type()))
	}
}
