package endtoend

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// reportJSON holds the fields that tests read from the object that report prints.
type reportJSON struct {
	Report, Finding, Data string
	Notes                 []string
	Measures              []struct {
		Metric               string
		Value, SD, Low, High float64
		Interval             string
	}
}

var outside = regexp.MustCompile(`(?:src|href)="([^"]*)"`)

// pageOf reads a page and checks that it is well-formed, runs nothing and loads nothing. It returns its text.
func pageOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if e.Name.Local == "script" {
				t.Errorf("%s has a script", path)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("%s: <%s %s=%q>", path, e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	for _, m := range outside.FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:image/png;base64,") {
			t.Errorf("%s loads %.60s", path, m[1])
		}
	}
	if strings.Contains(string(text), "url(") || strings.Contains(string(text), "@import") || strings.Contains(string(text), "ZgotmplZ") {
		t.Errorf("%s loads something, or something was not escaped", path)
	}
	return string(text)
}

// shows fails the test unless a page has all parts and none of those behind "-".
func shows(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if without, ok := strings.CutPrefix(part, "-"); ok == strings.Contains(page, without) {
			t.Errorf("the page: %q", part)
		}
	}
}

// hostileTags returns sentences whose words and labels look like HTML.
func hostileTags() string {
	s := strings.NewReplacer("fox", "</td><script>alert(1)</script>", "runs", "<img/src=x/onerror=alert('&amp;')>", "sees", "\"{{.}}\"]]>", "-X", "-<b>&")
	return strings.Repeat(s.Replace(sentences)+"\n", 6)
}

// The report of a tagger shows everything; a hostile word is a word, and a hostile label a label.
func TestReportTag(t *testing.T) {
	t.Parallel()
	data := write(t, "train.conll", hostileTags())
	// Held-out labels differ, so that there are mistakes.
	test := write(t, "test.conll", strings.Replace(hostileTags(), "\tO\n", "\tB-<b>&\n", 3))
	run := filepath.Join(t.TempDir(), "run<i>")
	dsp(t, "train", "--train", data, "--dev", data, "--test", test, "--out", run, "--passes", "4", "--baselines", "on", "--quiet").ok()
	var r reportJSON
	dsp(t, "report", run, "--json").ok().json(&r)
	if r.Report != filepath.Join(run, "report.html") || len(r.Notes) != 0 || len(r.Measures) != 3 || r.Measures[0].Metric != "f1" || r.Data != test {
		t.Errorf("%+v", r)
	}
	if m := r.Measures[0]; !(m.Low < m.Value && m.Value < m.High && m.SD > 0) || m.Interval != "Korn-Graubard" || !strings.Contains(r.Finding, "95 % interval") {
		t.Errorf("%+v", r)
	}
	page := pageOf(t, r.Report)
	shows(t, page, "run&lt;i&gt;", "trained on train.conll", "All settings", "certified gap", "Against ", "By label", "By type", "Confusions", "calibration error", "average precision",
		"Worst errors", "Largest weights", "class=\"wrong\"", "&lt;script&gt;alert(1)", "background:rgba(", "-<img", "-interrupted")
	if strings.Contains(page, filepath.Dir(data)) || strings.Contains(page, filepath.Dir(test)) {
		t.Error("the report says where its maker keeps the data")
	}
	if n := strings.Count(page, "<svg "); n != 3 {
		t.Errorf("%d pictures, expected curves, reliability and precision", n)
	}

	out := filepath.Join(t.TempDir(), "other.html")
	o := dsp(t, "report", run, "--data", data, "--out", out).ok()
	if !strings.Contains(o.stdout, out) || !strings.Contains(o.stdout, "Entity F1 is 100.00 %") {
		t.Errorf("printed\n%s", o.stdout)
	}
	shows(t, pageOf(t, out), "None of 18 outputs is wrong")

	// A model without its run folder.
	model := filepath.Join(t.TempDir(), "model.safetensors")
	copyFile(t, filepath.Join(run, "model.safetensors"), model)
	dsp(t, "report", model, "--data", test).ok() // a model says no paths
	shows(t, pageOf(t, model+".html"), "model file alone", "Worst errors", "-<h2>Training")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReportParse(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(drawnTrees(t), "test.conllu"))
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`(?m)^(2\t)[^\t]*`).ReplaceAll(text, []byte("$1</text><script>x</script>"))
	data, out := write(t, "test.conllu", string(words)), filepath.Join(t.TempDir(), "r.html")
	dsp(t, "report", parser(t), "--data", data, "--out", out).ok()
	shows(t, pageOf(t, out), "LAS", "By relation", "nsubj", "Worst errors", "calibration error", "Pictures of the worst", "&lt;script&gt;", "-Largest weights")
}

