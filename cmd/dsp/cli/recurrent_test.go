package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The recurrent network learns to read built-in words, gives the same model with any number of threads and after its configuration is
// read again, and info, eval and predict load it.
func TestRecurrentReader(t *testing.T) {
	dir, again := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "again")
	var r resultJSON
	dsp(t, "train", "--examples", "300,30,30", "--net", "rnn", "--recurrent", "24,9", "--hidden", "16", "--activation", "gelu", "--baselines", "off",
		"--method", "sgd", "--lr", "0.1", "--batch", "1", "--passes", "10", "--threads", "1", "--out", dir, "--json", "--quiet").ok().json(&r)
	if r.Net != "rnn" || r.Dev == nil || r.Dev.TokenError > 0.4 {
		t.Errorf("got %+v", r)
	}
	o := dsp(t, "info", dir).ok()
	for _, want := range []string{"rnn", "recurrent2.forget", "18"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("info does not print %q:\n%s", want, o.stdout)
		}
	}
	dsp(t, "train", "--config", filepath.Join(dir, "config.yaml"), "--threads", "2", "--out", again, "--quiet").ok()
	if !bytes.Equal(modelOf(t, dir), modelOf(t, again)) {
		t.Error("the same configuration with two threads gave another model")
	}
}

// On text, the network tells a word's tag from words far before and after it: the tag of "it" is the same as that of the first word.
func TestRecurrentTagger(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		first := []string{"yes", "no"}[i%2]
		b.WriteString(first + " O\n" + strings.Repeat("and O\n", 3+i%4) + "it " + strings.ToUpper(first) + "\n\n")
	}
	dir, train := filepath.Join(t.TempDir(), "run"), write(t, "train.conll", b.String())
	dsp(t, "train", "--task", "tag", "--train", train, "--net", "rnn", "--recurrent", "8", "--embed", "8", "--edges", "none", "--method", "sgd",
		"--lr", "0.2", "--reg", "0.01", "--passes", "20", "--out", dir, "--quiet").ok()
	o := dspWith(t, "no\nand\nand\nand\nand\nit\n\nyes\nand\nand\nand\nand\nit\n", "predict", "--model", dir).ok()
	const middle = "and O\nand O\nand O\nand O\nit "
	if want := "no O\n" + middle + "NO\n\nyes O\n" + middle + "YES\n"; o.stdout != want {
		t.Errorf("got %q, want %q", o.stdout, want)
	}
}

// Parsers take recurrent layers below the biaffine scores; other networks refuse them.
func TestRecurrentParser(t *testing.T) {
	data, dir := drawnTrees(t), filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "parse", "--net", "biaffine", "--recurrent", "10", "--embed", "8,4,4,4,4,4", "--arc-units", "8", "--label-units", "6",
		"--train", filepath.Join(data, "dev.conllu"), "--method", "sgd", "--passes", "2", "--out", dir, "--quiet").ok()
	config, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil || !strings.Contains(string(config), "recurrent: [10]\n") || !strings.Contains(string(config), "channels: []\n") {
		t.Errorf("%v in\n%s", err, config)
	}
	if o := dsp(t, "predict", "--model", dir, "--input", filepath.Join(data, "test.conllu")).ok(); !strings.Contains(o.stdout, "nsubj") {
		t.Errorf("predicted\n%s", o.stdout)
	}
	dsp(t, "train", "--net", "mlp", "--recurrent", "10").refused(exitBadInput, "--recurrent", "--net mlp")
	dsp(t, "train", "--task", "tag", "--train", filepath.Join(data, "dev.conllu"), "--net", "rnn", "--features", "pos").refused(exitBadInput, "--net rnn does not read")
}
