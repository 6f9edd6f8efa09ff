package models

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// noisy is text whose labels can be memorised, which makes new text worse.
const noisy = "a O\nb B-X\nc I-X\n\na B-X\nd O\nc O\n\nb I-X\na O\nd B-X\n\nc O\nc B-X\n"

func trainText(t *testing.T, change func(*Config)) (*Result, Config) {
	t.Helper()
	c := Default()
	c.Train, c.Out, c.Quiet = file(t, "train.conll", noisy), t.TempDir(), true
	change(&c)
	r, err := Train(context.Background(), c, TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// Convex methods stop at a gap by default, not with --gap 0, and on bad development data when patience runs out.
func TestConvexMethodsStop(t *testing.T) {
	for _, method := range []string{"auto", "svrg", "sdca", "bcfw", "casimir"} {
		r, _ := trainText(t, func(c *Config) { c.Method = method })
		if gap := float64(r.Gap) / float64(r.Objective); method != "bcfw" && (!(gap <= convexGap) || r.Passes >= convexPasses) {
			t.Errorf("%s: stopped at a relative gap of %v after %d passes: %s", method, gap, r.Passes, r.Reason)
		}
		r, _ = trainText(t, func(c *Config) { c.Method, c.Gap, c.Passes = method, 0, r.Passes+1 })
		if !strings.Contains(r.Reason, "passes done") && !strings.Contains(r.Reason, "can do no more") {
			t.Errorf("%s: without a gap to reach, %s", method, r.Reason)
		}
		r, c := trainText(t, func(c *Config) {
			c.Method, c.Gap, c.Patience, c.Passes = method, 0, 2, 60
			c.Dev = file(t, "dev.conll", strings.NewReplacer("a O", "a B-X", "b B-X", "b O").Replace(noisy))
		})
		if !strings.Contains(r.Reason, "no better on development data for 2 passes") {
			t.Errorf("%s: %s", method, r.Reason)
		}
		best, err1 := Load(c.Out)
		last, err2 := Load(filepath.Join(c.Out, lastFile))
		if err := cmp.Or(err1, err2); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.Dev.Types["X"]; !ok || best.Dictionary.Nodes() != last.Dictionary.Nodes() {
			t.Errorf("%s: %+v", method, r.Dev)
		}
	}
	_, c := trainText(t, func(*Config) {})
	if _, err := os.Stat(filepath.Join(c.Out, lastFile)); err == nil {
		t.Error("without development data there is a last model besides the only one")
	}
}

// A model of attributes is the same for any number of threads.
func TestTextThreads(t *testing.T) {
	var want []byte
	train := file(t, "train.conll", noisy)
	for _, threads := range []int{1, 3} {
		_, c := trainText(t, func(c *Config) { c.Train, c.Threads = train, threads })
		got, err := os.ReadFile(filepath.Join(c.Out, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && !bytes.Equal(got, want) {
			t.Errorf("%d threads: another model than one", threads)
		}
		want = got
	}
}

// Tags are converted during reading, wherever gold labels come from.
func TestScheme(t *testing.T) {
	iob1 := "a I-X\nb I-X\nc B-X\n\nd O\n"
	c := Default()
	c.Train, c.Scheme = file(t, "train.conll", iob1), "bioes"
	c.Dev = c.Train
	m, d := attributeModel(t, c)
	for _, set := range []*structured.Dataset{d.Train, d.Dev} {
		var got []string
		for _, l := range set.Labels {
			got = append(got, set.Alphabet.Name(l))
		}
		if strings.Join(got, " ") != "B-X E-X S-X O" || set.Alphabet != m.Labels {
			t.Errorf("%s: %v", set.Name, got)
		}
	}
	for _, needed := range []bool{false, true} {
		got, err := m.ReadData(c.Train, DataOptions{Labels: needed})
		if err != nil || len(got.Labels) != 4 || m.Labels.Name(got.Labels[1]) != "E-X" {
			t.Errorf("labels needed %v: %v, %v", needed, got.Labels, err)
		}
	}
	if _, err := m.ReadData(file(t, "x.conll", "a I-Y\n"), DataOptions{Labels: true}); !structured.IsBadInput(err) {
		t.Errorf("an unknown type: got %v", err)
	}
	if got, err := m.ReadData(file(t, "x.conll", "a I-Y\n"), DataOptions{}); err != nil || got.Labels != nil {
		t.Errorf("an unknown type that nobody needs: got %v, %v", got.Labels, err)
	}
	c.Scheme, c.Dev, c.Constraints, c.Out = "keep", "", "iob2", t.TempDir()
	if _, err := Train(context.Background(), c, TrainOptions{}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "train.conll:1: I-X starts a sequence") {
		t.Errorf("broken constraints: got %v", err)
	}
}
