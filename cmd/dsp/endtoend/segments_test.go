package endtoend

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// A model of segments is trained with a certificate, predicts tags and the probabilities of entities, and goes where
// others go.
func TestSegments(t *testing.T) {
	t.Parallel()
	text := write(t, "train.conll", strings.Repeat(sentences+"\n", 10))
	run := filepath.Join(t.TempDir(), "run")
	var r resultJSON
	dsp(t, "train", "--task", "tag", "--structure", "segments", "--segment-ends", "--train", text, "--dev", text, "--out", run, "--quiet", "--json").ok().json(&r)
	if r.Net != "linear" || r.Gap == nil || *r.Gap > 1e-3**r.Objective || r.Dev == nil || r.Dev.F1 != 1 {
		t.Errorf("got %+v", r)
	}
	o := dsp(t, "predict", "--model", run, "--input", write(t, "new.conll", sentences)).ok()
	for line := range strings.Lines(strings.TrimSpace(o.stdout)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] != f[2] {
			t.Errorf("%q: another tag", line)
		}
	}

	// The best output is the first of the list; the probabilities of all outputs that have an entity sum to that of the
	// entity.
	var p struct {
		Labels      []string
		Probability float64
		NBest       []struct {
			Labels      []string
			Probability float64
		}
		Marginals [][]float64
		Spans     []struct {
			Type        string
			First, Last int
			Probability float64
		}
	}
	dspWith(t, "a O\nred O\nfox O\n", "predict", "--model", run, "--json", "--nbest", "1000", "--marginals", "--spans", "--min-probability", "1e-9").ok().json(&p)
	total, spans := 0.0, map[string]float64{}
	for k, other := range p.NBest {
		total += other.Probability
		if k == 0 && (fmt.Sprint(other.Labels) != fmt.Sprint(p.Labels) || other.Probability != p.Probability) {
			t.Errorf("the first of the list is %v, the best %v", other, p.Labels)
		}
		for first := 0; first < 3; first++ {
			last := first
			for last < 2 && other.Labels[last+1] == "I-X" {
				last++
			}
			if other.Labels[first] == "B-X" {
				spans[fmt.Sprint(first, last)] += other.Probability
			}
		}
	}
	if math.Abs(total-1) > 1e-6 || len(p.NBest) != 13 || len(p.Spans) != len(spans) { // 13 divisions of three tokens
		t.Errorf("%d outputs sum to %g, %d entities, want %d", len(p.NBest), total, len(p.Spans), len(spans))
	}
	for _, s := range p.Spans {
		if want := spans[fmt.Sprint(s.First, s.Last)]; math.Abs(s.Probability-want) > 1e-6 {
			t.Errorf("%+v, want %g", s, want)
		}
	}

	var m metricsJSON
	dsp(t, "eval", "--model", run, "--data", text, "--errors", "3", "--json").ok().json(&m)
	if m.F1 != 1 {
		t.Errorf("%+v", m)
	}
	counted := filepath.Join(t.TempDir(), "counted")
	dsp(t, "train", "--task", "tag", "--structure", "segments", "--segment-loss", "segments", "--loss", "hinge", "--method", "bcfw", "--passes", "20", "--train", text, "--out", counted, "--quiet", "--json").ok().json(&r)
	if r.Gap == nil || !(*r.Gap < 0.5**r.Objective) {
		t.Errorf("got %+v", r)
	}
	dsp(t, "eval", "--model", counted, "--data", text, "--json").ok().json(&m)
	if m.F1 != 1 {
		t.Errorf("%+v", m)
	}
	if o := dsp(t, "info", run).ok(); !strings.Contains(o.stdout, "length") || !strings.Contains(o.stdout, "structure: segments") {
		t.Error(o.stdout)
	}
	for _, to := range []string{"potentials.npz", "weights.txt"} {
		args := []string{"export", "--model", run, "--to", filepath.Join(t.TempDir(), to)}
		if to == "weights.txt" {
			args = append(args, "--weights")
		} else {
			args = append(args, "--data", text)
		}
		dsp(t, args...).ok()
	}
	dsp(t, "export", "--model", run, "--onnx", filepath.Join(t.TempDir(), "model.onnx")).ok()
	s := serve(t, "--model", run)
	if status, got := s.post("predict", `{"words": ["the", "red", "fox"]}`); status != 200 || !strings.Contains(got, "B-X") {
		t.Errorf("%d, %s", status, got)
	}
}

