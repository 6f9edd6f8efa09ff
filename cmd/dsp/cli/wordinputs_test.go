package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// Vectors of words and dense features go from training into the predictions.
func TestVectorsAndDenseFeatures(t *testing.T) {
	var text strings.Builder
	for k := range 40 {
		fmt.Fprintf(&text, "w%d\tO\n\nw%d\tB-X\n\n", k%4, 4+k%3)
	}
	train := write(t, "train.conll", text.String())
	dev := write(t, "dev.conll", "other\tO\n\nw9\tB-X\n")
	fresh := write(t, "new.conll", "w9\n\nother\n\nw9\n")
	vectors := write(t, "glove.txt", "w0 1 0\nw1 1 0\nw4 0 1\nw5 0 1\nother 1 0\nw9 0 1\n")
	features := func(tokens, first int) string {
		rows := make([][2]float32, tokens)
		for i := range rows {
			rows[i][(first+i)%2] = 1
		}
		path := filepath.Join(t.TempDir(), "dense.npz")
		w, err := npz.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write("features", rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, flags := range [][]string{{"--vectors", vectors}, {"--vectors", vectors, "--freeze-vectors"}, {"--dense", features(80, 0) + "," + features(2, 0)}} {
		run := filepath.Join(t.TempDir(), "run")
		o := dsp(t, append([]string{"train", "--train", train, "--dev", dev, "--net", "embed", "--loss", "crf", "--method", "sgd", "--passes", "5", "--out", run}, flags...)...).ok()
		if flags[0] == "--vectors" && !strings.Contains(o.stderr, "kept=6 dimension=2") {
			t.Errorf("the log says nothing of the vectors: %s", o.stderr)
		}
		what := "vectors of 6 words"
		if flags[0] == "--dense" {
			what = "2 dense features per position, and discrete"
		}
		if o := dsp(t, "info", run).ok(); !strings.Contains(o.stdout, what) {
			t.Errorf("info lacks %q: %s", what, o.stdout)
		}
		predict := []string{"predict", "--model", run, "--input", fresh}
		if flags[0] == "--dense" {
			dsp(t, predict...).refused(exitBadInput, "--dense FILE")
			predict = append(predict, "--dense", features(3, 1))
		}
		if o := dsp(t, predict...).ok(); o.stdout != "w9\tB-X\n\nother\tO\n\nw9\tB-X\n" && o.stdout != "w9 B-X\n\nother O\n\nw9 B-X\n" {
			t.Errorf("%v: %q", flags, o.stdout)
		}
	}
	dsp(t, "train", "--train", train, "--vectors", vectors).refused(exitBadInput, "--vectors", "--net embed")
	dsp(t, "train", "--train", train, "--net", "embed", "--dense", features(3, 0)).refused(exitBadInput, "features has 3 rows, expected 80")
}

// The attributes of clusters and names are written, too.
func TestAttributesOfLists(t *testing.T) {
	text := write(t, "train.conll", "in O\nNew B-X\nYork I-X\n")
	names, paths := write(t, "names.txt", "new york\tcity\n"), write(t, "paths", "0101\tyork\t3\n")
	to := filepath.Join(t.TempDir(), "x.crfsuite")
	dsp(t, "data", "attributes", "--features", "ner", "--gazetteer", names, "--clusters", paths, "--input", text, "--to", to).ok()
	content, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	for k, want := range []string{"Ug+1=B-city", "Ug=B-city", "Ug=I-city"} {
		if !strings.Contains(lines[k], "\t"+want) {
			t.Errorf("line %d lacks %s: %s", k+1, want, lines[k])
		}
	}
	if !strings.Contains(lines[2], "\tUc4=0101") {
		t.Errorf("no cluster: %s", lines[2])
	}
}
