package endtoend

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A model to give away predicts the same, names no attribute of the training text and no file, and says what can still
// be read.
func TestExportRelease(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "released.safetensors")
	for _, kind := range []struct{ run, data, secret, clear string }{
		{tagger(t), write(t, "x.conll", sentences), "train.conll", "3 labels"},
		{aligner(t), filepath.Join(drawnPairs(t), "dev.pairs"), "train.pairs", "the template of attributes"},
	} {
		out := dsp(t, "export", "--model", kind.run, "--release", "--to", to).ok().stdout
		if !strings.Contains(out, " names hashed; in clear are settings without files, ") || !strings.Contains(out, kind.clear) {
			t.Errorf("%s", out)
		}
		var said struct {
			To     string
			Hashed int
			Clear  []string
		}
		if dsp(t, "export", "--model", kind.run, "--release", "--to", to, "--json").ok().json(&said); said.To != to || said.Hashed == 0 || len(said.Clear) < 2 {
			t.Errorf("%+v", said)
		}
		want := dsp(t, "predict", "--model", kind.run, "--input", kind.data, "--json").ok().stdout
		if got := dsp(t, "predict", "--model", to, "--input", kind.data, "--json").ok().stdout; got != want {
			t.Errorf("%s: the released model predicts something else", kind.run)
		}
		tellsNothing(t, to, filepath.Base(kind.run)+"/", kind.secret, "w[0]=")
		dsp(t, "train", "--train", kind.data, "--init", to, "--out", filepath.Join(t.TempDir(), "x")).refused(2, "--init", "released", "names")
	}
	dsp(t, "eval", "--model", to, "--data", filepath.Join(drawnPairs(t), "dev.pairs")).ok()
	dsp(t, "export", "--model", to, "--release", "--to", to+"2.safetensors").refused(2, "released before")
	dsp(t, "export", "--model", tagger(t), "--release", "--to", "x.npz").refused(2, "x.npz", ".safetensors")
	dsp(t, "export", "--model", tagger(t), "--release", "--to", t.TempDir()).refused(2, ".safetensors")
	dsp(t, "export", "--model", to, "--release", "--to", to).refused(2, "this is what --model reads")
	dsp(t, "export", "--model", tagger(t), "--release", "--to", to, "--weights").refused(2, "--weights", "--release")
	dsp(t, "export", "--model", tagger(t), "--release", "--to", to, "--data", "x").refused(2, "--data", "--release")
}

// tellsNothing reports strings that a file has in it.
func tellsNothing(t *testing.T, file string, told ...string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range told {
		if bytes.Contains(text, []byte(s)) {
			t.Errorf("%s says %q", file, s)
		}
	}
}

// A released pipeline predicts the same, and is its models and their list: no text, and no names of attributes or
// files.
func TestExportReleasePipeline(t *testing.T) {
	t.Parallel()
	model, dir := aPipeline(t)
	to := filepath.Join(t.TempDir(), "released")
	if out := dsp(t, "export", "--model", model, "--release", "--to", to).ok().stdout; !strings.Contains(out, "lemma: ") || !strings.Contains(out, "labels") {
		t.Errorf("%s", out)
	}
	_, path := drawTreebank(t, 9, 20)
	want := dsp(t, "predict", "--model", model, "--input", path).ok().stdout
	if got := dsp(t, "predict", "--model", to, "--input", path).ok().stdout; got != want {
		t.Errorf("the released pipeline predicts something else:\n%s\nwant\n%s", got, want)
	}
	err := filepath.WalkDir(to, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if name := filepath.Base(file); name != "model.safetensors" && name != "pipeline.json" {
			t.Errorf("%s is there, too", file)
		}
		tellsNothing(t, file, filepath.Base(dir), "village", "homme", "train.conllu")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	dsp(t, "export", "--model", model, "--release", "--to", to).refused(2, to, "already")
	dsp(t, "export", "--model", model, "--release", "--to", to+"2", "--encoder", dir).refused(2, "--encoder", "no effect")
}
