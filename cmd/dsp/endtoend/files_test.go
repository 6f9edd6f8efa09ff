package endtoend

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Several files train as one that has them all, however they are named; errors name the file and line; and nothing is
// dropped silently.
func TestSeveralFiles(t *testing.T) {
	t.Parallel()
	dir, a, b := t.TempDir(), lessons(0, 20, "ish"), lessons(5, 20, "est")
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	both, one, two := at("both.conll", a+b), at("parts/a.conll", a), at("parts/b.conll", b)
	runs := 0
	model := func(args ...string) []byte {
		runs++
		run := filepath.Join(dir, "runs", string(rune('a'+runs)))
		dsp(t, with([]string{"train", "--passes", "3", "--quiet", "--out", run}, args...)...).ok()
		m := modelOf(t, run)
		return m[strings.Index(string(m), "attribute_names"):] // but for the metadata, which names the files
	}
	weights := func(args ...string) string {
		model(args...)
		to := filepath.Join(dir, "w.txt")
		dsp(t, "export", "--model", filepath.Join(dir, "runs", string(rune('a'+runs))), "--weights", "--to", to).ok()
		text, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := weights("--train", both)
	for name, args := range map[string][]string{
		"the flag again": {"--train", one, "--train", two}, "commas": {"--train", one + "," + two},
		"a pattern": {"--train", filepath.Join(dir, "parts", "*.conll")}, "a folder": {"--train", filepath.Join(dir, "parts")},
	} {
		if weights(args...) != want {
			t.Errorf("%s: other weights than those of one file with both", name)
		}
	}
	config, err := os.ReadFile(filepath.Join(dir, "runs", string(rune('a'+runs)), "config.yaml"))
	if err != nil || !strings.Contains(string(config), one+","+two) {
		t.Errorf("config.yaml does not list the files: %v\n%s", err, config)
	}
	var whole, parts metricsJSON
	run := filepath.Join(dir, "runs", "b")
	dsp(t, "eval", "--model", run, "--data", both, "--json").ok().json(&whole)
	dsp(t, "eval", "--model", run, "--data", one, "--data", two, "--json").ok().json(&parts)
	if whole != parts || whole.Tokens != 200 {
		t.Errorf("eval of both files: %+v, of one with both %+v", parts, whole)
	}

	for _, flags := range [][]string{{}, {"--json"}, {"--spans"}, {"--force", "--score"}} { // text is read piece by piece, file by file
		predict := func(input string) string {
			return dsp(t, with([]string{"predict", "--model", run, "--input", input}, flags...)...).ok().stdout
		}
		want := predict(both)
		for _, input := range []string{filepath.Join(dir, "parts"), one + "," + two, filepath.Join(dir, "parts", "*.conll")} {
			if predict(input) != want {
				t.Errorf("predict --input %s %s: other answers than those of one file with both", input, strings.Join(flags, " "))
			}
		}
	}
	dsp(t, "predict", "--model", run, "--input", filepath.Join(dir, "*.none")).refused(exitBadInput, "--input ", "no file matches")

	x := filepath.Join(dir, "x")
	dsp(t, "train", "--train", one, "--train", at("bad.conll", "a O\nb\n"), "--out", x).refused(exitBadInput, "bad.conll:2")
	dsp(t, "train", "--train", one, "--train", at("c.conllu", sampleTreebank), "--out", x).refused(exitBadInput, "a.conll is conll", "c.conllu is conllu")
	dsp(t, "train", "--train", filepath.Join(dir, "*.none"), "--out", x).refused(exitBadInput, "no file matches")
	dsp(t, "train", "--train", one, "--train", filepath.Join(dir, "parts"), "--out", x).refused(exitBadInput, "a.conll is there twice")
	if o := dsp(t, "train", "--train", one, "--passes", "1", "--reg", "1", "--reg", "2", "--out", filepath.Join(dir, "y")).ok(); !strings.Contains(o.stderr, "--reg is given more than once") {
		t.Errorf("no word about a flag given twice:\n%s", o.stderr)
	}
	unknown := at("unknown.conll", "the O\nfox B-Z\n\nowl B-X\nfox B-Z\n")
	o := dsp(t, "train", "--train", one, "--dev", two+","+unknown, "--passes", "1", "--out", filepath.Join(dir, "z")).ok()
	for _, part := range []string{"labels=B-Z", "times=2", "unknown.conll:2", "count as errors"} {
		if !strings.Contains(o.stderr, part) {
			t.Errorf("unknown labels of dev data: no %q in\n%s", part, o.stderr)
		}
	}
	if o := dsp(t, "eval", "--model", run, "--data", unknown).ok(); !strings.Contains(o.stderr, "unknown.conll:2") {
		t.Errorf("unknown labels of test data:\n%s", o.stderr)
	}
}

// The other tasks read several files and folders, too; files beside them go with each.
func TestSeveralFilesOfEveryTask(t *testing.T) {
	t.Parallel()
	trees, pairs, objects, scenes := drawnTrees(t), drawnPairs(t), drawnObjects(t), drawnTextures(t)
	graphs, more := drawnGraphs(t, "a.npz", 8, 3, 1), drawnGraphs(t, "b.npz", 8, 3, 2)
	for name, c := range map[string]struct {
		args  []string
		count string // of examples
	}{
		"parse":    {[]string{"--task", "parse", "--train", trees + "/dev.conllu", "--train", trees + "/test.conllu"}, "examples=40"},
		"align":    {[]string{"--train", pairs + "/dev.pairs", "--train", pairs + "/test.pairs"}, "examples=80"},
		"localise": {[]string{"--train", objects + "/dev.json", "--train", objects + "/test.json", "--class", "ladybird", "--candidates", "100", "--candidate-pixels", "16"}, "examples=16"},
		"graph":    {[]string{"--task", "graph", "--train", graphs, "--train", more}, "examples=16"},
		"segment": {[]string{"--task", "segment", "--train", scenes + "/dev/images", "--train", scenes + "/test/images", "--dev", scenes + "/dev/images," + scenes + "/test/images",
			"--masks", strings.Join([]string{scenes + "/dev/masks", scenes + "/test/masks", scenes + "/dev/masks", scenes + "/test/masks"}, ",")}, "examples=7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := filepath.Join(t.TempDir(), "run")
			if o := dsp(t, with([]string{"train", "--passes", "1", "--out", run}, c.args...)...).ok(); !strings.Contains(o.stderr, c.count) {
				t.Errorf("no %q in\n%s", c.count, o.stderr)
			}
		})
	}
	dsp(t, "train", "--task", "segment", "--train", scenes+"/dev/images,"+scenes+"/test/images", "--masks", scenes+"/dev/masks", "--out", filepath.Join(t.TempDir(), "x")).
		refused(exitBadInput, "no file for --train "+scenes+"/test/images")
}

