package endtoend

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// scaledRows writes sequences of two dense features, shifted and scaled column by column: the first tells the label,
// the second nothing.
func scaledRows(t *testing.T, shift, scale [2]float64) (path string, rows [][2]float64) {
	t.Helper()
	rows, labels := make([][2]float64, 60), make([]int32, 60)
	for k := range rows {
		labels[k] = int32(k * k % 5 % 2)
		rows[k] = [2]float64{shift[0] + scale[0]*float64(labels[k]), shift[1] + scale[1]*float64(k%7)}
	}
	path = filepath.Join(t.TempDir(), "rows.npz")
	w, err := npz.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []struct {
		name string
		data any
	}{{"features", rows}, {"labels", labels}, {"lengths", []int64{20, 21, 19}}} {
		if err := w.Write(a.name, a.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, rows
}

// With --standardise the scales of columns do not matter, and everything that reads the model scales alike.
func TestStandardised(t *testing.T) {
	t.Parallel()
	runs := t.TempDir()
	plain, _ := scaledRows(t, [2]float64{0, 0}, [2]float64{1, 1})
	wild, rows := scaledRows(t, [2]float64{3, -5e7}, [2]float64{1e-3, 2e6})
	train := func(name string, flags ...string) outcome {
		return dsp(t, append([]string{"train", "--task", "tag", "--net", "linear", "--loss", "crf", "--gap", "0.000001", "--out", filepath.Join(runs, name)}, flags...)...)
	}
	train("plain", "--train", plain, "--standardise").ok()
	if o := train("wild", "--train", wild, "--standardise").ok(); strings.Contains(o.stderr, "very different scales") {
		t.Errorf("scales matter although they are standardised: %s", o.stderr)
	}
	marginals := func(model, data string) []map[string]any {
		var all []map[string]any
		for line := range strings.Lines(dsp(t, "predict", "--model", filepath.Join(runs, model), "--input", data, "--json", "--marginals").ok().stdout) {
			var one map[string]any
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		return all
	}
	a, b := marginals("plain", plain), marginals("wild", wild)
	for i := range a {
		for k, row := range a[i]["marginals"].([]any) {
			x, y := row.([]any)[0].(float64), b[i]["marginals"].([]any)[k].([]any)[0].(float64)
			if math.Abs(x-y) > 0.02 {
				t.Fatalf("sequence %d, position %d: %v with plain columns, %v with scaled ones", i, k, x, y)
			}
		}
	}
	var m map[string]any
	dsp(t, "eval", "--model", filepath.Join(runs, "wild"), "--data", wild, "--json").ok().json(&m)
	if m["token_accuracy"].(float64) != 1 {
		t.Errorf("%v", m)
	}

	if o := dsp(t, "info", filepath.Join(runs, "wild")).ok(); !strings.Contains(o.stdout, "2 dense features per position, standardised") {
		t.Errorf("info does not say it: %s", o.stdout)
	}
	s := serve(t, "--model", filepath.Join(runs, "wild"))
	object, err := json.Marshal(map[string]any{"features": rows[:20]})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post(s.url+"predict?marginals", "application/json", strings.NewReader(string(object)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	var served map[string]any
	if err == nil {
		err = json.Unmarshal(answer, &served)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"labels", "marginals"} {
		x, _ := json.Marshal(served[key])
		y, _ := json.Marshal(b[0][key])
		if string(x) != string(y) {
			t.Errorf("served %s %s, predicted %s", key, x, y)
		}
	}
	train("more", "--train", wild, "--dev", wild, "--init", filepath.Join(runs, "wild"), "--passes", "1").ok()
	var more map[string]any
	dsp(t, "eval", "--model", filepath.Join(runs, "more"), "--data", wild, "--json").ok().json(&more)
	if more["token_accuracy"].(float64) != 1 {
		t.Errorf("continued: %v", more)
	}

	o := train("unscaled", "--train", wild, "--passes", "1") // the warning comes before them
	if !strings.Contains(o.stderr, "column 1 of the features") || !strings.Contains(o.stderr, "--standardise") {
		t.Errorf("no word on the scale of column 1: %s", o.stderr)
	}
	train("x", "--train", write(t, "x.conll", sentences), "--standardise").refused(exitBadInput, "--standardise", "no dense features")
	dsp(t, "train", "--task", "segment", "--standardise").refused(exitBadInput, "--standardise true has no effect with --task segment")
}
