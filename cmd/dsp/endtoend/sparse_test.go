package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sparseJSON is what --json and metrics.jsonl say about a sparse model.
type sparseJSON struct {
	Method    string
	Objective float64
	Dual      *float64
	Gap       *float64
	Nonzero   int
}

// lastRecord reads the last line of a run's metrics.jsonl.
func lastRecord(t *testing.T, run string) (r sparseJSON) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(run, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// --l1 leaves few weights, and the model file holds these only and predicts as the weights in memory did: sdca and owl-qn certify the same
// optimum, and export lists as many weights as training counted.
func TestSparseModels(t *testing.T) {
	t.Parallel()
	text := write(t, "train.crfsuite", items())
	dir := t.TempDir()
	train := func(name string, args ...string) (string, sparseJSON) {
		run := filepath.Join(dir, name)
		var r sparseJSON
		dsp(t, append([]string{"train", "--train", text, "--dev", text, "--out", run, "--quiet", "--json"}, args...)...).ok().json(&r)
		if last := lastRecord(t, run); last.Nonzero == 0 {
			t.Errorf("%s: metrics.jsonl counts no nonzero weights", name)
		}
		return run, r
	}
	_, full := train("full", "--reg", "0.5", "--loss", "crf")
	for _, reg := range []string{"0.5", "0"} {
		run, a := train("sdca"+reg, "--reg", reg, "--l1", "0.5", "--loss", "crf", "--gap", "1e-3", "--passes", "300")
		_, b := train("owl"+reg, "--reg", reg, "--l1", "0.5", "--loss", "crf", "--gap", "1e-3", "--passes", "150", "--method", "owl-qn")
		if a.Method != "sdca" || a.Gap == nil || b.Gap == nil || *a.Dual > b.Objective || *b.Dual > a.Objective {
			t.Errorf("--reg %s: sdca %+v, owl-qn %+v", reg, a, b)
		}
		if a.Nonzero == 0 || a.Nonzero >= full.Nonzero {
			t.Errorf("--reg %s: %d weights are not zero, without --l1 %d", reg, a.Nonzero, full.Nonzero)
		}
		weights := filepath.Join(dir, "weights.txt")
		dsp(t, "export", "--model", run, "--weights", "--to", weights).ok()
		b2, err := os.ReadFile(weights)
		if err != nil {
			t.Fatal(err)
		}
		listed := 0
		for line := range strings.Lines(string(b2)) {
			if strings.Contains(line, "\t") && !strings.HasPrefix(line, "#") {
				listed++
			}
		}
		var inside struct {
			Weights, Nonzero int
		}
		dsp(t, "info", run, "--json").ok().json(&inside)
		if listed != inside.Nonzero || listed != a.Nonzero || inside.Nonzero > inside.Weights {
			t.Errorf("--reg %s: export lists %d weights, training counts %d, info %d of %d", reg, listed, a.Nonzero, inside.Nonzero, inside.Weights)
		}
		var scores struct{ Dev *struct{ F1 float64 } }
		dsp(t, "train", "--train", text, "--dev", text, "--out", run+"again", "--quiet", "--json", "--reg", reg, "--l1", "0.5", "--loss", "crf", "--threads", "1",
			"--gap", "1e-3", "--passes", "300").ok().json(&scores)
		one, err := os.ReadFile(filepath.Join(run, "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(run+"again", "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if string(one) != string(two) {
			t.Errorf("--reg %s: another number of threads gives another model", reg)
		}
		var f struct{ F1 float64 }
		dsp(t, "eval", "--model", run, "--data", text, "--json").ok().json(&f)
		if scores.Dev == nil || f.F1 != scores.Dev.F1 {
			t.Errorf("--reg %s: the saved model has F1 %v, in training %+v", reg, f.F1, scores.Dev)
		}
	}
}

// Other tasks take --l1 too, most of them with the hinge.
func TestSparseTasks(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--task", "align", "--examples", "20,5,5", "--method", "bcpfw"},
		{"--task", "parse", "--examples", "20,5,5", "--net", "linear"},
		{"--task", "ocr", "--examples", "20,5,5", "--net", "linear", "--loss", "hinge"},
		{"--task", "localise", "--examples", "10,5,5", "--net", "linear"},
	} {
		run := filepath.Join(t.TempDir(), "run")
		var r sparseJSON
		dsp(t, append([]string{"train", "--out", run, "--passes", "3", "--baselines", "off", "--l1", "1", "--quiet", "--json"}, args...)...).ok().json(&r)
		if r.Gap == nil || *r.Gap < 0 || r.Nonzero == 0 {
			t.Errorf("%v: %+v", args, r)
		}
		dsp(t, "info", run).ok()
	}
}

// A network has few weights, too: those of its file are those of the run, and a resumed run has the same.
func TestSparseNet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fit := func(out string, args ...string) (r sparseJSON) {
		t.Helper()
		dsp(t, append([]string{"train", "--out", filepath.Join(dir, out), "--quiet", "--json"}, args...)...).ok().json(&r)
		return r
	}
	start := []string{"--examples", "40,10,10", "--net", "mlp", "--loss", "crf", "--baselines", "off", "--threads", "1", "--passes", "4"}
	full, few := fit("full", start...), fit("few", append(start, "--l1", "2")...)
	if few.Nonzero == 0 || few.Nonzero > full.Nonzero/2 {
		t.Errorf("%d weights are not zero, without --l1 %d", few.Nonzero, full.Nonzero)
	}
	var f struct{ Nonzero int }
	dsp(t, "info", filepath.Join(dir, "few"), "--json").ok().json(&f)
	if f.Nonzero != few.Nonzero {
		t.Errorf("the file has %d weights, in training there were %d", f.Nonzero, few.Nonzero)
	}
}

// What has no rule for --l1 is refused by name, with what to use instead.
func TestSparseRefusals(t *testing.T) {
	t.Parallel()
	text := write(t, "train.crfsuite", items())
	for _, method := range []string{"sgd", "casimir", "lbfgs"} {
		dsp(t, "train", "--train", text, "--loss", "crf", "--l1", "1", "--method", method, "--out", filepath.Join(t.TempDir(), "run")).
			refused(exitBadInput, "--l1 1", method, "sdca or owl-qn")
	}
	dsp(t, "train", "--examples", "20,5,5", "--net", "mlp", "--method", "adam", "--l1", "1", "--out", filepath.Join(t.TempDir(), "run")).
		refused(exitBadInput, "--l1 1", "linear in the weights", `"mlp"`, "prox-linear")
	for _, args := range [][]string{{"--model-batch", "all"}, {"--finish", "1", "--passes", "3"}, {"--inner-steps", "3"}} {
		dsp(t, append([]string{"train", "--examples", "20,5,5", "--net", "mlp", "--l1", "1", "--out", filepath.Join(t.TempDir(), "run")}, args...)...).
			refused(exitBadInput, "--l1 1", "prox-linear", "no step for the ℓ1 regulariser", args[0][2:])
	}
}
