package structured

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// Metrics keep their order in JSON and read back unchanged; fields that are neither numbers nor the types are ignored.
func TestMetricsJSON(t *testing.T) {
	m := Metrics{Measures: []Measure{{"uas", 0.75}, {"arcs", 8}, {"las", 0.5}},
		Types: map[string]Metrics{"subj": {Measures: []Measure{{"f1", 1}}}, "a\"b": {}}}
	text, err := json.Marshal(m)
	if want := `{"uas":0.75,"arcs":8,"las":0.5,"types":{"a\"b":{},"subj":{"f1":1}}}`; err != nil || string(text) != want {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
	var back Metrics
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("got %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"name":"x","f1":0.5,"more":{"f1":2}}`), &back); err != nil ||
		!reflect.DeepEqual(back, Metrics{Measures: []Measure{{"f1", 0.5}}}) {
		t.Errorf("got %+v, %v", back, err)
	}
	for _, bad := range []string{"3", "[]", `{"types":{"x":1}}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is read as %+v", bad, back)
		}
	}
	if text, err := json.Marshal(Metrics{}); err != nil || string(text) != "{}" {
		t.Errorf("no measures are %s, %v", text, err)
	}
}

// Model selection minimises 1 − F1 if there are entities, else 1 − LAS, else 1 − UAS, else the token error.
func TestMetricsError(t *testing.T) {
	token, uas, las, f1 := Measure{"token_error", 0.1}, Measure{"uas", 0.75}, Measure{"las", 0.5}, Measure{"f1", 0.25}
	for _, test := range []struct {
		measures []Measure
		name     string
		want     float64
	}{
		{[]Measure{token}, "token error", 0.1},
		{[]Measure{token, f1}, "entity error (1 − F1)", 0.75},
		{[]Measure{uas}, "attachment error (1 − UAS)", 0.25},
		{[]Measure{uas, las}, "attachment error (1 − LAS)", 0.5},
	} {
		m := &Metrics{Measures: test.measures}
		if name, got := m.Error(); name != test.name || got != test.want {
			t.Errorf("%v: %s %v, want %s %v", test.measures, name, got, test.name, test.want)
		}
	}
	for _, m := range []*Metrics{nil, {}} {
		if name, got := m.Error(); name != "error" || !math.IsNaN(got) || !math.IsNaN(m.Get("f1")) {
			t.Errorf("%v: %s %v", m, name, got)
		}
	}
	m := Metrics{Measures: []Measure{token, f1, {"tokens", 9}, {"sequence_error", 0.5}}}
	if got, want := m.String(), "token error 10.00 %, sequence error 50.00 %, entity F1 25.00 %"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
