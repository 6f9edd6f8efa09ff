package endtoend

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// small holds the flags of a training run that takes a fraction of a second.
var small = []string{"train", "--examples", "80,20,30", "--channels", "4", "--hidden", "16", "--baselines", "off", "--quiet"}

// with returns flags followed by more.
func with(flags []string, more ...string) []string {
	return append(append([]string{}, flags...), more...)
}

var trainOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(shared, "reader")
	return dir, runProgram(with(small, "--method", "sgd", "--passes", "4", "--out", dir)...)
})

// reader returns the run folder of a model that reads built-in words, trained once for all tests.
func reader(t *testing.T) string {
	t.Helper()
	dir, err := trainOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// sentences is training text whose tags depend on the word and on the previous tag.
const sentences = `the	O
red	B-X
fox	I-X
runs	O

a	O
fox	B-X
sees	O
the	O
red	B-X
red	I-X
fox	I-X

runs	O
`

var tagOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(shared, "tagger")
	text := filepath.Join(shared, "train.conll")
	if err := os.WriteFile(text, []byte(strings.Repeat(sentences+"\n", 10)), 0o666); err != nil {
		return "", err
	}
	return dir, runProgram("train", "--task", "tag", "--train", text, "--net", "embed", "--embed", "8", "--channels", "8", "--method", "sgd",
		"--passes", "20", "--out", dir, "--quiet")
})

// tagger returns the run folder of a model of the sentences, trained once for all tests.
func tagger(t *testing.T) string {
	t.Helper()
	dir, err := tagOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

type metricsJSON struct {
	TokenError    float64 `json:"token_error"`
	SequenceError float64 `json:"sequence_error"`
	Tokens        int
	F1            float64
}

type resultJSON struct {
	Task, Net, Method, Model string
	Passes                   int
	Seconds                  float64
	Objective                *float64
	Dual, Gap                *float64
	Dev, Test                *metricsJSON
	Baselines                []resultJSON
}

// train --json prints an object and writes files.
func TestTrainReports(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	var r resultJSON
	o := dspIn(t, []string{"DSP_CURVES=on"}, with(small, "--json", "--method", "sgd", "--passes", "2", "--baselines", "on", "--out", dir)...).ok()
	o.json(&r)
	if strings.Count(o.stdout, "\n") != 1 {
		t.Errorf("more than one line:\n%s", o.stdout)
	}
	if r.Task != "ocr" || r.Method != "sgd" || r.Passes != 2 || r.Objective == nil || r.Dev == nil || r.Test == nil ||
		r.Gap != nil || r.Model != filepath.Join(dir, "model.safetensors") || len(r.Baselines) != 2 {
		t.Errorf("got %s", o.stdout)
	}
	for _, name := range []string{"config.yaml", "metrics.jsonl", "model.safetensors", "checkpoint", "curves.png", "curves.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if n := len(metricsOf(t, dir)); n != 2 {
		t.Errorf("%d lines of metrics, want one per pass", n)
	}
	dsp(t, with(small, "--out", dir)...).refused(exitBadInput, "--resume "+dir)
}

// Without --json, train prints a table and the paths of the files.
func TestTrainPrintsTable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	o := dsp(t, with(small, "--method", "sgd", "--passes", "1", "--out", dir)...).ok()
	for _, want := range []string{"objective", "sgd", filepath.Join(dir, "model.safetensors")} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if o.stderr != "" {
		t.Errorf("--quiet still logs: %s", o.stderr)
	}
}

// The configuration file of a run repeats the run; flags override it.
func TestConfigFile(t *testing.T) {
	t.Parallel()
	config := filepath.Join(reader(t), "config.yaml")
	again := filepath.Join(t.TempDir(), "again")
	dsp(t, "train", "--config", config, "--out", again, "--quiet").ok()
	if !bytes.Equal(modelOf(t, reader(t)), modelOf(t, again)) {
		t.Error("the same configuration gave another model")
	}
	var r resultJSON
	dsp(t, "train", "--config", config, "--out", filepath.Join(t.TempDir(), "x"), "--passes", "1", "--json").ok().json(&r)
	if r.Passes != 1 {
		t.Errorf("%d passes, want the flag's 1", r.Passes)
	}
}

// A certified convex run: the gap is the objective minus the dual, and --gap stops the run.
func TestCertificate(t *testing.T) {
	t.Parallel()
	var r resultJSON
	dsp(t, "train", "--examples", "60,10,10", "--net", "linear", "--method", "bcfw", "--reg", "10", "--passes", "200",
		"--gap", "0.2", "--baselines", "off", "--json", "--out", filepath.Join(t.TempDir(), "run")).ok().json(&r)
	if r.Gap == nil || r.Dual == nil || *r.Gap < 0 || *r.Gap > 0.2**r.Objective || r.Passes >= 200 {
		t.Errorf("got %+v", r)
	}
	if d := *r.Objective - *r.Dual - *r.Gap; d > 1e-9 || d < -1e-9 {
		t.Errorf("gap %v is not objective %v minus dual %v", *r.Gap, *r.Objective, *r.Dual)
	}
}

