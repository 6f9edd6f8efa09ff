package endtoend

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// sweeping holds the flags of a sweep that takes a second or two.
var sweeping = []string{"sweep", "--examples", "40,12,16", "--net", "linear", "--passes", "3", "--grid", "reg=0.1,1,10", "--grid", "method=bcfw,svrg", "--quiet"}

// sweepJSON holds the fields that tests read from the object that sweep prints last.
type sweepJSON struct {
	Metric, Finding, Model, Picture string
	Folds                           int
	Trials                          []struct {
		Trial    int
		Settings struct {
			Reg    float64
			Method string
		}
		Metric, SD *float64
		Folds      []float64
		Error      string
	}
	Best struct{ Method string }
}

// The best model of a sweep can predict, and the table has one row per setting.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sweep")
	var r sweepJSON
	dsp(t, with(sweeping, "--folds", "2", "--json", "--out", dir)...).ok().json(&r)
	if len(r.Trials) != 6 || r.Metric != "accuracy" || r.Folds != 2 || r.Best.Method != r.Trials[0].Settings.Method || r.Trials[0].SD == nil {
		t.Errorf("%+v", r)
	}
	if picture, err := os.ReadFile(r.Picture); err != nil || !bytes.HasPrefix(picture, []byte("\x89PNG")) {
		t.Errorf("picture: %v", err)
	}
	dsp(t, "predict", "--model", filepath.Join(dir, "best"), "--input", "builtin").ok()

	o := dsp(t, "sweep", "--resume", dir, "--quiet").ok()
	for _, part := range []string{"best is reg=", "2-fold accuracy", "± sd", "certified gap", "svrg", filepath.Join(dir, "best", "model.safetensors")} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("no %q in\n%s", part, o.stdout)
		}
	}
}

func TestSweepFromConfig(t *testing.T) {
	t.Parallel()
	path := write(t, "sweep.yaml", `examples: [80, 20, 30]
net: linear
method: sgd
passes: 2
grid: ["lr=0.01,1e20", "batch=1,4"]
`)
	dir := filepath.Join(t.TempDir(), "sweep")
	o := dsp(t, "sweep", "--config", path, "--out", dir, "--quiet").ok()
	if strings.Count(o.stdout, "failed with lr=1e+20, batch=") != 2 || !strings.Contains(o.stdout, "Lower --lr") {
		t.Errorf("got\n%s", o.stdout)
	}
	dsp(t, "sweep", "--resume", dir, "--config", path).refused(exitBadInput, "--config and --resume")
}

func TestSweepRefuses(t *testing.T) {
	t.Parallel()
	for args, message := range map[string]string{
		"":                "--grid",
		"--grid rge=1,2":  "unknown setting",
		"--grid regg=1,2": `did you mean "reg"`,
		"--grid reg=1,-1": "expected a number of at least 0",
		"--grid reg=1,x":  "expected a number",
		"--grid reg=1,2 --metric f1 --examples 5,2,2":   "not entity tags",
		"--grid reg=1,2 --folds x":                      "a whole number",
		"--gird reg=1,2":                                "did you mean --grid",
		"--grid method=bcfw --net mlp --examples 5,2,2": "bcfw",
		"--grid loss=hinge,crff":                        "did you mean crf",
		"--resume nowhere":                              "no sweep.yaml",
		"--grid reg=1,2 --random -1":                    "at least 0",
		"--grid reg=1,2 --task tag":                     "--train",
		"--grid reg=1,2 --train nofile":                 "nofile",
	} {
		dsp(t, append([]string{"sweep"}, strings.Fields(args)...)...).refused(exitBadInput, message)
	}
}

// A sweep that is interrupted or killed continues with the settings that are missing, and gives the same model.
func TestSweepResumes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	flags := with(sweeping, "--folds", "2", "--passes", "8", "--jobs", "1")
	whole := filepath.Join(t.TempDir(), "whole")
	dsp(t, with(flags, "--out", whole)...).ok()
	for _, signal := range []os.Signal{os.Kill, os.Interrupt} {
		dir := filepath.Join(t.TempDir(), signal.String())
		lines := func() []byte {
			text, _ := os.ReadFile(filepath.Join(dir, "sweep.jsonl"))
			return text[:bytes.LastIndexByte(text, '\n')+1]
		}
		struck := false
		for try := 0; try < 30 && !struck; try++ { // on a busy machine a sweep may be over before the signal
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			r := started(t, with(flags, "--out", dir))
			for over := false; !over && bytes.Count(lines(), []byte("\n")) < 2; {
				select {
				case <-r.ended:
					over = true
				case <-time.After(time.Millisecond):
				}
			}
			struck = r.end(signal)
		}
		if !struck {
			t.Fatalf("%v: 30 sweeps were over before the signal", signal)
		}
		before := lines()
		dsp(t, "sweep", "--resume", dir, "--quiet").ok()
		if after := lines(); !bytes.HasPrefix(after, before) || bytes.Count(after, []byte("\n")) != 6 {
			t.Errorf("%v: had\n%shas\n%s", signal, before, after)
		}
		if !bytes.Equal(modelOf(t, filepath.Join(dir, "best")), modelOf(t, filepath.Join(whole, "best"))) {
			t.Errorf("%v: another model", signal)
		}
	}
}
