package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cmd/dsp/cli/clitest"
	"github.com/dsp-go/dsp/oracles/oracletest"
)

func TestMain(m *testing.M) {
	register()
	os.Exit(m.Run())
}

// The contract suite compares the structure, its loss and its oracle with the enumeration of all outputs of small
// examples.
func TestContract(t *testing.T) {
	oracletest.RunStructure(t, kind)
	oracletest.Run(t, kind, kind.Oracle())
}

// Every loss trains, by methods of every kind; the model predicts, and no prediction has more items than it may.
func TestVerbs(t *testing.T) {
	for _, args := range []string{"", "--net linear --loss crf --method lbfgs", "--net linear --loss softmax-margin --method svrg", "--net linear --method bcfw"} {
		dir := filepath.Join(t.TempDir(), "run")
		train := append([]string{"train", "--task", "select", "--task-settings", "most=2", "--examples", "60,20,40", "--passes", "20", "--quiet",
			"--baselines", "off", "--out", dir}, strings.Fields(args)...)
		if code, out := clitest.Run(t, train...); code != 0 {
			t.Fatalf("%q: exit code %d, %s", args, code, out)
		}
		code, out := clitest.Run(t, "eval", "--model", dir, "--data", "builtin", "--json")
		var r struct {
			Accuracy float64 `json:"token_accuracy"`
		}
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || r.Accuracy < 0.8 {
			t.Errorf("%q: exit code %d, accuracy %g, %s", args, code, r.Accuracy, out)
		}
		code, out = clitest.Run(t, "predict", "--model", dir, "--input", "builtin", "--json", "--marginals")
		if code != 0 || strings.Count(out, `{"id"`) != 40 {
			t.Fatalf("%q: exit code %d, %s", args, code, out)
		}
		for line := range strings.Lines(out) {
			if strings.Count(line, `"in"`) > 2 {
				t.Errorf("%q: %s", args, line)
			}
		}
	}
}

func TestIsKnown(t *testing.T) {
	for args, want := range map[string]string{
		"info":         "selection: max, exp",
		"info --tasks": "--task-settings most=3: how many",
		"train --help": "pipeline|select",
		"train --task select --task-settings many=2":        `--task select has no setting "many"; it has most`,
		"train --task select --task-settings most=0":        "--task-settings most 0: expected at least 1",
		"train --task select --edges none":                  "--edges none has no effect with --task select; it is for --task ",
		"train --task tag --task-settings most=3 --train x": `--task tag has no setting "most"`,
	} {
		_, out := clitest.Run(t, strings.Fields(args)...)
		if !strings.Contains(strings.ReplaceAll(out, "|\n    ", "|"), want) { // help wraps the list of tasks
			t.Errorf("%s: %s; want %s", args, out, want)
		}
	}
}