// An interrupted run predicts with the weights of its checkpoint, and says so. It resumes on data that moved, but not
// on other data.
func TestUnfinishedRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	dir := t.TempDir()
	text := lessons(0, 400, "ish")
	old, run := write(t, "old.conll", text), filepath.Join(dir, "run")
	p := started(t, []string{"train", "--train", old, "--method", "sgd", "--passes", "100000", "--quiet", "--out", run})
	deadline := time.Now().Add(time.Minute)
	for {
		if text, err := os.ReadFile(filepath.Join(run, "metrics.jsonl")); err == nil && strings.Count(string(text), "\n") > 2 || time.Now().After(deadline) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !p.end(os.Interrupt) {
		t.Fatal("the run ended before the signal")
	}
	var m metricsJSON
	o := dsp(t, "eval", "--model", run, "--data", old, "--json").ok()
	o.json(&m)
	if !strings.Contains(o.stderr, "not finished") || !strings.Contains(o.stderr, "--resume") || m.TokenError > 0.2 {
		t.Errorf("token error %v, message\n%s", m.TokenError, o.stderr)
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	passes := len(passesOf(t, run))
	dsp(t, "train", "--resume", run, "--passes", "3", "--quiet").refused(exitBadInput, "if the data moved", "--train")
	other := write(t, "other.conll", lessons(1, 400, "ish"))
	dsp(t, "train", "--resume", run, "--train", other, "--quiet").refused(exitBadInput, "training data was")
	moved := write(t, "moved.conll", text)
	dsp(t, "train", "--resume", run, "--train", moved, "--passes", "1", "--quiet").ok()
	if now := len(passesOf(t, run)); now < passes {
		t.Errorf("%d passes after %d", now, passes)
	}
	if o := dsp(t, "eval", "--model", run, "--data", moved).ok(); o.stderr != "" {
		t.Errorf("a finished run says\n%s", o.stderr)
	}
}

// prox-linear stops at its passes, with models of all examples too.
func TestProxLinearStops(t *testing.T) {
	t.Parallel()
	for _, passes := range []string{"3", "4", "5"} {
		run := filepath.Join(t.TempDir(), "run")
		dsp(t, with(small, "--method", "prox-linear", "--model-batch", "all", "--inner-passes", "3", "--passes", passes, "--out", run)...).ok()
		all := passesOf(t, run)
		if last := all[len(all)-1].Pass; last > int(passes[0]-'0') {
			t.Errorf("%d passes, expected %s", last, passes)
		}
	}
}
