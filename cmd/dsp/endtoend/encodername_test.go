package endtoend

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

// without refuses files for others that say where their maker keeps files. The settings of a run may say so, and its
// checkpoint.
func without(t *testing.T, place, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "config.yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if at := bytes.Index(text, []byte(place)); err == nil && at >= 0 {
			t.Errorf("%s says %.80s", path, text[at:])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A model says the name of its encoder's folder, and not where that is. Its run's settings know it: the run is resumed,
// continued and predicts from anywhere; a model that was copied from there needs to be told.
func TestModelsNameTheirEncoder(t *testing.T) {
	t.Parallel()
	home, text := t.TempDir(), drawnText(t)
	folder := filepath.Join(home, "somewhere", "tiny")
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(encodedtest.Folder(t, "bert"), folder); err != nil {
		t.Fatal(err)
	}
	train, dev := filepath.Join(text, "train.conll"), filepath.Join(text, "dev.conll")
	again := []string{"train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", dev, "--passes", "1", "--quiet"}
	predicted := ""
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"stored", nil}, {"refers", []string{"--encoder-by-reference"}}, {"tuned", []string{"--tune-encoder", "--method", "adam", "--passes", "1"}},
		{"tuned by reference", []string{"--tune-encoder", "--method", "adam", "--passes", "1", "--freeze-layers", "1", "--encoder-by-reference"}},
	} {
		refers := c.flags != nil && c.flags[len(c.flags)-1] == "--encoder-by-reference"
		run := filepath.Join(home, "runs", c.name)
		dsp(t, with(with(withEncoder(train, folder), "--passes", "2"), with(c.flags, "--out", run)...)...).ok()
		without(t, home, run)
		dsp(t, "train", "--resume", run, "--passes", "3").ok()
		without(t, home, run)
		more := filepath.Join(home, "more", c.name)
		dsp(t, with(again, "--init", run, "--out", more)...).ok()
		without(t, home, more)
		dsp(t, "train", "--resume", more, "--passes", "2").ok()
		dsp(t, with(again, "--init", more, "--encoder", folder, "--out", filepath.Join(home, "given", c.name))...).ok()

		alone := filepath.Join(t.TempDir(), "alone.safetensors")
		if err := os.Link(filepath.Join(run, "model.safetensors"), alone); err != nil {
			t.Fatal(err)
		}
		predicted = dsp(t, "predict", "--model", run, "--input", dev).ok().stdout
		next := filepath.Join(home, "next", c.name)
		if !refers {
			if dsp(t, "predict", "--model", alone, "--input", dev).ok().stdout != predicted {
				t.Errorf("%s: a copied model predicts something else", c.name)
			}
			for _, verb := range [][]string{
				{"predict", "--model", alone, "--input", dev}, {"report", alone, "--data", dev}, {"report", filepath.Join(home, "runs", c.name)},
				{"eval", "--model", alone, "--data", dev, "--against", alone}, {"export", "--model", alone, "--release", "--to", alone + ".released.safetensors"},
			} {
				dsp(t, with(verb, "--encoder", folder)...).refused(exitBadInput, "--encoder", "no effect")
			}
			dsp(t, with(again, "--init", alone, "--out", next)...).ok()
			dsp(t, "predict", "--model", next, "--input", dev).ok()
			continue
		}
		for _, verb := range [][]string{{"predict", "--input", dev, "--model"}, with(again, "--init"), {"info"}, {"export", "--weights", "--to", filepath.Join(home, "w.txt"), "--model"}} {
			dsp(t, with(verb, alone)...).refused(exitBadInput, "encoder tiny", "--encoder")
		}
		for _, at := range []string{folder, filepath.Dir(folder)} {
			if dsp(t, "predict", "--model", alone, "--input", dev, "--encoder", at).ok().stdout != predicted {
				t.Errorf("%s: a copied model predicts something else with its encoder", c.name)
			}
		}
		dsp(t, "info", alone, "--encoder", folder).ok()
		dsp(t, "report", alone, "--data", dev, "--encoder", folder).ok()
		dsp(t, "eval", "--model", alone, "--data", dev, "--encoder", folder, "--against", filepath.Join(home, "runs", "stored")).ok()
		dsp(t, with(again, "--init", alone, "--encoder", folder, "--out", next)...).ok()
		without(t, home, next)
		dsp(t, "predict", "--model", next, "--input", dev).ok()
		s := serve(t, "--model", alone, "--encoder", filepath.Dir(folder))
		if code, answer := s.post("predict", `{"words":["anna","sleeps"],"pos":["N","V"]}`); code != 200 {
			t.Errorf("%d %s", code, answer)
		}
	}
}
