package endtoend

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Two files are compared as a model's outputs are: with the same names and numbers, whatever scheme of tags either is
// written in.
func TestCompareFiles(t *testing.T) {
	t.Parallel()
	data := filepath.Join(drawnText(t), "test.conll")
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", filepath.Join(drawnText(t), "train.conll"), "--scheme", "keep", "--passes", "1", "--quiet", "--out", run).ok()
	predicted := filepath.Join(t.TempDir(), "predicted.conll")
	dsp(t, "predict", "--model", run, "--input", data, "--to", predicted).ok()
	var want, got map[string]any
	dsp(t, "eval", "--model", run, "--data", data, "--json").ok().json(&want)
	if f1 := want["f1"].(float64); f1 <= 0.05 || f1 >= 0.999 {
		t.Fatalf("the model's F1 is %v, which tells little", f1)
	}
	last := func(name string, convert func(tag string) string) string { // the word and the predicted tag alone
		text, err := os.ReadFile(predicted)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 0 {
				b.WriteString(fields[0] + " " + convert(fields[len(fields)-1]))
			}
			b.WriteByte('\n')
		}
		return write(t, name, b.String())
	}
	names := []string{"f1", "precision", "recall", "gold", "predicted", "correct", "types", "tokens", "token_accuracy", "sequence_error"}
	same := func(what string, args ...string) {
		t.Helper()
		got = nil
		dsp(t, with([]string{"eval", "--gold", data, "--json", "--predicted"}, args...)...).ok().json(&got)
		for _, name := range names {
			if !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("%s: %s is %v, expected %v as eval of the model says", what, name, got[name], want[name])
			}
		}
	}
	same("what predict wrote", predicted)
	same("columns are given", predicted, "--columns", "word=0,label=2")
	same("word and tag", last("short.conll", func(tag string) string { return tag }))
	same("both in one file", predicted, "--predicted-columns", "word=0,label=-1", "--columns", "word=0,label=2")
	names = names[:8] // tags of another spelling are written anew, and those that break their scheme are put right
	same("another spelling", last("lower.conll", func(tag string) string { return strings.ReplaceAll(strings.ReplaceAll(tag, "B-", "b-"), "I-", "i-") }))
	if o := dsp(t, "eval", "--gold", data, "--predicted", predicted).ok(); !strings.Contains(o.stdout, "processed") || !strings.Contains(o.stdout, "FB1") {
		t.Errorf("no table of conlleval: %s", o.stdout)
	}
}

// Schemes may differ, and chunks count, not tags.
func TestCompareSchemes(t *testing.T) {
	t.Parallel()
	gold := write(t, "gold.conll", "Ann B-PER\nLee I-PER\nin O\nNew B-LOC\nYork I-LOC\n\nBo B-PER\nsits O\n")
	for scheme, tags := range map[string]string{
		"bioes": "Ann B-PER\nLee E-PER\nin O\nNew O\nYork S-LOC\n\nBo S-PER\nsits O\n",
		"bilou": "Ann B-PER\nLee L-PER\nin O\nNew O\nYork U-LOC\n\nBo U-PER\nsits O\n",
		"iob1":  "Ann I-PER\nLee I-PER\nin O\nNew O\nYork I-LOC\n\nBo I-PER\nsits O\n",
		"bmes":  "Ann B-PER\nLee E-PER\nin O\nNew O\nYork S-LOC\n\nBo S-PER\nsits O\n",
	} {
		var m map[string]any
		dsp(t, "eval", "--gold", gold, "--predicted", write(t, "predicted.conll", tags), "--json").ok().json(&m)
		if m["correct"] != 2.0 || m["gold"] != 3.0 || m["predicted"] != 3.0 || scheme != "iob1" && m["token_accuracy"] != 5.0/7 { // iob1 has the letters of iob2, and might be iob2 that is broken
			t.Errorf("%s: %v", scheme, m)
		}
	}
}

