package models

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
)

// Several processes that read ranges have the numbers of words, their characters and vectors, and dense features that
// one process has, and none has the text of all.
func TestWordsInRanges(t *testing.T) {
	fewerCases(t)
	dir := t.TempDir()
	vectors, dense := filepath.Join(dir, "vectors.txt"), filepath.Join(dir, "dense.npz")
	if err := os.WriteFile(vectors, []byte("a 0.5 1\nb -1 2\nab 3 0\nc 1 1\nzz 1 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func(c *config.Config){
		"words":              func(c *config.Config) { c.Net = "rnn" },
		"words with vectors": func(c *config.Config) { c.Net, c.Vectors = "rnn", vectors },
		"words and their characters beside attributes": func(c *config.Config) { c.Net, c.CharChannels = "deep", 4 },
		"vectors":                   func(c *config.Config) { c.Vectors, c.Features = vectors, "none" },
		"vectors beside attributes": func(c *config.Config) { c.Vectors = vectors },
		"dense":                     func(c *config.Config) { c.Dense, c.Features = dense, "none" },
		"dense beside attributes":   func(c *config.Config) { c.Dense, c.Standardise = dense, true },
		"dense beside words":        func(c *config.Config) { c.Net, c.Dense = "rnn", dense },
	}
	names := slices.Sorted(maps.Keys(kinds))
	rapid.Check(t, func(t *rapid.T) {
		c := config.Default()
		c.Task, c.Net, c.Loss, c.MinCount = "tag", "linear", "crf", rapid.IntRange(0, 3).Draw(t, "least count")
		c.Format = rapid.SampledFrom([]string{"conll", "conllu"}).Draw(t, "format")
		if c.Format == "conll" {
			c.Columns = "word=0,pos=1,label=-1"
		}
		if kinds[rapid.SampledFrom(names).Draw(t, "kind")](&c); c.Dense != "" { // of one file
			c.Columns, c.Format = "word=0,pos=1,label=-1", "conll"
		}
		if name := rapid.SampledFrom([]string{"", "init", "prior"}).Draw(t, "continued by"); c.Dense == "" && name != "" {
			path := drawModel(t, dir, c)
			if c.Init = path; name == "prior" {
				c.Init, c.Prior = "", path
			}
		}
		c.Train = drawFiles(t, dir, c.Format, false)
		if c.Dense != "" {
			c.Train, _, _ = strings.Cut(c.Train, ",")
			writeDense(t, dense, c)
		}
		r, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		one, mistake := r.Data()
		want := ""
		if mistake == nil {
			want = train.Fingerprint(one.Train)
		}
		err = inRanks(rapid.IntRange(2, 4).Draw(t, "processes"), c, func(d *Data, err error) error {
			if fmt.Sprint(err) != fmt.Sprint(mistake) || structured.IsBadInput(err) != structured.IsBadInput(mistake) {
				return fmt.Errorf("error %w, expected %w", err, mistake)
			}
			if err != nil {
				return nil
			}
			if d.Train.Columns != nil {
				return errors.New("a process has the text of all")
			}
			if got := train.DividedFingerprint(d.Train, d.Share); got != want {
				return fmt.Errorf("fingerprint %s, expected %s", got, want)
			}
			if fmt.Sprint(d.Vectors) != fmt.Sprint(one.Vectors) {
				return fmt.Errorf("vectors %+v, expected %+v", d.Vectors, one.Vectors)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// writeDense writes dense features for the tokens of a file of text.
func writeDense(t *rapid.T, path string, c config.Config) {
	text := c
	text.Dense, text.Features, text.Standardise, text.Net = "", "auto", false, "linear"
	d, err := ReadData(&text)
	if err != nil {
		t.Skip("the text has mistakes")
	}
	r := rand.New(rand.NewPCG(1, 2))
	features, lengths := make([]float32, 2*d.Train.Positions()), make([]int64, d.Train.Len())
	for k := range features {
		features[k] = float32(r.NormFloat64())
	}
	for i := range lengths {
		lengths[i] = int64(d.Train.Length(i))
	}
	var content bytes.Buffer
	err = arrays.WriteNPZ(&content, func(w arrays.NPZWriter) error {
		return errors.Join(arrays.Add(w, "features", features, d.Train.Positions(), 2), arrays.Add(w, "lengths", lengths, len(lengths)))
	})
	if err == nil {
		err = os.WriteFile(path, content.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
