// Package onnxtest reads the ONNX files that dsp writes, for tests.
package onnxtest

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
)

// Read returns the model of a file. It refuses fields that the messages of package format do not have.
func Read(file []byte) (*format.Model, error) {
	m := new(format.Model)
	if err := message(file, reflect.ValueOf(m).Elem()); err != nil {
		return nil, fmt.Errorf("onnx: Model: %w", err)
	}
	return m, nil
}

// message reads the fields of a struct.
func message(b []byte, m reflect.Value) error {
	for at := 0; at < len(b); {
		number, kind, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return fmt.Errorf("byte %d: no tag: %w", at, protowire.ParseError(n))
		}
		field, name, ok := fieldOf(m, number)
		if !ok {
			return fmt.Errorf("byte %d: field %d is not one that dsp writes", at, number)
		}
		size, err := value(b[at+n:], kind, field)
		if err != nil {
			return fmt.Errorf("byte %d: %s: %w", at, name, err)
		}
		at += n + size
	}
	return nil
}

// fieldOf returns the field with a number, and its name.
func fieldOf(m reflect.Value, number protowire.Number) (field reflect.Value, name string, ok bool) {
	for i := range m.NumField() {
		if f := m.Type().Field(i); f.Tag.Get("onnx") == strconv.Itoa(int(number)) {
			return m.Field(i), f.Name, true
		}
	}
	return reflect.Value{}, "", false
}

// value reads one value of a field, and returns how many bytes it has.
func value(b []byte, kind protowire.Type, to reflect.Value) (int, error) {
	switch {
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return value(b, kind, to.Elem())
	case to.Kind() == reflect.Slice && to.Type().Elem().Kind() != reflect.Uint8:
		x := reflect.New(to.Type().Elem()).Elem()
		n, err := value(b, kind, x)
		to.Set(reflect.Append(to, x))
		return n, err
	}
	wanted := protowire.BytesType
	switch to.Kind() {
	case reflect.Int32, reflect.Int64:
		wanted = protowire.VarintType
	case reflect.Float32:
		wanted = protowire.Fixed32Type
	}
	if kind != wanted {
		return 0, fmt.Errorf("wire type %d, expected %d", kind, wanted)
	}
	var (
		n       int
		integer uint64
		bits    uint32
		content []byte
	)
	switch wanted {
	case protowire.VarintType:
		integer, n = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		bits, n = protowire.ConsumeFixed32(b)
	default:
		content, n = protowire.ConsumeBytes(b)
	}
	if n < 0 {
		return 0, protowire.ParseError(n)
	}
	switch to.Kind() {
	case reflect.Int32, reflect.Int64:
		if to.OverflowInt(int64(integer)) {
			return 0, fmt.Errorf("%d is too large for 32 bits", int64(integer))
		}
		to.SetInt(int64(integer))
	case reflect.Float32:
		to.SetFloat(float64(math.Float32frombits(bits)))
	case reflect.String:
		to.SetString(string(content))
	case reflect.Struct:
		return n, message(content, to)
	default:
		to.SetBytes(append([]byte{}, content...))
	}
	return n, nil
}
