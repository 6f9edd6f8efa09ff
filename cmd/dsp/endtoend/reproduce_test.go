package endtoend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallFigure = `figure: 1
title: two methods
seeds: 2
settings: {task: ocr, examples: [24, 8, 8], net: linear, loss: hinge, passes: 2}
curves:
  - {name: sgd, settings: {method: sgd, lr: 0.01}}
  - {name: bcfw, settings: {method: bcfw}}
claims:
  - {says: Both end somewhere., where: nowhere, check: "final objective: max(sgd, bcfw) <= 1e9"}
`

// An edited figure runs, prints its verdicts, and is not trained again.
func TestReproduce(t *testing.T) {
	t.Parallel()
	path, dir := write(t, "figure.yaml", smallFigure), filepath.Join(t.TempDir(), "out")
	o := dsp(t, "reproduce", "casimir", "--from", path, "--out", dir).ok()
	for _, part := range []string{"agrees", "2 of 2 seeds", filepath.Join(dir, "claims.md"), filepath.Join(dir, "figure1.png")} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("no %q in\n%s", part, o.stdout)
		}
	}
	if !strings.Contains(o.stderr, "4/4 runs") {
		t.Errorf("progress is\n%s", o.stderr)
	}
	var r struct {
		Table   string
		Figures []struct{ Claims []struct{ Verdict string } }
	}
	if o = dsp(t, "reproduce", "casimir", "--from", path, "--out", dir, "--json").ok(); strings.Contains(o.stderr, "4/4 runs") {
		t.Errorf("trained again:\n%s", o.stderr)
	}
	if o.json(&r); len(r.Figures) != 1 || r.Figures[0].Claims[0].Verdict != "agrees" {
		t.Errorf("%+v", r)
	}
}

// The program's figures can be written out and edited.
func TestReproduceWrites(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "studies")
	o := dsp(t, "reproduce", "casimir", "--write", dir).ok()
	if names, err := os.ReadDir(dir); err != nil || len(names) != 6 || !strings.Contains(o.stdout, names[0].Name()) {
		t.Errorf("%v %v\n%s", names, err, o.stdout)
	}
	dsp(t, "reproduce", "casimir", "--write", dir).refused(exitBadInput, "is there already")
}

func TestReproduceRefuses(t *testing.T) {
	t.Parallel()
	bad := write(t, "bad.yaml", strings.Replace(smallFigure, "seeds", "sedes", 1))
	path := write(t, "figure.yaml", smallFigure)
	for args, message := range map[string]string{
		"casimr":                                    "did you mean casimir?",
		"casimir now":                               "flags only",
		"casimir --from " + bad:                     bad + `:3: the figure has no key "sedes"`,
		"casimir --from nowhere":                    "--from",
		"casimir --figure 9 --from " + path:         "--figure 9: there is no such figure; there are 1",
		"casimir --seeds -1":                        "--seeds -1",
		"casimir --threads -1":                      "--threads -1",
		"casimir --dev dev.conll":                   "need --train",
		"casimir --from " + path + " --out " + path: "--out",
	} {
		dsp(t, append([]string{"reproduce"}, strings.Fields(args)...)...).refused(exitBadInput, message)
	}
}
