package endtoend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The routes of the Open Inference Protocol.
func TestServeInference(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", "tags="+tagger(t), "--model", "letters="+reader(t), "--model", "trees="+parser(t), "--model", "links="+aligner(t))
	for path, want := range map[string]string{
		"v2/health/live": `{"live":true}`, "v2/health/ready": `{"ready":true}`, "v2/models/tags/ready": `{"name":"tags","ready":true}`,
		"v2": `"extensions":["model_repository"]`, "v2/models/letters": `"inputs":[{"name":"features","datatype":"FP32","shape":[-1,128]}`,
	} {
		if code, got := s.get(path); code != http.StatusOK || !strings.Contains(got, want) {
			t.Errorf("GET %s: %d %s, expected %s", path, code, got, want)
		}
	}
	type answer struct {
		ModelName string `json:"model_name"`
		ID        string
		Outputs   []struct {
			Name, Datatype string
			Shape          []int
			Data           json.RawMessage
		}
	}
	infer := func(model, body string) answer {
		t.Helper()
		var a answer
		code, got := s.post("v2/models/"+model+"/infer", body)
		if err := json.Unmarshal([]byte(got), &a); err != nil || code != http.StatusOK || a.ModelName != model {
			t.Fatalf("%s: %d %s", model, code, got)
		}
		return a
	}
	all := func(a answer) string {
		var text []string
		for _, o := range a.Outputs {
			text = append(text, fmt.Sprintf("%s %s %v %s", o.Name, o.Datatype, o.Shape, o.Data))
		}
		return strings.Join(text, "; ")
	}
	flat := `{"id": "7", "inputs": [{"name": "word", "shape": [5], "datatype": "BYTES", "data": ["the", "red", "fox", "the", "fox"]},
		{"name": "lengths", "shape": [2], "datatype": "INT64", "data": [3, 2]}], "outputs": [{"name": "labels"}, {"name": "label_ids"}, {"name": "lengths"}]}`
	padded := `{"inputs": [{"name": "word", "shape": [2, 3], "datatype": "BYTES", "data": [["the", "red", "fox"], ["the", "fox", ""]]},
		{"name": "lengths", "shape": [2], "datatype": "INT64", "data": [3, 2]}], "outputs": [{"name": "labels"}, {"name": "label_ids"}, {"name": "lengths"}]}`
	a, want := infer("tags", flat), `labels BYTES [5] ["O","B-X","I-X","O","B-X"]; label_ids INT32 [5] [2,0,1,2,0]; lengths INT64 [2] [3,2]`
	if a.ID != "7" || all(a) != want || all(infer("tags", padded)) != want {
		t.Errorf("%s and %s, expected %s", all(a), all(infer("tags", padded)), want)
	}
	a = infer("tags", `{"inputs": [{"name": "word", "shape": [2], "datatype": "BYTES", "data": ["the", "fox"]}], "outputs": [{"name": "marginals"}, {"name": "answer"}]}`)
	if fmt.Sprint(a.Outputs[0].Shape, a.Outputs[1].Shape) != "[2 3] [1]" || !strings.Contains(string(a.Outputs[1].Data), `\"labels\"`) {
		t.Errorf("%s", all(a))
	}
	numbers := strings.TrimSuffix(strings.Repeat("0.5,", 128), ",")
	a = infer("letters", `{"inputs": [{"name": "features", "shape": [1, 2, 128], "datatype": "FP32", "data": [`+numbers+","+numbers+`]}]}`)
	if names := all(a); !strings.HasPrefix(names, "score FP64 [1]") || !strings.Contains(names, "labels BYTES [2]") {
		t.Errorf("%s", names)
	}
	a = infer("trees", `{"inputs": [{"name": "word", "shape": [2], "datatype": "BYTES", "data": ["dogs", "bark"]}, {"name": "upos", "shape": [2], "datatype": "BYTES", "data": ["NOUN", "VERB"]}]}`)
	if names := all(a); !strings.Contains(names, "heads INT32 [2]") || !strings.Contains(names, "relations BYTES [2]") {
		t.Errorf("%s", names)
	}
	a = infer("links", `{"inputs": [{"name": "example", "shape": [1], "datatype": "BYTES", "data": ["{\"source\": [\"a\"], \"target\": [\"b\", \"c\"]}"]}]}`)
	if names := all(a); !strings.Contains(names, "links INT32 [") || !strings.Contains(names, "answer BYTES [1]") {
		t.Errorf("%s", names)
	}
	for body, want := range map[string]string{
		`{}`: "no inputs",
		`{"inputs": [{"name": "word", "shape": [3], "datatype": "BYTES", "data": ["a"]}]}`:                                                                             "has 1 elements, expected 3",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "FP32", "data": [1]}]}`:                                                                                `datatype "FP32", expected BYTES`,
		`{"inputs": [{"name": "word", "shape": [-1], "datatype": "BYTES", "data": []}]}`:                                                                               "shape [-1]",
		`{"inputs": [{"name": "word", "shape": [4294967296, 4294967296], "datatype": "BYTES", "data": []}]}`:                                                           "shape",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": [1]}]}`:                                                                               "input word",
		`{"inputs": [{"name": "x", "shape": [1], "datatype": "BYTES", "data": ["a"]}]}`:                                                                                `input "x" is not one of the model's: lengths, word`,
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}], "outputs": [{"name": "x"}]}`:                                                 `output "x" is not one`,
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "lengths", "shape": [1], "datatype": "INT64", "data": [2]}]}`:        "expected more",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "lengths", "shape": [1], "datatype": "INT64", "data": [-2]}]}`:       "expected at least 1",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "lengths", "shape": [2], "datatype": "INT64", "data": [1, 0]}]}`:     "number 1 is 0, expected at least 1",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES"}]}`:                                                                                            "has no data",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}], "x": 1}`: "no member is called",
	} {
		s.refuses(http.StatusBadRequest, "v2/models/tags/infer", body, want)
	}
	s.refuses(http.StatusNotFound, "v2/models/nobody/infer", "{}", `no model "nobody"; there is tags, letters, trees, links`)
}
