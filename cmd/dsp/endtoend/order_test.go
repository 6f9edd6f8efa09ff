package endtoend

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A second-order model is trained with a certificate, never predicts a step that the training data do not have, and
// goes where others go.
func TestSecondOrder(t *testing.T) {
	t.Parallel()
	text := write(t, "train.conll", strings.Repeat(sentences+"\n", 10))
	run := filepath.Join(t.TempDir(), "run")
	var r resultJSON
	dsp(t, "train", "--order", "2", "--train", text, "--dev", text, "--out", run, "--quiet", "--json").ok().json(&r)
	if r.Net != "linear" || r.Gap == nil || *r.Gap > 1e-3**r.Objective || r.Dev == nil || r.Dev.F1 != 1 {
		t.Errorf("got %+v", r)
	}
	var p struct {
		Labels  []string
		Entropy float64
		Samples [][]string
		NBest   []struct {
			Labels      []string
			Probability float64
		}
		Marginals [][]float64
		Spans     []struct {
			First, Last int
			Probability float64
		}
	}
	dspWith(t, "a O\nred O\nfox O\n", "predict", "--model", run, "--json", "--nbest", "100", "--marginals", "--entropy", "--samples", "20", "--spans", "--min-probability", "1e-9").ok().json(&p)
	labels := []string{"B-X", "I-X", "O"} // as the model numbers them
	total, entropy, spans, marginals := 0.0, 0.0, map[string]float64{}, [3][3]float64{}
	for _, o := range p.NBest {
		total += o.Probability
		entropy -= o.Probability * math.Log(o.Probability)
		for first := 0; first < 3; first++ {
			for k, l := range labels {
				if o.Labels[first] == l {
					marginals[first][k] += o.Probability
				}
			}
			last := first
			for last < 2 && o.Labels[last+1] == "I-X" {
				last++
			}
			if o.Labels[first] != "O" && (o.Labels[first] == "B-X" || first == 0 || o.Labels[first-1] == "O") {
				spans[fmt.Sprint(first, last)] += o.Probability
			}
		}
		if text := strings.Join(o.Labels, " "); strings.Contains(text, "I-X B-X") || strings.Contains(text, "O I-X") || strings.Contains(text, "B-X B-X") {
			t.Errorf("%s has a step that the data do not have", text)
		}
	}
	if math.Abs(total-1) > 1e-6 || math.Abs(entropy-p.Entropy) > 1e-5 || len(p.Samples) != 20 || len(p.Spans) != len(spans) {
		t.Errorf("%d outputs with %g, entropy %g for %g, %d samples, %d of %d entities", len(p.NBest), total, p.Entropy, entropy, len(p.Samples), len(p.Spans), len(spans))
	}
	for at := range marginals {
		for k, want := range marginals[at] {
			if math.Abs(p.Marginals[at][k]-want) > 1e-5 {
				t.Errorf("marginals %v, want %v", p.Marginals, marginals)
			}
		}
	}
	for _, s := range p.Spans {
		if want := spans[fmt.Sprint(s.First, s.Last)]; math.Abs(s.Probability-want) > 1e-5 {
			t.Errorf("%+v, want %g", s, want)
		}
	}
	if o := dspWith(t, "a O\nred ?\nfox ?\n", "predict", "--model", run, "--force").ok(); o.stdout != "a O O\nred ? B-X\nfox ? I-X\n\n" && o.stdout != "a O O\nred ? B-X\nfox ? I-X\n" {
		t.Errorf("--force: %q", o.stdout)
	}
	if o := dsp(t, "export", "--model", run, "--onnx", filepath.Join(t.TempDir(), "x.onnx")).ok(); !strings.Contains(o.stderr, "computes potentials and does not decode") {
		t.Errorf("onnx: %s", o.stderr)
	}
	var m metricsJSON
	if dsp(t, "eval", "--model", run, "--data", text, "--nll", "--json").ok().json(&m); m.F1 != 1 {
		t.Errorf("%+v", m)
	}

	next := filepath.Join(t.TempDir(), "next")
	dsp(t, "train", "--init", run, "--train", text, "--out", next, "--method", "lbfgs", "--quiet", "--json").ok().json(&r)
	if r.Gap == nil || *r.Gap > 1e-3**r.Objective {
		t.Errorf("from it: %+v", r)
	}
	counts := filepath.Join(t.TempDir(), "counts")
	dsp(t, "train", "--method", "counts", "--train", text, "--out", counts, "--quiet").ok()
	dsp(t, "train", "--init", counts, "--order", "2", "--method", "bcfw", "--loss", "hinge", "--passes", "5", "--train", text, "--out", filepath.Join(t.TempDir(), "x"), "--quiet").ok()
	dsp(t, "train", "--order", "2", "--net", "embed", "--passes", "2", "--train", text, "--out", filepath.Join(t.TempDir(), "y"), "--quiet").ok()

	for flags, want := range map[string]string{
		"--order 3":                      "expected 1 or 2",
		"--order 2 --partial":            "labels must be known",
		"--order 2 --structure segments": "--order 2 is for --structure chain",
		"--order 2 --edges none":         "not none",
		"--order 2 --task constituency":  "--order 2 has no effect with --task constituency",
		"--order 2 --method counts":      "not a second-order chain",
		"--init " + run + " --train " + write(t, "new.conll", "the\tO\nfox\tI-X\n"):   "label I-X after O, which the model's training data do not have",
		"--init " + run + " --train " + write(t, "other.conll", "the\tO\nfox\tB-Y\n"): "takes no new ones",
	} {
		args := append([]string{"train", "--quiet", "--out", filepath.Join(t.TempDir(), "x")}, strings.Fields(flags)...)
		if !strings.Contains(flags, "--train") {
			args = append(args, "--train", text)
		}
		if o := dsp(t, args...); o.code != exitBadInput || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit code %d, %s; want %s", flags, o.code, o.stderr, want)
		}
	}
}

// A run on drawn letters, which is compared with others, goes through with --order 2, too.
func TestSecondOrderBaselines(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "ocr", "--net", "linear", "--order", "2", "--loss", "crf", "--passes", "1", "--examples", "10,5,5", "--out", run, "--quiet").ok()
	if _, err := os.Stat(filepath.Join(run, "sgd", "model.safetensors")); err != nil {
		t.Error(err)
	}
}