// A step that is far too long ends the run with advice and leaves no model.
func TestDivergence(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	dsp(t, with(small, "--method", "sgd", "--passes", "2", "--lr", "1e20", "--out", dir)...).refused(exitFailed, "pass 1", "Lower --lr")
	if _, err := os.Stat(filepath.Join(dir, "model.safetensors")); err == nil {
		t.Error("the run left a model")
	}
}

func TestPredict(t *testing.T) {
	t.Parallel()
	o := dsp(t, "predict", "--model", reader(t), "--input", "builtin", "--nbest", "3", "--marginals", "--json").ok()
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	if len(lines) != 30 {
		t.Fatalf("%d lines for 30 words", len(lines))
	}
	type output struct {
		Labels             []string
		Score, Probability float64
	}
	var p struct {
		ID string
		output
		NBest     []output
		Marginals [][]float64
	}
	for _, line := range lines {
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, q := range p.Marginals[0] {
			sum += q
		}
		if len(p.NBest) != 3 || len(p.Marginals) != len(p.Labels) || sum < 0.999 || sum > 1.001 ||
			strings.Join(p.NBest[0].Labels, "") != strings.Join(p.Labels, "") || p.NBest[1].Score > p.Score {
			t.Fatalf("got %s", line)
		}
	}
}

// Prediction appends one column to the input's columns; read back, that column has the error that eval reports.
func TestTagText(t *testing.T) {
	t.Parallel()
	text := write(t, "new.conll", sentences)
	var m metricsJSON
	dsp(t, "eval", "--model", tagger(t), "--data", text, "--json").ok().json(&m)
	if m.F1 != 1 || m.Tokens != 12 {
		t.Errorf("got %+v, want an F1 of 1 on 12 tokens that were trained on", m)
	}
	want := strings.ReplaceAll(sentences, "\tO\n", "\tO\tO\n")
	for _, tag := range []string{"B-X", "I-X"} {
		want = strings.ReplaceAll(want, "\t"+tag+"\n", "\t"+tag+"\t"+tag+"\n")
	}
	if o := dsp(t, "predict", "--model", tagger(t), "--input", text).ok(); o.stdout != want {
		t.Errorf("got\n%s", o.stdout)
	}
	o := dspWith(t, "the\nred\nfox\n", "predict", "--model", tagger(t)).ok()
	if o.stdout != "the\tO\nred\tB-X\nfox\tI-X\n" {
		t.Errorf("words alone on standard input: %q", o.stdout)
	}
}

func TestEvalTable(t *testing.T) {
	t.Parallel()
	text := write(t, "new.conll", sentences)
	if o := dsp(t, "eval", "--model", tagger(t), "--data", text).ok(); !strings.Contains(o.stdout, "FB1: 100.00") {
		t.Errorf("got\n%s", o.stdout)
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"p.npz", "p.safetensors"} {
		to := filepath.Join(t.TempDir(), name)
		dsp(t, "export", "--model", reader(t), "--data", "builtin", "--to", to).ok()
		if info, err := os.Stat(to); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	to := filepath.Join(t.TempDir(), "w.txt")
	dsp(t, "export", "--model", reader(t), "--weights", "--to", to).ok()
	if text, err := os.ReadFile(to); err != nil || !strings.Contains(string(text), "transition 26×26") {
		t.Errorf("%v: %.200s", err, text)
	}
}

func TestInfoOfModel(t *testing.T) {
	t.Parallel()
	var info struct {
		Net    string
		Labels []string
	}
	dsp(t, "info", reader(t), "--json").ok().json(&info)
	if info.Net != "cnn-image" || len(info.Labels) != 26 {
		t.Errorf("got %+v", info)
	}
	if o := dsp(t, "info", reader(t)).ok(); !strings.Contains(o.stdout, "transition") {
		t.Errorf("got %s", o.stdout)
	}
}

// The files that dsp data ocr writes can be trained on and evaluated.
func TestDrawnWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dsp(t, "data", "ocr", "--out", dir, "--train", "40", "--dev", "10", "--test", "20").ok()
	run := filepath.Join(dir, "run")
	dsp(t, "train", "--train", filepath.Join(dir, "train.data"), "--dev", filepath.Join(dir, "dev.data"), "--net", "linear",
		"--method", "sgd", "--passes", "2", "--out", run, "--quiet").ok()
	var m metricsJSON
	dsp(t, "eval", "--model", run, "--data", filepath.Join(dir, "test.data"), "--json").ok().json(&m)
	if m.Tokens == 0 || m.TokenError >= 1 {
		t.Errorf("got %+v", m)
	}
	for _, name := range []string{"train.png", "dev.png", "test.png", "difficulty.png"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func modelOf(t *testing.T, dir string) []byte {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// metricsOf returns the lines of metrics.jsonl.
func metricsOf(t *testing.T, dir string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range strings.Lines(string(text)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		lines = append(lines, m)
	}
	return lines
}