func TestReportSegment(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "segment", "--examples", "6,3,3", "--passes", "4", "--out", run, "--quiet").ok()
	dsp(t, "report", run).ok()
	shows(t, pageOf(t, filepath.Join(run, "report.html")), "Mean class IoU is", "Confusions", "wrong regions", "data:image/png;base64", "Against bcpfw, no edges", "-calibration error")
}

// Of a run that did not end there are the passes so far; without any pass, the settings.
func TestReportOfInterruptedRun(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--examples", "40,10,10", "--net", "linear", "--method", "bcfw", "--passes", "4", "--evaluate", "every", "--baselines", "off", "--out", run, "--quiet").ok()
	if err := os.Remove(filepath.Join(run, "model.safetensors")); err != nil {
		t.Fatal(err)
	}
	metrics := filepath.Join(run, "metrics.jsonl")
	text, err := os.ReadFile(metrics)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(metrics, []byte(lines[0]+lines[1]+lines[2][:20]), 0o666); err != nil { // killed in pass 3
		t.Fatal(err)
	}
	o := dsp(t, "report", run).ok()
	if !strings.Contains(o.stdout, "interrupted after pass 2 of 4") || !strings.Contains(o.stdout, "--resume "+run) {
		t.Errorf("printed\n%s", o.stdout)
	}
	shows(t, pageOf(t, filepath.Join(run, "report.html")), "interrupted after pass 2 of 4", "certified gap", "<svg ", "-Worst errors")
	if err := os.Remove(metrics); err != nil {
		t.Fatal(err)
	}
	dsp(t, "report", run).ok()
	shows(t, pageOf(t, filepath.Join(run, "report.html")), "before its first pass", "All settings", "-<svg ")
}

// The weights of the checkpoint of an interrupted run are measured.
func TestReportOfCheckpoint(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	run := filepath.Join(t.TempDir(), "run")
	p := started(t, []string{"train", "--examples", "40,10,10", "--net", "linear", "--method", "bcfw", "--passes", "1000000", "--gap", "0", "--evaluate", "every", "--baselines", "off", "--out", run, "--quiet"})
	p.awaitPass(run)
	if !p.end(os.Interrupt) {
		t.Fatal("the run ended before the signal")
	}
	o := dsp(t, "report", run).ok()
	if !strings.Contains(o.stdout, "The run was interrupted after pass") || !strings.Contains(o.stdout, "those of its checkpoint") {
		t.Errorf("printed\n%s", o.stdout)
	}
	shows(t, pageOf(t, filepath.Join(run, "report.html")), "interrupted after pass", "certified gap", "By label")
}

func TestReportRefuses(t *testing.T) {
	t.Parallel()
	run := tagger(t)
	for args, message := range map[string]string{
		"":                                "the folder of a run",
		"nowhere":                         "nowhere",
		t.TempDir():                       "neither config.yaml",
		run + " --data nofile":            "nofile",
		run + " --out " + t.TempDir():     "a folder",
		run + " --out nowhere/r.html":     "--out",
		run + " --columns word=0,label=1": "without that",
		run + " --device cuda":            "on the CPU",
		run + " " + run:                   "takes flags only",
	} {
		dsp(t, append([]string{"report"}, strings.Fields(args)...)...).refused(exitBadInput, message)
	}
}

