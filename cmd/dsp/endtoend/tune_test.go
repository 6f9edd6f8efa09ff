package endtoend

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

// tuning are the flags of a run that trains a tiny encoder.
func tuning(train, folder string) []string {
	return []string{"train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", train, "--quiet", "--encoder", folder, "--tune-encoder", "--encoder-layers", "last",
		"--passes", "2", "--threads", "1"}
}

// A model whose encoder was trained is whole. Threads, recomputing and resuming leave its bits as they are.
func TestTunedEncoder(t *testing.T) {
	t.Parallel()
	folder, text := encodedtest.Folder(t, "bert"), drawnText(t)
	dev := filepath.Join(text, "dev.conll")
	for _, method := range []string{"adam", "prox-linear"} {
		args := with(tuning(filepath.Join(text, "train.conll"), folder), "--dev", dev, "--method", method)
		whole := filepath.Join(t.TempDir(), "whole")
		dsp(t, with(args, "--out", whole)...).ok()
		again := func(name string, more ...string) string {
			dir := filepath.Join(t.TempDir(), name)
			dsp(t, with(args, with(more, "--out", dir)...)...).ok()
			return tensorsIn(t, dir)
		}
		if again("threads", "--threads", "3") != tensorsIn(t, whole) {
			t.Errorf("%s: threads change the model", method)
		}
		if again("recompute", "--recompute") != tensorsIn(t, whole) {
			t.Errorf("%s: --recompute changes the model", method)
		}
		if again("frozen", "--freeze-layers", "1") == tensorsIn(t, whole) || again("decay", "--layer-decay", "0.5") == tensorsIn(t, whole) ||
			again("rate", "--lr-encoder", "1e-5") == tensorsIn(t, whole) || again("tokens", "--batch-tokens", "90") == tensorsIn(t, whole) {
			t.Errorf("%s: a setting of the steps has no effect", method)
		}
	}
}

// A model with a trained encoder serves every verb without the folder.
func TestTunedEncoderInModel(t *testing.T) {
	t.Parallel()
	folder, text := encodedtest.Folder(t, "bert"), drawnText(t)
	dev := filepath.Join(text, "dev.conll")
	args := with(tuning(filepath.Join(text, "train.conll"), folder), "--method", "adam")
	run, stored := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "stored")
	dsp(t, with(args, "--freeze-layers", "0", "--encoder-by-reference", "--out", run)...).ok()
	dsp(t, with(args, "--freeze-layers", "0", "--out", stored)...).ok()
	refers := dsp(t, "predict", "--model", run, "--input", dev).ok().stdout
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if refers != dsp(t, "predict", "--model", stored, "--input", dev, "--threads", "2").ok().stdout {
		t.Error("a model with a reference and one that holds its encoder differ")
	}
	dsp(t, "predict", "--model", run, "--input", dev).refused(exitBadInput, folder, "not there")
	dsp(t, "eval", "--model", stored, "--data", dev).ok()
	dsp(t, "report", "--model", stored, "--data", dev, "--out", filepath.Join(t.TempDir(), "report.html")).ok()
	if info := dsp(t, "info", stored).ok().stdout; !strings.Contains(info, "\nencoder  ") || !strings.Contains(info, "\nloss: crf\n") || !strings.Contains(info, "encoder.encoder.layer.1.attention.self.query.weight") {
		t.Errorf("info:\n%s", info)
	}
	calibrated := filepath.Join(t.TempDir(), "calibrated")
	if err := os.CopyFS(calibrated, os.DirFS(stored)); err != nil {
		t.Fatal(err)
	}
	dsp(t, "calibrate", "--model", calibrated, "--dev", dev).ok()
	if refers != dsp(t, "predict", "--model", calibrated, "--input", dev).ok().stdout {
		t.Error("calibration changes labels")
	}
	s := serve(t, "--model", stored)
	if code, answer := s.post("predict", `{"words":["anna","sleeps"],"pos":["N","V"]}`); code != 200 {
		t.Errorf("%d %s", code, answer)
	}
	dsp(t, "train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", dev, "--init", stored, "--passes", "1", "--quiet", "--out", filepath.Join(t.TempDir(), "more")).ok()
}

// Encoders are trained under trees, and beside words, characters and attributes.
func TestTunedEncoderUnderNetworks(t *testing.T) {
	t.Parallel()
	trees, text, folder := drawnTrees(t), drawnText(t), encodedtest.Folder(t, "roberta")
	tags := []string{"--task", "tag", "--columns", "word=0,pos=1,label=-1"}
	for _, c := range []struct {
		name, data string
		flags      []string
	}{
		{"biaffine", filepath.Join(trees, "test.conllu"), []string{"--task", "parse"}},
		{"deep", filepath.Join(text, "dev.conll"), with(tags, "--net", "deep", "--recurrent", "4", "--features", "ner")},
		{"mlp", filepath.Join(text, "dev.conll"), with(tags, "--net", "mlp", "--hidden", "4", "--loss", "hinge", "--pieces", "mean")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "run")
			dsp(t, with([]string{"train", "--train", c.data, "--passes", "1", "--quiet", "--encoder", folder, "--tune-encoder", "--encoder-layers", "mean2", "--out", out}, c.flags...)...).ok()
			dsp(t, "eval", "--model", out, "--data", c.data).ok()
		})
	}
}

