package endtoend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sentenceWith is a sentence of CoNLL-U whose heads are given.
func sentenceWith(forms, heads string) string {
	var b strings.Builder
	for k, form := range strings.Fields(forms) {
		tag := map[bool]string{true: "VERB", false: "NOUN"}[k == 1]
		b.WriteString(strings.Join([]string{string(rune('1' + k)), form, form, tag, "_", "_", strings.Fields(heads)[k], map[bool]string{true: "root", false: "dep"}[strings.Fields(heads)[k] == "0"], "_", "_"}, "\t") + "\n")
	}
	return b.String() + "\n"
}

// goodTrees and badTrees are sentences; those of badTrees have several roots, a cycle, no root, and a line that is
// none.
var (
	goodTrees = []string{sentenceWith("dogs bark loudly", "2 0 2"), sentenceWith("cats sleep", "2 0"), sentenceWith("birds sing songs", "2 0 2"), sentenceWith("we know", "2 0")}
	badTrees  = []string{sentenceWith("two roots here", "0 0 2"), sentenceWith("a cycle is here", "2 3 1 0"), sentenceWith("no root", "2 1"), "1\tx\n\n"}
)

// mixed is a file of good trees with bad ones between them, and only those.
func mixed(t *testing.T) (withBad, good string) {
	var all strings.Builder
	for k := range goodTrees {
		all.WriteString(goodTrees[k] + badTrees[k])
	}
	return write(t, "all.conllu", all.String()), write(t, "good.conllu", strings.Join(goodTrees, ""))
}

// A treebank with bad sentences is refused, with the first of them; with --bad skip they are left out of training,
// development and test data, and listed, and the model is that of the others, also of a run that is resumed.
func TestBadTreesSkipped(t *testing.T) {
	t.Parallel()
	all, good := mixed(t)
	train := func(file string, more ...string) (outcome, string) {
		dir := filepath.Join(t.TempDir(), "run")
		return dsp(t, append([]string{"train", "--task", "parse", "--train", file, "--dev", file, "--out", dir, "--json"}, more...)...), dir
	}
	refused, _ := train(all)
	refused.refused(exitBadInput, "all.conllu:27: 2 columns")
	dsp(t, "train", "--task", "parse", "--train", write(t, "roots.conllu", goodTrees[0]+badTrees[0]), "--out", filepath.Join(t.TempDir(), "x")).refused(exitBadInput, "roots.conllu:6: word 2 is a second root beside word 1")
	want, wantIn := train(good, "--passes", "3")
	want.ok()
	got, gotIn := train(all, "--passes", "3", "--bad", "skip")
	got.ok()
	for _, says := range []string{"bad examples are left out examples=8", "all.conllu:6: word 2 is a second root", "the heads form a cycle", "no word has head 0", "2 columns, expected the 10"} {
		if !strings.Contains(got.stderr, says) {
			t.Errorf("the log does not say %q:\n%s", says, got.stderr)
		}
	}
	same := func(a, b string) {
		t.Helper()
		w, v := filepath.Join(t.TempDir(), "w.txt"), filepath.Join(t.TempDir(), "w.txt")
		dsp(t, "export", "--model", a, "--weights", "--to", w).ok()
		dsp(t, "export", "--model", b, "--weights", "--to", v).ok()
		x, err := os.ReadFile(w)
		y, err2 := os.ReadFile(v)
		if err != nil || err2 != nil || len(x) == 0 || string(x) != string(y) {
			t.Errorf("%s and %s have other weights (%v, %v)", a, b, err, err2)
		}
	}
	same(wantIn, gotIn)
	_, resumed := train(all, "--passes", "1", "--bad", "skip")
	dsp(t, "train", "--resume", resumed, "--passes", "3").ok()
	same(wantIn, resumed)

	evaluated := dsp(t, "eval", "--model", gotIn, "--data", all, "--bad", "skip", "--json").ok()
	if expected := dsp(t, "eval", "--model", gotIn, "--data", good, "--json").ok(); evaluated.stdout != expected.stdout || !strings.Contains(evaluated.stderr, "examples=4") {
		t.Errorf("%s%s\nexpected %s", evaluated.stdout, evaluated.stderr, expected.stdout)
	}
	dsp(t, "eval", "--model", gotIn, "--data", all).refused(exitBadInput, "all.conllu:27")
	nothing := write(t, "none.conllu", badTrees[0]+badTrees[1])
	dsp(t, "train", "--task", "parse", "--train", nothing, "--bad", "skip", "--out", filepath.Join(t.TempDir(), "x")).refused(exitBadInput, "none.conllu")
	dsp(t, "eval", "--model", gotIn, "--data", all, "--bad", "some").refused(exitBadInput, `--bad "some"`)
}

// In predict an example that is bad leaves its lines, or an object with its error, in the place of its output.
func TestBadExamplesPredicted(t *testing.T) {
	t.Parallel()
	run := tagger(t)
	lines := func(text string) []string { return strings.Split(text, "\n") }
	for name, c := range map[string]struct {
		model, in, want string
		bad             []int // objects
		objects         int
	}{
		"columns": {run, "John\nsleeps\n\na b c d e f\n\nMary\nsings\n", "", []int{1}, 3},
	} {
		in := write(t, name, c.in)
		dsp(t, "predict", "--model", c.model, "--input", in).refused(exitBadInput, name)
		o := dsp(t, "predict", "--model", c.model, "--input", in, "--bad", "skip").ok()
		if len(lines(o.stdout)) != len(lines(c.in)) && len(lines(o.stdout)) != len(lines(c.in))+1 || !strings.Contains(o.stderr, "bad examples are left out examples=1") {
			t.Errorf("%s: %q, %s", name, o.stdout, o.stderr)
		}
		for k, line := range lines(c.in) {
			if !strings.HasPrefix(lines(o.stdout)[k], line) || line != "" && lines(o.stdout)[k] == line {
				t.Errorf("%s, line %d: %q of %q", name, k+1, lines(o.stdout)[k], line)
			}
		}
		objects := jsonLines[struct {
			ID, Error string
			Labels    []string
		}](t, dsp(t, "predict", "--model", c.model, "--input", in, "--bad", "skip", "--json").ok().stdout)
		if len(objects) != c.objects {
			t.Fatalf("%s: %+v", name, objects)
		}
		for k, x := range objects {
			if isBad := k == c.bad[0]; (x.Error != "") != isBad || (x.Labels == nil) != isBad || x.ID != string(rune('0'+k)) {
				t.Errorf("%s, object %d: %+v", name, k, x)
			}
		}
		worse := dsp(t, "predict", "--model", c.model, "--input", write(t, "worse", "a\tb\tc\td\te\tf\n\n1\t2\t3\t4\t5\n"), "--bad", "skip")
		if worse.code != exitBadInput || !strings.Contains(worse.stderr, "every example is bad; the first: ") {
			t.Errorf("%d: %s", worse.code, worse.stderr)
		}
	}
	pairs := write(t, "x.pairs", "a b ||| c\nnone\nd ||| e\n")
	o := dsp(t, "predict", "--model", aligner(t), "--input", pairs, "--bad", "skip").ok()
	if all := lines(o.stdout); len(all) != 4 || all[1] != "" {
		t.Errorf("pairs: %q", o.stdout)
	}
	dsp(t, "predict", "--model", aligner(t), "--input", pairs).refused(exitBadInput, "x.pairs:2")
}