// The report of a sweep compares the settings, and is about the best run; before there is one, about the settings that
// are done.
func TestReportSweep(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sweep")
	dsp(t, with(sweeping, "--out", dir)...).ok()
	dsp(t, "report", dir).ok()
	page := pageOf(t, filepath.Join(dir, "report.html"))
	shows(t, page, "Settings compared", "Best is reg=", "points behind", "behind the best", "Confusions", "-interrupted")
	if n := strings.Count(page, "<svg "); n < 2 {
		t.Errorf("%d pictures", n)
	}
	for _, path := range []string{filepath.Join(dir, "best"), filepath.Join(dir, "sweep.svg")} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	trials, err := os.ReadFile(filepath.Join(dir, "sweep.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sweep.jsonl"), trials[:bytes.IndexByte(trials, '\n')+9], 0o666); err != nil {
		t.Fatal(err)
	}
	o := dsp(t, "report", dir).ok()
	if !strings.Contains(o.stdout, "1 of 6 settings are done") {
		t.Errorf("printed\n%s", o.stdout)
	}
	shows(t, pageOf(t, filepath.Join(dir, "report.html")), "1 of 6 settings", "Settings compared", "-Worst errors")
}

// Intervals of a model, and of its difference to another one.
func TestEvalIntervals(t *testing.T) {
	t.Parallel()
	train := write(t, "train.conll", strings.Repeat(sentences+"\n", 10))
	test := write(t, "test.conll", strings.Repeat(sentences+"\n", 10)+strings.Replace(sentences, "\tO\n", "\tB-X\n", 2))
	good, poor := filepath.Join(t.TempDir(), "good"), filepath.Join(t.TempDir(), "poor")
	dsp(t, "train", "--train", train, "--out", good, "--quiet").ok()
	wrong := write(t, "wrong.conll", strings.Repeat(strings.ReplaceAll(sentences, "a\tO\nfox\tB-X", "a\tB-X\nfox\tI-X")+"\n", 10))
	dsp(t, "train", "--train", wrong, "--out", poor, "--quiet").ok()
	o := dsp(t, "eval", "--model", good, "--data", test, "--intervals", "--against", poor).ok()
	for _, part := range []string{"entity F1", "95 % interval", good + " against " + poor, "Korn-Graubard's method", "p = 0.0036", "corrected for 3 tests (Holm's method)"} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("no %q in\n%s", part, o.stdout)
		}
	}
	var r struct {
		F1        float64
		Intervals []struct {
			Metric               string
			Value, SD, Low, High float64
		}
		Against struct {
			Model       string
			Differences []struct {
				Metric                        string
				Value, Against, Gain, SD, Low float64
				P                             float64 `json:"p_holm"`
			}
		}
	}
	dsp(t, "eval", "--model", good, "--data", test, "--intervals", "--against", poor, "--errors", "2", "--json").ok().json(&r)
	b, d := r.Intervals[0], r.Against.Differences[0]
	if b.Metric != "f1" || b.Value != r.F1 || !(b.Low < b.Value && b.Value < b.High && b.SD > 0) {
		t.Errorf("%+v", b)
	}
	if d.Value != r.F1 || d.Gain != d.Value-d.Against || !(d.P < 0.05) || d.Low <= 0 || r.Against.Model != poor {
		t.Errorf("%+v", d)
	}
	dsp(t, "eval", "--model", good, "--data", test, "--intervals", "--strict").ok()
	dsp(t, "eval", "--model", good, "--data", test, "--against", "nowhere").refused(exitBadInput, "nowhere")
	dsp(t, "eval", "--model", good, "--data", test, "--against", parser(t)).refused(exitBadInput, "--task is parse")
	dsp(t, "eval", "--model", good, "--data", write(t, "one.conll", "the\tO\n"), "--intervals").refused(exitBadInput, "one example")
}
