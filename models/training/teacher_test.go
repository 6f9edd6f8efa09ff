package training

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

// taught trains a student on a file, by a teacher.
func taught(t *testing.T, train, teacher string, change func(*config.Config)) (*Result, error) {
	t.Helper()
	c := config.Default()
	c.Task, c.Train, c.Teacher, c.Out, c.Quiet, c.Baselines, c.Passes, c.Gap = "tag", train, teacher, t.TempDir(), true, "off", 40, 1e-4
	change(&c)
	return Train(t.Context(), c, TrainOptions{})
}

// divergence returns KL(teacher|student) on a file.
func divergence(t *testing.T, teacher, student, file string) float64 {
	t.Helper()
	var sets [2]*structured.Dataset
	var all [2]*models.Model
	for k, path := range []string{teacher, student} {
		m, err := models.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if sets[k], err = m.ReadData(models.Request{Path: file}); err != nil {
			t.Fatal(err)
		}
		all[k] = m
	}
	v, err := all[0].Divergence(context.Background(), sets[0], all[1], sets[1], 1)
	if err != nil {
		t.Fatal(err)
	}
	return v.KL
}

// A student learns its teacher's distribution from words alone, with or without a column for labels, certified, and a
// resumed run to the same bits.
func TestStudentOfUnlabelledText(t *testing.T) {
	_, c := trainText(t, func(c *config.Config) { c.Loss, c.Reg = "crf", 0.3 })
	teacher := c.Out
	var words, marks strings.Builder
	for line := range strings.Lines(noisy) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		words.WriteString(word + "\n")
		if marks.WriteString(word); word != "" {
			marks.WriteString(" ?")
		}
		marks.WriteString("\n")
	}
	for name, content := range map[string]string{"words": words.String(), "marks": marks.String(), "labels": noisy} {
		path := file(t, name+".conll", content)
		r, err := taught(t, path, teacher, func(c *config.Config) { c.Reg = 1e-4 })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Method != "sdca" || !(float64(r.RelativeGap) <= 1e-3) {
			t.Errorf("%s: method %s, certified gap %v", name, r.Method, r.RelativeGap)
		}
		if kl := divergence(t, teacher, r.Model, path); !(kl < 0.02) {
			t.Errorf("%s: the student is %v from its teacher", name, kl)
		}
	}
	path := file(t, "words.conll", words.String())
	kls := [3]float64{}
	for k, share := range []float64{0, 0.5, 1} { // gold labels that are known pull the student away from its teacher
		r, err := taught(t, file(t, "labels.conll", noisy), teacher, func(c *config.Config) { c.Reg, c.TeacherShare, c.Method, c.Passes = 1e-3, share, "lbfgs", 60 })
		if err != nil {
			t.Fatal(err)
		}
		kls[k] = divergence(t, teacher, r.Model, path)
	}
	if !(kls[2] < kls[1] && kls[1] < kls[0]) {
		t.Errorf("with shares 0, 0.5 and 1 of the teacher, the student is %v from it", kls)
	}
	var models [2][]byte
	for k, first := range []int{6, 3} {
		out := t.TempDir()
		change := func(passes int, resume string) func(c *config.Config) {
			return func(c *config.Config) { c.Out, c.Passes, c.Gap, c.Resume = out, passes, 0, resume }
		}
		if _, err := taught(t, path, teacher, change(first, "")); err != nil {
			t.Fatal(err)
		}
		if first < 6 {
			c, err := ReadRun(out)
			if err != nil {
				t.Fatal(err)
			}
			c.Passes, c.Quiet = 6, true
			if _, err := Train(t.Context(), c, TrainOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if models[k], err = os.ReadFile(filepath.Join(out, "model.safetensors")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(models[0], models[1]) {
		t.Error("a resumed run ends with other bits")
	}
}

// Labels that are known in part are no hindrance, whatever the teacher's share, nor are segments and second-order
// chains: dual methods leave where they begin.
func TestTeacherOfPartialLabels(t *testing.T) {
	for name, change := range map[string]func(c *config.Config){
		"chain":        func(c *config.Config) {},
		"second order": func(c *config.Config) { c.Order = 2 },
		"segments":     func(c *config.Config) { c.Structure = "segments" },
	} {
		t.Run(name, func(t *testing.T) {
			_, c := trainText(t, func(c *config.Config) { c.Loss, c.Reg = "crf", 0.3; change(c) })
			var some, words strings.Builder
			k := 0
			for line := range strings.Lines(strings.ReplaceAll(noisy, "\nb I-X", "\nb B-X")) {
				if word, label, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
					if k++; k%3 == 0 {
						label = "?"
					}
					some.WriteString(word + " " + label)
					words.WriteString(word)
				}
				some.WriteString("\n")
				words.WriteString("\n")
			}
			path := file(t, "some.conll", some.String())
			for _, share := range []float64{0, 0.5, 1} {
				var results [2]*Result
				for k, method := range []string{"sdca", "lbfgs"} {
					r, err := taught(t, path, c.Out, func(c *config.Config) {
						c.Reg, c.TeacherShare, c.Method, c.Passes, c.Gap = 0.3, share, method, 200, 1e-3
						change(c)
					})
					if err != nil {
						t.Fatal(err)
					}
					if !(float64(r.RelativeGap) <= 1e-3) {
						t.Errorf("share %v: %s has a certified gap of %v after %d passes", share, method, r.RelativeGap, r.Passes)
					}
					results[k] = r
				}
				if a, b := results[0], results[1]; float64(a.Objective-a.Gap) > float64(b.Objective) || float64(b.Objective-b.Gap) > float64(a.Objective) {
					t.Errorf("share %v: sdca certifies %v less %v, lbfgs %v less %v", share, a.Objective, a.Gap, b.Objective, b.Gap)
				}
			}
			if r, err := taught(t, file(t, "words.conll", words.String()), c.Out, change); err != nil || !(float64(r.RelativeGap) <= 1e-3) {
				t.Errorf("of words alone: %v, %v", r, err)
			}
		})
	}
}

// A teacher that does not fit is refused, and says why.
func TestTeacherRefused(t *testing.T) {
	_, c := trainText(t, func(c *config.Config) { c.Loss = "crf" })
	good := file(t, "good.conll", noisy)
	for want, train := range map[string]func(c *config.Config){
		"no effect with --loss hinge":            func(c *config.Config) { c.Loss = "hinge" },
		"its --task is tag":                      func(c *config.Config) { c.Task = "ocr" },
		"expected a share from 0 to 1":           func(c *config.Config) { c.TeacherShare = 2 },
		"label \"Z\" is not one":                 func(c *config.Config) { c.Train = file(t, "bad.conll", "a Z\n") },
		"no effect without --teacher MODEL":      func(c *config.Config) { c.Teacher, c.TeacherShare = "", 0.5 },
		"its --order is 1, and that of this run": func(c *config.Config) { c.Order = 2 },
		"its --structure is chain":               func(c *config.Config) { c.Structure = "segments" },
		"no model":                               func(c *config.Config) { c.Teacher = t.TempDir() },
		"--scheme bioes converts tags":           func(c *config.Config) { c.Scheme = "bioes" },
		"--init or --prior both say what":        func(c *config.Config) { c.Init = c.Teacher },
	} {
		if _, err := taught(t, good, c.Out, train); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
	_, segments := trainText(t, func(c *config.Config) { c.Structure = "segments" })
	for want, train := range map[string]func(c *config.Config){
		"its --structure is segments": func(*config.Config) {},
		"leave out --max-length":      func(c *config.Config) { c.Structure, c.MaxLength = "segments", 9 },
	} {
		if _, err := taught(t, good, segments.Out, train); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}
