package endtoend

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// countsText writes a text of whose words a model of counts learns the spelling.
func countsText(t *testing.T) string {
	return write(t, "train.conll", strings.Repeat(sentences+"\n", 10)+
		"a\tO\nRedding\tB-X\n\nthe\tO\nWilling\tB-X\n\nan\tO\nTelling\tB-X\n\n"+
		"the\tO\nSeating\tB-X\n\nan\tO\nMelding\tB-X\n")
}

// trainCounts trains a model of counts, in one pass, and returns its run.
func trainCounts(t *testing.T, text string) string {
	run := filepath.Join(t.TempDir(), "run")
	var r resultJSON
	dsp(t, "train", "--method", "counts", "--train", text, "--dev", text, "--out", run, "--quiet", "--json").ok().json(&r)
	if r.Net != "linear" || r.Passes != 1 || r.Gap != nil || r.Dev == nil || r.Dev.F1 < 0.9 {
		t.Errorf("got %+v", r)
	}
	return run
}

// A hidden Markov model knows unknown words by their spelling, and says which words it knows.
func TestCountsKnowWordsByTheirSpelling(t *testing.T) {
	t.Parallel()
	run := trainCounts(t, countsText(t))
	var p struct {
		Labels    []string
		Marginals [][]float64
	}
	dspWith(t, "the\tO\nHudding\tO\n", "predict", "--model", run, "--json", "--marginals").ok().json(&p)
	if len(p.Labels) != 2 || p.Labels[1] != "B-X" ||
		math.Abs(p.Marginals[1][0]+p.Marginals[1][1]+p.Marginals[1][2]-1) > 1e-6 {
		t.Errorf("got %+v", p)
	}
	if o := dsp(t, "info", filepath.Join(run, "model.safetensors")).ok(); !strings.Contains(o.stdout, "known words") {
		t.Errorf("info: %s", o.stdout)
	}
}

// A run of counts is resumed, and other methods go on from its model.
func TestRunsGoOnFromCounts(t *testing.T) {
	t.Parallel()
	text := countsText(t)
	run, next := trainCounts(t, text), filepath.Join(t.TempDir(), "next")
	dsp(t, "train", "--resume", run, "--passes", "3", "--quiet").ok()
	var r resultJSON
	dsp(t, "train", "--init", run, "--method", "lbfgs", "--reg", "0.01", "--train", text,
		"--dev", text, "--out", next, "--quiet", "--json").ok().json(&r)
	if r.Gap == nil || *r.Gap > 1e-3**r.Objective || r.Dev.F1 < 0.99 {
		t.Errorf("from it: %+v", r)
	}
}

// What has no meaning for counts is refused, what needs no data before these are read.
func TestCountsRefuse(t *testing.T) {
	t.Parallel()
	text := countsText(t)
	run := trainCounts(t, text)
	for flags, want := range map[string]string{
		"--edges none":                           "steps between labels",
		"--init " + run:                          "--init " + run + " has no effect with --method counts",
		"--structure segments":                   "labels of sequences, not a segmentation",
		"--loss hinge":                           "of which the loss hinge knows nothing",
		"--net deep":                             "needs scores that are linear",
		"--method-settings word=-1":              "expected at least 0",
		"--method sdca --method-settings word=1": "no effect with --method sdca",
	} {
		all := "train --method counts --quiet --train " + text + " --out " + filepath.Join(t.TempDir(), "x") + " " + flags
		if o := dsp(t, strings.Fields(all)...); o.code != exitBadInput || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit code %d, %s; want %s", flags, o.code, o.stderr, want)
		}
	}
	for _, loss := range []string{"hinge", "quadratic"} { // before data are read
		dsp(t, "train", "--method", "counts", "--train", "nowhere.conll", "--loss", loss).
			refused(exitBadInput, "of which the loss "+loss+" knows nothing", "crf")
	}
	o := dsp(t, "data", "pack", "--train", text, "--features", "hmm", "--out", filepath.Join(t.TempDir(), "x"))
	if o.code != exitBadInput || !strings.Contains(o.stderr, "piece by piece") {
		t.Errorf("pack: exit code %d, %s", o.code, o.stderr)
	}
}
