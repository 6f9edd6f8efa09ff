package server

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Shapes are bounded, and refused before anything of their size is made: in every axis, zeros beside huge ones, negative ones, and products that overflow.
func TestShapes(t *testing.T) {
	s := newServer(t, nil)
	for _, shape := range []string{
		"[0]", "[2147483648, 0]", "[0, 2147483648]", "[9223372036854775807, 0]", "[1, 0, 9223372036854775807]", "[-1]", "[-1, -1]", "[-9223372036854775808]",
		"[4294967296, 4294967296]", "[3037000500, 3037000500]", "[2, 9223372036854775807]", "[]", "[1, 1, 1, 1]", "[" + strings.Repeat("1,", 5000) + "1]",
		"[1e30]", "[1.5]", `["1"]`, "null", "[2147483648]",
	} {
		for _, of := range []string{
			`{"name": "word", "datatype": "BYTES", "shape": %s, "data": []}, {"name": "pos", "datatype": "BYTES", "shape": [1], "data": ["a"]}`,
			`{"name": "word", "datatype": "BYTES", "shape": [1], "data": ["a"]}, {"name": "pos", "datatype": "BYTES", "shape": [1], "data": ["a"]}, {"name": "lengths", "datatype": "INT64", "shape": %s, "data": []}`,
		} {
			code, text, _ := ask(s, "POST", "/v2/models/m/infer", `{"inputs": [`+fmt.Sprintf(of, shape)+`]}`)
			if code != 400 || !strings.Contains(text, "shape") {
				t.Errorf("%.60s: %d %s", shape, code, text)
			}
		}
	}
}

// Data are lists as nested as the shape, or flat.
func TestNestedData(t *testing.T) {
	for data, want := range map[string]string{
		`["a", "b]", "\"[", "d"]`:             "[a b] \"[ d]",
		`[["a", "b]"], ["\"[", "d"]]`:         "[a b] \"[ d]",
		" [ [\"a\",\"b\\\\\"],[\"c\",\"]\"]]": `[a b\ c ]]`,
		`[["a", "b"], "c", "d"]`:              "different depths",
		`["a", ["b", "c", "d"]]`:              "different depths",
		`[["a", "b", "c", "d"], []]`:          "an empty list",
		`[[["a", "b"], ["c", "d"]]]`:          "lists in lists 3 deep",
		`[["a", "b"], ["c"]]`:                 "has 3 elements, expected 4",
		`[["a", "b"], {"c": "d"}]`:            "found an object",
		`"abcd"`:                              "found a string",
		`{"a": ["b"]}`:                        "found an object",
		`[["a", 1], ["c", "d"]]`:              "found a number",
	} {
		x := &tensor{Name: "x", Shape: []int{2, 2}, Datatype: "BYTES", Data: []byte(data)}
		all, err := values[string](x, "BYTES")
		if got := fmt.Sprint(all); err == nil && got != want || err != nil && (!structured.IsBadInput(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %s, %v, want %s", data, got, err, want)
		}
		if string(x.Data) != data {
			t.Errorf("%s became %s, and a model that was replaced meanwhile would read it again", data, x.Data)
		}
	}
}

// Lengths are those of sequences that are there: each of some positions, and in all those of the other inputs.
func TestLengths(t *testing.T) {
	s := newServer(t, nil)
	zeros := strings.Repeat("0,", 1000) + "1"
	for lengths, want := range map[string]string{
		zeros: "expected at least 1", "-1": "expected at least 1", "1, 0": "expected at least 1", "2": "expected more", "1, 1": "expected more", fmt.Sprint(math.MaxInt64): "expected more",
	} {
		n := strings.Count(lengths, ",") + 1
		body := fmt.Sprintf(`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "pos", "shape": [1], "datatype": "BYTES", "data": ["b"]},
			{"name": "lengths", "shape": [%d], "datatype": "INT64", "data": [%s]}]}`, n, lengths)
		if code, text, _ := ask(s, "POST", "/v2/models/m/infer", body); code != 400 || !strings.Contains(text, want) {
			t.Errorf("%.30s: %d %s, want %s", lengths, code, text, want)
		}
	}
}

// What a request nests or repeats without end is refused before it is parsed.
func TestNesting(t *testing.T) {
	s := newServer(t, func(o *Options) { o.MaxBody = 1 << 20 })
	for _, open := range []string{"[", `{"a":`, `[{"a":[`} {
		deep := strings.Repeat(open, 100_000)
		for path, body := range map[string]string{
			"/predict":            `{"columns": ` + deep,
			"/v2/models/m/infer":  `{"inputs": ` + deep,
			"/v2/models/m/infer?": `{"parameters": {"x": ` + deep,
			"/predict?":           deep,
		} {
			if code, text, _ := ask(s, "POST", path, body); code != 400 || len(text) > 1000 || strings.Contains(path, "infer") && !strings.Contains(text, "nested") {
				t.Errorf("%s %.30s: %d %.300s", path, body, code, text)
			}
		}
	}
}
