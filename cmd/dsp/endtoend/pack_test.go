package endtoend

import (
	"bytes"
	little "encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sbinet/npyio/npz"

	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

// packed packs the training data of a task and returns the pack.
func packed(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.pack")
	dsp(t, append([]string{"data", "pack", "--quiet", "--out", path}, args...)...).ok()
	return path
}

// modelIn returns the header of a run's model, without the path of the training data, and the bytes of its tensors.
func modelIn(t *testing.T, run string) (header map[string]any, data []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(run, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	n := little.LittleEndian.Uint64(b)
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	metadata := header["__metadata__"].(map[string]any)
	var config map[string]any
	if err := json.Unmarshal([]byte(metadata["config"].(string)), &config); err != nil {
		t.Fatal(err)
	}
	delete(config, "train")
	metadata["config"] = config
	return header, b[8+n:]
}

// sameModel fails unless two runs have the same model but for the path of their training data.
func sameModel(t *testing.T, a, b string) {
	t.Helper()
	headerA, dataA := modelIn(t, a)
	headerB, dataB := modelIn(t, b)
	if fmt.Sprint(headerA) != fmt.Sprint(headerB) {
		t.Errorf("the models differ:\n%v\n%v", headerA, headerB)
	}
	if !bytes.Equal(dataA, dataB) {
		t.Error("the weights or names differ")
	}
}

// drawnText returns the folder of sentences with entity tags, in columns.
func drawnText(t *testing.T) string {
	t.Helper()
	dir, err := drawTextOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var drawTextOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(shared, "text")
	return dir, runProgram("data", "text", "--examples", "80,20,20", "--out", dir, "--quiet")
})

// asConllu writes a conll file of words, parts of speech and tags as CoNLL-U.
func asConllu(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if n++; len(fields) == 0 {
			n = 0
			b.WriteString("\n")
			continue
		}
		fmt.Fprintf(&b, "%d\t%s\t_\t%s\t_\t_\t_\t_\t_\t_\n", n, fields[0], fields[1])
	}
	return write(t, "text.conllu", b.String())
}

