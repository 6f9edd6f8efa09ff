package endtoend

import (
	"os"
	"path/filepath"
	"testing"
)

// By default dual methods compute the objective where it may end a run, and in every tenth pass: other lines have null.
// The last pass always has it, and pictures, reports and runs that go on take the others as they are. With --evaluate
// every each pass has it, and the model is the same.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	data, dir := write(t, "lessons.conll", lessons(0, 60, "ish")), t.TempDir()
	// No method comes so near to the optimum that it certifies it on the way.
	for _, c := range [][]string{{"--method", "sdca", "--loss", "crf", "--reg", "0.1"}, {"--method", "bcpfw", "--loss", "hinge"}, {"--method", "bcfw", "--loss", "hinge"}} {
		name := c[1]
		train := func(to string, more ...string) (out trained) {
			args := append([]string{"train", "--train", data, "--dev", data, "--gap", "0", "--passes", "13", "--json", "--quiet", "--out", filepath.Join(dir, name+to)}, c...)
			dspIn(t, []string{"DSP_CURVES=on"}, append(args, more...)...).ok().json(&out)
			return out
		}
		auto, every := train("auto"), train("every", "--evaluate", "every")
		for k, p := range passesOf(t, filepath.Join(dir, name+"auto")) {
			known := p.Pass == 10 || p.Pass == 13
			if has := p.Objective != nil; has != known || has != (p.Dual != nil) || has != (p.Gap != nil) {
				t.Errorf("%s, line %d: objective %v, dual %v, gap %v", name, k+1, p.Objective, p.Dual, p.Gap)
			}
		}
		for _, p := range passesOf(t, filepath.Join(dir, name+"every")) {
			if p.Objective == nil || p.Dual == nil || p.Gap == nil {
				t.Errorf("%s with --evaluate every: pass %d has no objective", name, p.Pass)
			}
		}
		for _, m := range metricsOf(t, filepath.Join(dir, name+"auto")) {
			if m["dev"] == nil {
				t.Errorf("%s: pass %v has no development metrics", name, m["pass"])
			}
		}
		if auto.Objective == nil || auto.Kept.Objective == nil || every.Dual == nil || *auto.Dual != *every.Dual {
			t.Errorf("%s: %+v, with --evaluate every %+v", name, auto, every)
		}
		for _, run := range []string{name + "auto", name + "every"} {
			if _, err := os.Stat(filepath.Join(dir, run, "curves.svg")); err != nil {
				t.Error(err)
			}
		}
		dsp(t, "report", filepath.Join(dir, name+"auto")).ok()
		short := filepath.Join(dir, name+"short")
		train("short", "--passes", "7")
		dsp(t, "train", "--resume", short, "--passes", "13", "--quiet").ok()
		if string(modelOf(t, short)) != string(modelOf(t, filepath.Join(dir, name+"auto"))) {
			t.Errorf("%s: a run that went on after pass 7 has another model", name)
		}
	}
	dsp(t, "train", "--train", data, "--evaluate", "seldom").refused(exitBadInput, "--evaluate")
}

type trained struct {
	Objective, Dual *float64
	Kept            struct{ Objective *float64 }
}