// Where tags do not show their scheme, --scheme says it; then --strict counts by it, and tags of another are refused.
func TestCompareSaidScheme(t *testing.T) {
	t.Parallel()
	twoBegin := write(t, "two.conll", "Ann B-PER\nLee I-PER\nin O\n")  // an entity of iob2; in bilou it has no end
	inside := write(t, "inside.conll", "Ann I-PER\nLee B-PER\nin O\n") // two entities of iob1; in iob2 the first is none
	letters := write(t, "letters.conll", "a B\nb E\n")                 // characters of a word, or two labels
	for _, test := range []struct {
		file, scheme string
		gold         any
	}{
		{twoBegin, "", 1.0}, {twoBegin, "iob2", 1.0}, {twoBegin, "BIO", 1.0}, {twoBegin, "bilou", 0.0}, {inside, "", 2.0}, {inside, "iob1", 2.0}, {inside, "iob2", 1.0},
		{letters, "bmes", 1.0}, {letters, "", nil},
	} {
		args := []string{"eval", "--gold", test.file, "--predicted", test.file, "--strict", "--json"}
		if test.scheme != "" {
			args = append(args, "--scheme", test.scheme)
		}
		var m map[string]any
		if dsp(t, args...).ok().json(&m); m["gold"] != test.gold || m["correct"] != test.gold {
			t.Errorf("%s as %q: %v gold entities, %v correct, expected %v", test.file, test.scheme, m["gold"], m["correct"], test.gold)
		}
	}
	for _, bad := range []struct {
		says string
		args []string
	}{
		{"I-PER is no tag of the scheme bmes", []string{"--gold", inside, "--predicted", inside, "--scheme", "bmes"}},
		{`tag scheme "bio3", expected io, iob1`, []string{"--gold", inside, "--predicted", inside, "--scheme", "bio3"}},
		{"needs labels like O, B-x; found NOUN", []string{"--gold", write(t, "pos.conll", "a NOUN\n"), "--predicted", inside, "--scheme", "iob2"}},
		{"--gold and --predicted; a model has its task", []string{"--model", "none", "--data", inside, "--scheme", "iob2"}},
		{"of --task constituency hold trees", []string{"--gold", write(t, "a.mrg", "(S (NP (N a)))\n"), "--predicted", inside, "--scheme", "iob2"}},
	} {
		if o := dsp(t, append([]string{"eval"}, bad.args...)...); o.code != 2 || !strings.Contains(o.stderr, bad.says) {
			t.Errorf("%v: exit code %d, %s; expected 2 and %q", bad.args, o.code, o.stderr, bad.says)
		}
	}
}

// Trees and brackets of two files are compared as eval compares those of models; treebanks as a pipeline's.
func TestCompareTrees(t *testing.T) {
	t.Parallel()
	tree := func(head, relation string) string {
		return "# text = dogs bark\n1\tdogs\tdog\tNOUN\t_\t_\t" + head + "\t" + relation + "\t_\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_\n\n"
	}
	gold, predicted := write(t, "gold.conllu", tree("2", "nsubj")), write(t, "predicted.conllu", tree("2", "obj"))
	measures := func(args ...string) map[string]any {
		var m map[string]any
		dsp(t, with([]string{"eval", "--json"}, args...)...).ok().json(&m)
		return m
	}
	if m := measures("--gold", gold, "--predicted", predicted); m["uas"] != 1.0 || m["las"] != 0.5 || m["upos"] != 1.0 {
		t.Errorf("treebanks: %v", m)
	}
	if m := measures("--gold", gold, "--predicted", predicted, "--task", "parse"); m["uas"] != 1.0 || m["las"] != 0.5 || m["las_nopunct"] != 0.5 || m["root"] != 1.0 {
		t.Errorf("trees: %v", m)
	}
	if m := measures("--gold", gold, "--predicted", predicted, "--label", "deprel"); m["token_accuracy"] != 0.5 {
		t.Errorf("labels: %v", m)
	}
	brackets := write(t, "gold.mrg", "(S (NP (D the) (N dog)) (VP (V barks)))\n")
	if m := measures("--gold", brackets, "--predicted", write(t, "predicted.mrg", "(S (NP (D the) (N dog)) (XP (V barks)))\n")); m["f1"] != 2.0/3 || m["complete"] != 0.0 {
		t.Errorf("brackets: %v", m)
	}
	dsp(t, "eval", "--gold", brackets, "--predicted", write(t, "other.mrg", "(S (NP (D the) (N cat)) (VP (V barks)))\n")).refused(exitBadInput, `found "cat", expected "dog" as in `)
}

// Links are compared as those of a model are.
func TestCompareLinks(t *testing.T) {
	t.Parallel()
	pairs := write(t, "x.pairs", "a b ||| c d ||| 0-0 1-1\ne f ||| g ||| 0-0 1?0\n")
	links := filepath.Join(t.TempDir(), "links.txt")
	dsp(t, "predict", "--model", aligner(t), "--input", pairs, "--to", links).ok()
	want := dsp(t, "eval", "--model", aligner(t), "--data", pairs, "--json").ok().stdout
	if got := dsp(t, "eval", "--gold", pairs, "--predicted", links, "--json").ok().stdout; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	alone := write(t, "gold.txt", goldLinks(t, pairs))
	for _, task := range []string{"auto", "align"} {
		if got := dsp(t, "eval", "--gold", alone, "--predicted", links, "--task", task, "--json").ok().stdout; got != want {
			t.Errorf("gold links alone: %s, expected %s", got, want)
		}
	}
	dsp(t, "eval", "--gold", pairs, "--predicted", links, "--boxes", links).refused(exitBadInput, "--boxes has no effect")
	for flag, said := range map[string]string{
		"--strict": "files of --task align", "--confusion": "files of --task align", "--void=3": "for --task segment", "--class=x": "for --task localise",
	} {
		dsp(t, "eval", "--gold", pairs, "--predicted", links, flag).refused(exitBadInput, "has no effect", said)
	}
	tags := write(t, "x.conll", sentences)
	dsp(t, "eval", "--gold", tags, "--predicted", tags, "--mask-values", "0,255").refused(exitBadInput, "--mask-values has no effect", "for --task segment")
}