// drawnRows returns an npz file of sequences of dense features.
func drawnRows(t *testing.T) string {
	t.Helper()
	rows, labels := make([][3]float32, 60), make([]int32, 60)
	for k := range rows {
		labels[k] = int32(k * k % 5 % 2)
		rows[k] = [3]float32{float32(labels[k]), float32(k % 7), 1}
	}
	path := filepath.Join(t.TempDir(), "rows.npz")
	w, err := npz.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []struct {
		name string
		data any
	}{{"features", rows}, {"labels", labels}, {"lengths", []int64{20, 21, 19}}} {
		if err := w.Write(a.name, a.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A model that a pack gives is the one that the data give, to the bit.
func TestPackGivesTheSameModel(t *testing.T) {
	t.Parallel()
	dir := drawnText(t)
	conll, dev := filepath.Join(dir, "train.conll"), filepath.Join(dir, "dev.conll")
	crfsuite := filepath.Join(t.TempDir(), "train.crfsuite")
	dsp(t, "data", "attributes", "--input", conll, "--to", crfsuite, "--quiet").ok()
	trees := filepath.Join(t.TempDir(), "trees")
	dsp(t, "data", "trees", "--examples", "40,10,10", "--out", trees, "--quiet").ok()
	letters := filepath.Join(t.TempDir(), "letters")
	dsp(t, "data", "ocr", "--train", "30", "--dev", "5", "--test", "5", "--out", letters, "--quiet").ok()
	pairs := filepath.Join(t.TempDir(), "pairs")
	dsp(t, "data", "pairs", "--examples", "40,10,10", "--out", pairs, "--quiet").ok()
	vectors := write(t, "vectors.txt", "in 0.5 -1\nthe 0.25 2\n. 1 1\n")
	for _, c := range []struct {
		name  string
		data  []string // also of the pack
		train []string
	}{
		{"conll", []string{"--train", conll}, []string{"--dev", dev}},
		{"conll by columns", []string{"--train", conll, "--columns", "word=0,pos=1,label=-1", "--min-count", "2"}, []string{"--dev", dev}},
		{"conll hashed", []string{"--train", conll, "--hash-bits", "12"}, []string{"--dev", dev, "--method", "lbfgs"}},
		{"conll converted", []string{"--train", conll, "--scheme", "bioes"}, []string{"--dev", dev}},
		{"conll words", []string{"--train", conll, "--net", "rnn"}, []string{"--dev", dev}},
		{"conll deep", []string{"--train", conll, "--net", "deep"}, nil},
		{"conllu", []string{"--train", asConllu(t, conll)}, nil},
		{"conll with vectors of words", []string{"--train", conll, "--columns", "word=0,pos=1,label=-1", "--vectors", vectors}, []string{"--dev", dev}},
		{"conll encoded", []string{"--train", conll, "--columns", "word=0,pos=1,label=-1", "--encoder", encodedtest.Folder(t, "bert"), "--encoder-layers", "last"}, nil},
		{"crfsuite", []string{"--train", crfsuite}, nil},
		{"crfsuite least", []string{"--train", crfsuite, "--min-count", "2"}, nil},
		{"parse", []string{"--train", filepath.Join(trees, "train.conllu"), "--task", "parse"}, []string{"--dev", filepath.Join(trees, "dev.conllu")}},
		{"parse with siblings", []string{"--train", filepath.Join(trees, "dev.conllu"), "--task", "parse", "--order", "2"}, []string{"--dev", filepath.Join(trees, "test.conllu")}},
		{"graph", []string{"--train", drawnGraphs(t, "train.npz", 15, 3, 1), "--task", "graph"}, []string{"--dev", drawnGraphs(t, "dev.npz", 5, 3, 2)}},
		{"dense", []string{"--train", drawnRows(t)}, nil},
		{"dense, standardised", []string{"--train", drawnRows(t), "--standardise"}, []string{"--dev", drawnRows(t)}},
		{"letters", []string{"--train", filepath.Join(letters, "train.data")}, nil},
		{"align", []string{"--train", filepath.Join(pairs, "train.pairs")}, []string{"--dev", filepath.Join(pairs, "dev.pairs")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pack := packed(t, c.data...)
			runs := t.TempDir()
			direct, mapped := filepath.Join(runs, "direct"), filepath.Join(runs, "mapped")
			how := append([]string{"train", "--passes", "2", "--threads", "2", "--quiet"}, c.train...)
			dsp(t, append(append(how, c.data...), "--out", direct)...).ok()
			dsp(t, append(how, "--train", pack, "--out", mapped)...).ok()
			sameModel(t, direct, mapped)
		})
	}
}

func TestPackResumes(t *testing.T) {
	t.Parallel()
	pack := packed(t, "--train", filepath.Join(drawnText(t), "train.conll"))
	dir := t.TempDir()
	whole, parted := filepath.Join(dir, "whole"), filepath.Join(dir, "parted")
	dsp(t, "train", "--train", pack, "--passes", "3", "--gap", "0", "--out", whole, "--quiet").ok()
	dsp(t, "train", "--train", pack, "--passes", "1", "--gap", "0", "--out", parted, "--quiet").ok()
	dsp(t, "train", "--resume", parted, "--passes", "3", "--quiet").ok()
	_, a := modelIn(t, whole)
	_, b := modelIn(t, parted)
	if !bytes.Equal(a, b) {
		t.Error("the weights differ after resuming")
	}
}

func TestPackRefuses(t *testing.T) {
	t.Parallel()
	dir := drawnText(t)
	conll := filepath.Join(dir, "train.conll")
	pack := packed(t, "--train", conll, "--min-count", "2")
	out := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", pack, "--min-count", "3", "--out", out).refused(exitBadInput, "--min-count 3", "packed with --min-count 2", pack)
	dsp(t, "train", "--train", pack, "--features", "pos", "--out", out).refused(exitBadInput, "--features pos")
	dsp(t, "train", "--train", pack, "--net", "rnn", "--out", out).refused(exitBadInput, "--net rnn", pack)
	model := filepath.Join(t.TempDir(), "model")
	dsp(t, "train", "--train", pack, "--passes", "1", "--out", model, "--quiet").ok()
	dsp(t, "train", "--train", pack, "--init", model, "--out", out).refused(exitBadInput, pack, "cannot continue")
	dsp(t, "train", "--train", pack, "--train", conll, "--out", out).refused(exitBadInput, pack, "pack all of them together")
	dsp(t, "data", "pack", "--train", pack, "--out", out).refused(exitBadInput, "packed already")
	dsp(t, "data", "pack", "--train", conll).refused(exitBadInput, "--out PACK")
	dsp(t, "data", "pack", "--out", out).refused(exitBadInput, "--train FILE")
	dsp(t, "data", "pack", "--task", "localise", "--train", conll, "--out", out).refused(exitBadInput)

	b, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	short := write(t, "short.pack", string(b[:len(b)/2]))
	dsp(t, "train", "--train", short, "--out", out).refused(exitBadInput, short, "cut short")
	b[len(b)/2] ^= 1
	wrong := write(t, "wrong.pack", string(b))
	dsp(t, "train", "--train", wrong, "--out", out).refused(exitBadInput, wrong, "checksum")
	if _, err := os.Stat(out); err == nil {
		t.Errorf("%s was left behind", out)
	}
}
