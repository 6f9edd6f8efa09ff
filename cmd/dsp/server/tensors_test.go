package server

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// An element of another kind than the datatype's is named, with its place and what was expected.
func TestElementsOfTensors(t *testing.T) {
	read := func(shape []int, datatype, data string) error {
		x := &tensor{Name: "x", Shape: shape, Datatype: datatype, Data: json.RawMessage(data)}
		var err error
		switch datatype {
		case "BYTES":
			_, err = values[string](x, "BYTES")
		case "INT64":
			_, err = values[int](x, "INT64")
		default:
			_, err = values[float32](x, "FP32", "FP64")
		}
		return err
	}
	for _, c := range []struct {
		shape          []int
		datatype, data string
		want           string
	}{
		{[]int{3}, "BYTES", `["a", 7, "b"]`, "input x has 7 at [1], expected a text in quotes as its datatype BYTES says"},
		{[]int{2, 2}, "BYTES", `[["a", "b"], ["c", true]]`, "input x has true at [1 1], expected a text"},
		{[]int{2, 2}, "BYTES", `["a", "b", "c", null]`, "input x has null at [1 1], expected a text"},
		{[]int{2, 2}, "FP32", `[[1, 2], [1e39, 4]]`, "input x has 1e39 at [1 0], expected a number of at most 3.4e38 as its datatype FP32 says"},
		{[]int{2}, "FP64", `[1, -1e300]`, "input x has -1e300 at [1], expected a number of at most 3.4e38"},
		{[]int{2}, "FP32", `[1, null]`, "input x has null at [1], expected a number"},
		{[]int{2, 1, 2}, "FP32", `[1, 2, "3", 4]`, `input x has "3" at [1 0 0], expected a number`},
		{[]int{2}, "INT64", `[1, 2.5]`, "input x has 2.5 at [1], expected a whole number as its datatype INT64 says"},
		{[]int{1}, "BYTES", `[` + strings.Repeat("1", 99) + `]`, "input x has 1111111111111111111111111111111111111111… at [0]"},
		{[]int{1}, "BYTES", `7`, "input x: found a number"},
	} {
		if err := read(c.shape, c.datatype, c.data); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %s: %v, expected %s", c.datatype, c.data, err, c.want)
		}
	}
	x := &tensor{Name: "x", Shape: []int{2}, Datatype: "BYTES", Data: json.RawMessage(`["null", "a null"]`)}
	if got, err := values[string](x, "BYTES"); err != nil || !slices.Equal(got, []string{"null", "a null"}) {
		t.Errorf("%v, %v: the word null is text", got, err)
	}
	x = &tensor{Name: "x", Shape: []int{1}, Datatype: "FP32", Data: json.RawMessage(`[3.4e38]`)}
	if got, err := values[float32](x, "FP32"); err != nil || math.Abs(float64(got[0])/3.4e38-1) > 1e-6 {
		t.Errorf("%v, %v", got, err)
	}
}