// A convex model on attributes and rows continues as a network of the same scores, whose encoder is trained: with steps
// of length zero all answers stay as they were.
func TestTunedEncoderContinuesFrozen(t *testing.T) {
	t.Parallel()
	folder, text := encodedtest.Folder(t, "bert"), drawnText(t)
	train, dev := filepath.Join(text, "dev.conll"), filepath.Join(text, "test.conll") // few sentences are enough
	frozen, tuned := filepath.Join(t.TempDir(), "frozen"), filepath.Join(t.TempDir(), "tuned")
	args := []string{"train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", train, "--quiet", "--encoder", folder, "--threads", "1"}
	dsp(t, with(args, "--gap", "0.2", "--out", frozen)...).ok()
	still := with(args, "--init", frozen, "--tune-encoder", "--method", "adam", "--lr", "1e-30", "--lr-encoder", "1e-30", "--passes", "1")
	dsp(t, with(still, "--out", tuned)...).ok()
	if d := apart(t, frozen, tuned, dev); d > 1e-4 {
		t.Errorf("the network begins with other scores than the model that it continues: %g apart", d)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	dsp(t, with(args, "--init", frozen, "--tune-encoder", "--passes", "1", "--out", moved)...).ok()
	if d := apart(t, frozen, moved, dev); d < 1e-3 {
		t.Errorf("training leaves the scores as they were: %g apart", d)
	}
}

// apart returns how far apart the scores are that two models give to the best labels of the sentences of a file,
// relatively.
func apart(t *testing.T, model, other, file string) float64 {
	t.Helper()
	type answer struct{ Score float64 }
	a := objects[answer](dsp(t, "predict", "--model", model, "--input", file, "--json", "--score").ok())
	b := objects[answer](dsp(t, "predict", "--model", other, "--input", file, "--json", "--score").ok())
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d and %d answers", len(a), len(b))
	}
	far := 0.0
	for i := range a {
		far = max(far, math.Abs(a[i].Score-b[i].Score)/(1+math.Abs(a[i].Score)))
	}
	return far
}

// Settings that have no effect, or do not go together, are refused.
func TestTunedEncoderRefusals(t *testing.T) {
	t.Parallel()
	folder, text := encodedtest.Folder(t, "bert"), drawnText(t)
	train := filepath.Join(text, "train.conll")
	args := tuning(train, folder)
	plain := []string{"train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", train, "--quiet"}
	dsp(t, with(plain, "--tune-encoder")...).refused(exitBadInput, "--encoder DIR")
	dsp(t, with(plain, "--encoder", folder, "--freeze-layers", "1")...).refused(exitBadInput, "--freeze-layers", "--tune-encoder")
	dsp(t, with(args, "--encoder-rows", "float16")...).refused(exitBadInput, "--encoder-rows")
	dsp(t, with(args, "--encoder-precision", "int8")...).refused(exitBadInput, "--encoder-precision int8", "stay as they are")
	dsp(t, with(args, "--freeze-layers", "2")...).refused(exitBadInput, "nothing is left to train")
	steps := filepath.Join(t.TempDir(), "steps.template")
	if err := os.WriteFile(steps, []byte("Uw=%x[0,word]\nBw=%x[0,word]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(t.TempDir(), "half")
	dsp(t, with(plain, "--encoder", folder, "--encoder-layers", "last", "--encoder-rows", "float16", "--passes", "1", "--out", half)...).ok()
	dsp(t, with(args, "--init", half)...).refused(exitBadInput, "float16", "without --encoder-rows")
	bytes := filepath.Join(t.TempDir(), "bytes")
	dsp(t, with(plain, "--encoder", folder, "--encoder-layers", "last", "--encoder-precision", "int8", "--passes", "1", "--out", bytes)...).ok()
	dsp(t, with(args, "--init", bytes)...).refused(exitBadInput, "float32", "without --encoder-precision")
	dsp(t, with(args, "--net", "linear", "--template", steps)...).refused(exitBadInput, "attributes of steps", "begin with B")
	dsp(t, with(args, "--batch", "4", "--batch-tokens", "90", "--method", "adam")...).refused(exitBadInput, "--batch-tokens")
	dsp(t, with(args, "--method", "svrg")...).refused(exitBadInput, "svrg")
}
