package endtoend

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

// Adapters are trained to the same bits with any number of threads, recomputed, and after a run was killed; and they
// are all that is trained.
func TestAdapters(t *testing.T) {
	t.Parallel()
	folder, text := encodedtest.Folder(t, "bert"), drawnText(t)
	for method, rate := range map[string]string{"adam": "0.001", "prox-linear": "0.01"} {
		args := with(tuning(filepath.Join(text, "train.conll"), folder), "--adapter", "lora:2", "--method", method)
		whole := filepath.Join(t.TempDir(), "whole")
		dsp(t, with(args, "--out", whole)...).ok()
		if got := rateOf(t, whole); got != rate {
			t.Errorf("%s: --lr-encoder of adapters is %s, want %s", method, got, rate)
		}
		again := func(more ...string) string {
			dir := filepath.Join(t.TempDir(), "again")
			dsp(t, with(args, with(more, "--out", dir)...)...).ok()
			return tensorsIn(t, dir)
		}
		if again("--threads", "3", "--recompute") != tensorsIn(t, whole) {
			t.Errorf("%s: threads or --recompute change the model", method)
		}
		if again("--adapter", "lora:2:9") == tensorsIn(t, whole) || again("--lr-encoder", "1e-5") == tensorsIn(t, whole) {
			t.Errorf("%s: a setting of the adapters has no effect", method)
		}
		if runtime.GOOS != "windows" {
			killed := filepath.Join(t.TempDir(), "killed")
			strike(t, args, killed, os.Kill, 0)
			dsp(t, resumed(args, killed)...).ok()
			if tensorsIn(t, killed) != tensorsIn(t, whole) {
				t.Errorf("%s: a resumed run has another model", method)
			}
		}
	}
}

// A model with adapters holds them beside the encoder, whose weights did not move, or beside a reference to it; it
// serves every verb and is continued.
func TestAdaptersInModel(t *testing.T) {
	t.Parallel()
	folder, text := encodedtest.Folder(t, "bert"), drawnText(t)
	train, dev := filepath.Join(text, "train.conll"), filepath.Join(text, "dev.conll")
	plain := with(tuning(train, folder), "--method", "adam", "--freeze-layers", "1")
	args := with(plain, "--adapter", "lora:2")
	refers, stored := filepath.Join(t.TempDir(), "refers"), filepath.Join(t.TempDir(), "stored")
	dsp(t, with(args, "--encoder-by-reference", "--out", refers)...).ok()
	dsp(t, with(args, "--out", stored)...).ok()
	weights := dsp(t, "info", refers).ok().stdout
	if !strings.Contains(weights, "lora:2:4") || !strings.Contains(weights, "layer.1.attention.self.query.adapter.a") || strings.Contains(weights, "layer.0") || strings.Contains(weights, "query.weight") {
		t.Errorf("info:\n%s", weights)
	}
	if a, b := size(t, refers), size(t, stored); a > b/4 {
		t.Errorf("a model that refers to its encoder has %d bytes, one that holds it %d", a, b)
	}
	predicted := dsp(t, "predict", "--model", refers, "--input", dev).ok().stdout
	onnx := filepath.Join(t.TempDir(), "model.onnx")
	dsp(t, "export", "--model", refers, "--onnx", onnx).ok()
	more := filepath.Join(t.TempDir(), "more")
	dsp(t, "train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", dev, "--init", refers, "--method", "adam", "--passes", "1", "--quiet", "--out", more).ok()
	if info := dsp(t, "info", more).ok().stdout; !strings.Contains(info, "lora:2:4") {
		t.Errorf("a run that continues has no adapters:\n%s", info)
	}
	whole := filepath.Join(t.TempDir(), "tuned")
	dsp(t, with(plain, "--out", whole)...).ok()
	if got := rateOf(t, whole); got != "0.0001" {
		t.Errorf("--lr-encoder of the encoder's weights is %s, want 0.0001", got)
	}
	again := []string{"train", "--task", "tag", "--columns", "word=0,pos=1,label=-1", "--train", dev, "--method", "adam", "--passes", "1", "--quiet"}
	onTuned := filepath.Join(t.TempDir(), "on-tuned")
	dsp(t, with(again, "--init", whole, "--adapter", "lora:1", "--out", onTuned)...).ok()
	dsp(t, "eval", "--model", onTuned, "--data", dev).ok()
	dsp(t, with(again, "--init", onTuned, "--encoder-by-reference")...).refused(exitBadInput, "other rows")
	dsp(t, with(again, "--init", refers, "--adapter", "lora:1")...).refused(exitBadInput, "--adapter lora:2:4")
	dsp(t, with(again, "--init", refers, "--freeze-layers", "0", "--out", filepath.Join(t.TempDir(), "deeper"))...).ok()

	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if predicted != dsp(t, "predict", "--model", stored, "--input", dev, "--threads", "2").ok().stdout {
		t.Error("a model with a reference and one that holds its encoder differ")
	}
	dsp(t, "eval", "--model", stored, "--data", dev).ok()
	dsp(t, "predict", "--model", refers, "--input", dev).refused(exitBadInput, folder, "not there")
	s := serve(t, "--model", stored)
	if code, answer := s.post("predict", `{"words":["anna","sleeps"],"pos":["N","V"]}`); code != 200 {
		t.Errorf("%d %s", code, answer)
	}
	dsp(t, "train", "--train", train, "--task", "tag", "--adapter", "lora:2").refused(exitBadInput, "--adapter", "--tune-encoder")
	dsp(t, with(tuning(train, encodedtest.Folder(t, "bert")), "--adapter", "lora")...).refused(exitBadInput, "--adapter", "lora:R")
	dsp(t, with(tuning(train, encodedtest.Folder(t, "bert")), "--adapter", "lora:99")...).refused(exitBadInput, "at most 16")
}

// rateOf returns the --lr-encoder that a run decided on.
func rateOf(t *testing.T, run string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(run, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rate, ok := strings.CutPrefix(strings.TrimSpace(line), "lr-encoder: "); ok {
			return rate
		}
	}
	return ""
}

// size returns the bytes of a run's model.
func size(t *testing.T, run string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(run, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
