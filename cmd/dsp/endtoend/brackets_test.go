package endtoend

import (
	"path/filepath"
	"strings"
	"testing"
)

// Entities that brackets mark, as in OntoNotes, are learned, measured and predicted as tags.
func TestEntitiesInBrackets(t *testing.T) {
	t.Parallel()
	var brackets, tags strings.Builder
	for range 8 {
		brackets.WriteString("Ann (PER*\nLee *)\nsees *\nRome (GPE)\n. *\n\n")
		tags.WriteString("Ann B-PER\nLee I-PER\nsees O\nRome B-GPE\n. O\n\n")
	}
	inBrackets, asTags := write(t, "brackets.conll", brackets.String()), write(t, "tags.conll", tags.String())
	dir, other := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	said := dsp(t, "train", "--train", inBrackets, "--dev", inBrackets, "--passes", "20", "--out", dir).ok().stderr
	if !strings.Contains(said, "labels mark entities with brackets") {
		t.Errorf("training says %s", said)
	}
	dsp(t, "train", "--train", asTags, "--dev", asTags, "--passes", "20", "--quiet", "--out", other).ok()
	want := dsp(t, "eval", "--model", other, "--data", asTags).ok().stdout
	if !strings.Contains(want, "16 phrases") {
		t.Fatal(want)
	}
	for _, model := range []string{dir, other} {
		for _, data := range []string{inBrackets, asTags} {
			if got := dsp(t, "eval", "--model", model, "--data", data).ok().stdout; got != want {
				t.Errorf("eval of %s: %s, expected %s", data, got, want)
			}
		}
	}
	if got := dsp(t, "predict", "--model", dir, "--input", inBrackets, "--into", "label").ok().stdout; got != brackets.String() {
		t.Errorf("predicted %s", got)
	}
	if got := dsp(t, "predict", "--model", dir, "--input", inBrackets, "--scheme", "iob2", "--into", "label").ok().stdout; got != tags.String() {
		t.Errorf("predicted %s", got)
	}
	document := "#begin document (x); part 000\nx 0 Ann NNP (PER*\nx 1 Lee NNP *)\nx 2 sees VBZ *\n\nx 0 Rome NNP (GPE)\nx 1 fell VBD *\n\n#end document\n"
	whole := write(t, "whole.conll", document)
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", whole, "--columns", "word=2,pos=3,label=-1", "--passes", "3", "--quiet", "--out", run).ok()
	if got := dsp(t, "predict", "--model", run, "--input", whole).ok().stdout; strings.Count(got, "\n") != strings.Count(document, "\n") || !strings.Contains(got, "\n#end document") {
		t.Errorf("predicted %s", got)
	}
	broken := write(t, "broken.conll", brackets.String()+"Ann (PER*\nLee *\n")
	dsp(t, "train", "--train", broken, "--out", filepath.Join(t.TempDir(), "run")).refused(exitBadInput, "broken.conll:49: (PER* is open at the end of its sentence")

	const nested = "Ann (PER*\nLee (GPE)\nRome *)\n\nAnn (X(Y*\nLee *))\n\n"
	for _, bad := range []string{nested, "Ann (X(Y*\nLee *))\n"} {
		dsp(t, "train", "--train", write(t, "nested.conll", bad), "--out", filepath.Join(t.TempDir(), "run")).refused(exitBadInput, "opens inside of (", "no entities in others")
	}
	broken = write(t, "broken.conll", "Ann (PER*\nLee *\n\n"+nested+brackets.String()+"Ann *)\n")
	kept := filepath.Join(t.TempDir(), "run")
	said = dsp(t, "train", "--train", broken, "--bad", "skip", "--passes", "20", "--out", kept).ok().stderr
	if strings.Count(said, "left out") != 5 {
		t.Errorf("training says %s", said)
	}
	if got := dsp(t, "eval", "--model", kept, "--data", asTags).ok().stdout; got != want {
		t.Errorf("eval without broken sentences: %s, expected %s", got, want)
	}
	dsp(t, "eval", "--model", kept, "--data", broken).refused(exitBadInput, "broken.conll:1: (PER* is open")
	if got := dsp(t, "eval", "--model", kept, "--data", broken, "--bad", "skip").ok().stdout; got != want {
		t.Errorf("eval without broken sentences: %s, expected %s", got, want)
	}

	// Files without entities, whose labels are all *, beside those with some; packs; models that learned brackets as
	// labels; known labels to keep.
	none := write(t, "none.conll", "Ann *\nsees *\n\n")
	both := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", none+","+inBrackets, "--dev", none, "--passes", "3", "--quiet", "--out", both).ok()
	if got := dsp(t, "info", both).ok().stdout; !strings.Contains(got, "B-GPE") || strings.Contains(got, "*") {
		t.Errorf("the labels of several files are in %s", got)
	}
	dsp(t, "eval", "--model", both, "--data", none).ok()
	packed := filepath.Join(t.TempDir(), "x.pack")
	if got := dsp(t, "data", "pack", "--train", inBrackets, "--out", packed).ok(); !strings.Contains(got.stdout+got.stderr, "5 labels") {
		t.Errorf("pack says %s%s", got.stdout, got.stderr)
	}
	dsp(t, "predict", "--model", both, "--input", inBrackets, "--force").refused(exitBadInput, "brackets.conll", "labels in brackets")
	plain := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", write(t, "plain.conll", strings.Repeat("Ann x\nLee y\n\n", 5)), "--passes", "2", "--quiet", "--out", plain).ok()
	more := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", inBrackets, "--init", plain, "--passes", "2", "--quiet", "--out", more).ok()
	if got := dsp(t, "info", more).ok().stdout; strings.Contains(got, "B-GPE") || !strings.Contains(got, "(GPE)") {
		t.Errorf("labels of a model that has none of entities are continued as %s", got)
	}
}