// A template has attributes of whole segments: training without attributes of tokens depends on them, is certified, and
// two methods come to the same optimum; predictions, serving, packs and runs that continue agree with it.
func TestWholeSegments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, template := write(t, "train.conll", strings.Repeat(sentences+"\n", 3)), write(t, "s.template", "Ubias\nSw=%lower[all,word]\nSl=%length\nSb=%x[first-1,word]\nSg=%each[all,gazetteer?]\n")
	names := write(t, "animal.txt", "red fox\n")
	args := func(out string, more ...string) []string {
		return append([]string{"train", "--task", "tag", "--structure", "segments", "--template", template, "--gazetteer", names, "--train", text, "--dev", text,
			"--out", filepath.Join(dir, out), "--quiet", "--json"}, more...)
	}
	var a, b resultJSON
	dsp(t, args("a", "--gap", "1e-4")...).ok().json(&a)
	dsp(t, args("b", "--gap", "1e-4", "--method", "lbfgs")...).ok().json(&b)
	if a.Gap == nil || b.Gap == nil || *a.Gap > 1e-3**a.Objective || math.Abs(*a.Objective-*b.Objective) > *a.Gap+*b.Gap+1e-6 || a.Dev.F1 != 1 {
		t.Errorf("got %+v and %+v", a, b)
	}
	run := filepath.Join(dir, "a")
	if o := dsp(t, "info", run).ok(); !strings.Contains(o.stdout, "attributes of whole segments") || !strings.Contains(o.stdout, "Sw=%lower[all,word]") {
		t.Error(o.stdout)
	}
	input := write(t, "new.conll", "the\nred\nfox\n\nfox\n\n")
	whole := dsp(t, "predict", "--model", run, "--input", input, "--json").ok().stdout
	if again := dspWith(t, "the\nred\nfox\n\nfox\n\n", "predict", "--model", run, "--json").ok().stdout; again != whole {
		t.Errorf("from standard input\n%s\nexpected\n%s", again, whole)
	}
	s := serve(t, "--model", run)
	for line, object := range map[int]string{0: `{"words": ["the", "red", "fox"]}`, 1: `{"words": ["fox"]}`} {
		_, got := s.post("predict", object)
		if want := strings.SplitAfter(whole, "\n")[line]; got != strings.Replace(want, `{"id":"1"`, `{"id":"0"`, 1) {
			t.Errorf("served %s, predicted %s", got, want)
		}
	}
	pack := packed(t, "--task", "tag", "--structure", "segments", "--template", template, "--gazetteer", names, "--train", text)
	dsp(t, "train", "--train", pack, "--gap", "1e-4", "--dev", text, "--quiet", "--out", filepath.Join(dir, "packed")).ok()
	if _, want := modelIn(t, run); true {
		if _, got := modelIn(t, filepath.Join(dir, "packed")); !bytes.Equal(got, want) {
			t.Error("a pack gives another model")
		}
	}
	dsp(t, "train", "--init", run, "--train", text, "--passes", "1", "--quiet", "--out", filepath.Join(dir, "next")).ok()
	dsp(t, "train", "--template", template, "--gazetteer", names, "--train", text).refused(exitBadInput, "s.template:2: a line that begins with S", "--structure segments")
	dsp(t, args("x", "--net", "deep")...).refused(exitBadInput, "does not read attributes of whole segments")
}

// What does not go with segments is refused before any training.
func TestSegmentsRefused(t *testing.T) {
	t.Parallel()
	text := write(t, "train.conll", sentences)
	train := func(args ...string) outcome {
		return dsp(t, append([]string{"train", "--task", "tag", "--structure", "segments", "--train", text, "--out", t.TempDir(), "--quiet"}, args...)...)
	}
	train("--max-length", "2").refused(exitBadInput, "train.conll:10: a segment B-X of 3 tokens", "--overlong split")
	train("--constraints", "iob2").refused(exitBadInput, "no effect on segments")
	dsp(t, "train", "--task", "tag", "--max-length", "2", "--train", text).refused(exitBadInput, "--structure segments")
	tags := write(t, "pos.conll", "the DET\nfox NOUN\n")
	dsp(t, "train", "--task", "tag", "--structure", "segments", "--train", tags, "--out", t.TempDir()).refused(exitBadInput, "needs labels like O, B-x, I-x")
}
