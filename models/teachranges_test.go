package models

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

// targets returns what the teacher of d says of the examples of this process, by their numbers.
func targets(d *Data, c config.Config, share float64) (map[int]string, error) {
	m, err := NewModel(c, d)
	if err != nil {
		return nil, err
	}
	all := map[int]string{}
	entropy, err := d.Teach(context.Background(), m, share, 2, func(i int, t Target) {
		text := fmt.Sprint(t.Labels, t.Single)
		for _, u := range []*structured.Marginals{t.Marginals, t.Origin} {
			for k := 0; u != nil && k < len(u.Parts); k++ {
				text += fmt.Sprintf(" %x", u.Parts[k].Of(t.At))
			}
		}
		all[i] = text
	})
	all[-1] = fmt.Sprintf("%.6g", entropy)
	return all, err
}

// Several processes ask a teacher about their own examples alone, of which each reads the text, and together have the
// targets of one process to the bit: of teachers that read words or attributes, of text with labels, some labels, or
// none.
func TestTeachInRanges(t *testing.T) {
	fewerCases(t)
	const all = "a B-A\nb I-A\nc O\nab B-B\n\nb O\n\n"
	var students []config.Config
	for name, known := range map[string]struct{ format, net, text string }{
		"attributes": {"conll", "linear", all}, "words": {"conll", "rnn", all},
		"attributes of CRFsuite": {"crfsuite", "linear", "B-A\tw=a\nI-A\tw=b\nO\tw=c\tx:2\nB-B\tw=ab\n\nO\tw=b\n\n"},
	} {
		c := ofFiles(t, []string{strings.Repeat(known.text, 3)})
		if c.Format, c.Net, c.Columns = known.format, known.net, ""; c.Net != "linear" {
			c.Method = "adam"
		}
		m, _ := attributeModel(t, c)
		c.Net, c.Method, c.Teacher = "linear", "lbfgs", filepath.Join(t.TempDir(), name)
		if err := m.Save(c.Teacher); err != nil {
			t.Fatal(err)
		}
		students = append(students, c)
	}
	slices.SortFunc(students, func(a, b config.Config) int {
		return strings.Compare(filepath.Base(a.Teacher), filepath.Base(b.Teacher))
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		c, share := rapid.SampledFrom(students).Draw(t, "student"), rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "share of the teacher")
		labels := rapid.SampledFrom([]string{"all", "some", "none"}).Draw(t, "labels")
		if c.Format == "crfsuite" {
			labels = "all"
		}
		var paths []string
		r := rand.New(rand.NewPCG(1, uint64(rapid.IntRange(0, 1000).Draw(t, "text"))))
		for k := range rapid.IntRange(1, 2).Draw(t, "files") {
			var text strings.Builder
			words := []string{"a", "b", "c", "ab", "bc"}
			for sentence := range rapid.IntRange(1, 300).Draw(t, "sentences") {
				for token := range len(words) + r.IntN(20) {
					label := []string{"O", "B-A", "B-B"}[r.IntN(3)]
					word := words[r.IntN(len(words))]
					if sentence == 0 && token < len(words) { // the teacher knows some of them
						word = words[token]
					}
					if c.Format == "crfsuite" {
						fmt.Fprintf(&text, "%s\tw=%s\n", label, word)
						continue
					}
					text.WriteString(word)
					switch {
					case labels == "some" && r.IntN(2) == 0:
						text.WriteString(" ?")
					case labels != "none":
						text.WriteString(" " + label)
					}
					text.WriteString("\n")
				}
				text.WriteString("\n")
			}
			paths = append(paths, filepath.Join(dir, fmt.Sprint("taught", k)))
			if err := os.WriteFile(paths[k], []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		c.Train = strings.Join(paths, ",")
		resolved, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		one, err := resolved.Data()
		if err != nil {
			t.Fatal(err)
		}
		want, err := targets(one, c, share)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var asked []int
		err = inRanks(rapid.IntRange(2, 4).Draw(t, "processes"), c, func(d *Data, err error) error {
			if err != nil {
				return err
			}
			asks := d.teacher
			all := asks.data != nil && asks.data.Len() == one.Train.Len()
			if d.Share.Size() == 1 || d.Train.Columns != nil || all && len(asks.batches) < one.Train.Positions()/1024 {
				return fmt.Errorf("a process reads the text of all %d examples", one.Train.Len())
			}
			got, err := targets(d, c, share)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for i, text := range got {
				if text != want[i] {
					return fmt.Errorf("the target of example %d is %s, expected %s", i, text, want[i])
				}
				if i >= 0 {
					asked = append(asked, i)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(asked)
		if len(asked) != one.Train.Len() || len(slices.Compact(asked)) != one.Train.Len() {
			t.Fatalf("%d targets of %d examples", len(asked), one.Train.Len())
		}
	})
}