// Boxes of two files are compared as a model's are: its results and lines of JSON, with annotations of both formats.
func TestCompareBoxes(t *testing.T) {
	t.Parallel()
	gold := filepath.Join(drawnObjects(t), "test.json")
	var want, got map[string]any
	dsp(t, "eval", "--model", locator(t), "--data", gold, "--json").ok().json(&want)
	if iou := want["mean_iou"].(float64); iou <= 0.05 || iou >= 0.999 {
		t.Fatalf("the mean IoU is %v, which tells little", iou)
	}
	results := filepath.Join(t.TempDir(), "results.json")
	dsp(t, "predict", "--model", locator(t), "--input", gold, "--to", results).ok()
	lines := write(t, "lines.jsonl", dsp(t, "predict", "--model", locator(t), "--input", gold, "--json").ok().stdout)
	for _, predicted := range []string{results, lines} {
		got = nil
		dsp(t, "eval", "--gold", gold, "--predicted", predicted, "--class", "ladybird", "--json").ok().json(&got)
		for name, value := range want {
			if !strings.HasPrefix(name, "oracle_") && got[name] != value {
				t.Errorf("%s: %s is %v, expected %v as eval of the model says", predicted, name, got[name], value)
			}
		}
	}
	if o := dsp(t, "eval", "--gold", gold, "--predicted", results).ok(); !strings.Contains(o.stdout, "mean IoU") || strings.Contains(o.stdout, "cells") {
		t.Error(o.stdout)
	}
	dsp(t, "eval", "--gold", gold, "--predicted", results, "--boxes", results).refused(exitBadInput, "--boxes has no effect")
	dsp(t, "eval", "--gold", gold, "--predicted", gold).refused(exitBadInput, "expected id and box on each line")
	dsp(t, "eval", "--gold", gold, "--predicted", lines).refused(exitBadInput, "choose a class with --class: ladybird, beetle")
	dsp(t, "eval", "--gold", gold, "--predicted", lines, "--class", "bird").refused(exitBadInput, `no class "bird", expected one of: ladybird, beetle`)
}

// Files that do not belong together are refused where they part.
func TestCompareFilesRefused(t *testing.T) {
	t.Parallel()
	gold := write(t, "gold.conll", "a X\nb Y\n\nc X\n")
	compared := func(text string, more ...string) outcome {
		return dsp(t, with([]string{"eval", "--gold", gold, "--predicted", write(t, "predicted.conll", text)}, more...)...)
	}
	compared("a X\nd Y\n\nc X\n").refused(exitBadInput, `predicted.conll:2: found "d", expected "b" as in `, "gold.conll:2")
	compared("a X\n\nc X\n").refused(exitBadInput, "predicted.conll:1: found 1 tokens, expected the 2 of ", "gold.conll:1")
	compared("a X\nb Y\n").refused(exitBadInput, "predicted.conll: found 1 sequences, expected the 2 of ")
	compared("a X\nb Y\n\nc X\n", "--model", "m").refused(exitBadInput, "--model has no effect with --gold and --predicted")
	compared("a X\nb Y\n\nc X\n", "--task", "graph").refused(exitBadInput, "--task graph")
	dsp(t, "eval", "--gold", gold).refused(exitBadInput, "--gold and --predicted belong together")
	dsp(t, "eval", "--model", "m", "--data", gold, "--predicted-columns", "word=0,label=1").refused(exitBadInput, "--predicted-columns are for --gold and --predicted")
}

// A parse that failed is left out with its gold tree, as by EVALB, and a warning names the tree.
func TestCompareFailedParses(t *testing.T) {
	t.Parallel()
	const first, second = "(S (NP (N a)) (VP (V b)))\n", "(S (NP (N c) (N d)))\n"
	gold := write(t, "gold.penn", first+second)
	want := dsp(t, "eval", "--gold", write(t, "one.penn", second), "--predicted", write(t, "flat.penn", "(S (N c) (N d))\n")).ok().stdout
	got := dsp(t, "eval", "--gold", gold, "--predicted", write(t, "predicted.penn", "(())\n(S (N c) (N d))\n")).ok()
	if got.stdout != want || !strings.Contains(got.stderr, "gold.penn:1") || !strings.Contains(got.stderr, "times=1") {
		t.Errorf("%s%s, expected %s", got.stdout, got.stderr, want)
	}
	dsp(t, "eval", "--gold", gold, "--predicted", write(t, "predicted.penn", "(())\n(())\n"+second)).
		refused(exitBadInput, "predicted.penn: found 3 trees, 2 of them failed parses, expected the 2 of ")
	dsp(t, "eval", "--gold", write(t, "gold.penn", first+"(())\n"), "--predicted", gold).refused(exitBadInput, "gold.penn:2: a tree without words")
}

// goldLinks returns the links of a file of pairs, a line for each.
func goldLinks(t *testing.T, pairs string) string {
	t.Helper()
	text, err := os.ReadFile(pairs)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		b.WriteString(strings.TrimSpace(line[strings.LastIndex(line, "|||")+3:]) + "\n")
	}
	return b.String()
}
