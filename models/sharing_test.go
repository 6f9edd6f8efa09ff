package models

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// eachRank calls do as each of n ranks, with a copy of the model that they share.
func eachRank(t *testing.T, n int, m *Model, do func(ctx context.Context, m *Model, rank int) error) {
	t.Helper()
	err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
		own := *m
		own.ShareWith(NewRanks(g))
		return do(ctx, &own, g.Rank())
	})
	if err != nil {
		t.Error(err)
	}
}

// written returns what is written of the predictions for d.
func written(ctx context.Context, m *Model, d *structured.Dataset, o predictions.Options, asJSON bool) (string, error) {
	var to strings.Builder
	err := m.Print(ctx, d, &to, o, asJSON)
	return to.String(), err
}

// Ranks predict what one process does, to the last digit, from text whose inputs each makes for its own examples, and
// from numbers, some of them of no position.
func TestRanksPredict(t *testing.T) {
	var text strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&text, "the DT O\nbig%d JJ ?\ndog NN B-X|I-X\n\n", i%50)
	}
	tagger, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	numbers := toyData(5)
	all := make([]int, 2000)
	for k := range all {
		all[k] = k % numbers.Len()
	}
	numbers = numbers.Subset(all)
	toy := toyModel(t, numbers, nil)
	r := Request{Path: file(t, "new", text.String())}
	two := Request{Path: r.Path + "," + file(t, "more", text.String())}
	for name, of := range map[string]struct {
		model *Model
		read  func(m *Model, o predictions.Options) (*structured.Dataset, error)
	}{
		"text":    {tagger, func(m *Model, o predictions.Options) (*structured.Dataset, error) { return m.ReadGiven(r, o) }},
		"files":   {tagger, func(m *Model, o predictions.Options) (*structured.Dataset, error) { return m.ReadGiven(two, o) }},
		"numbers": {toy, func(m *Model, _ predictions.Options) (*structured.Dataset, error) { return numbers, nil }},
	} {
		for _, o := range []predictions.Options{
			{}, {Confidence: true, Probability: true, Entropy: true}, {NBest: 3, Marginals: true}, {Samples: 2, Seed: 7}, {Decode: predictions.LeastRisk}, {Force: true}, {Spans: true, Decode: predictions.EntityF1},
		} {
			if o.Spans && name == "numbers" {
				continue
			}
			d, err := of.read(of.model, o)
			if err != nil {
				t.Fatal(err)
			}
			want, err := written(t.Context(), of.model, d, o, true)
			if err != nil {
				t.Fatal(err)
			}
			for n := 2; n <= 3; n++ {
				eachRank(t, n, of.model, func(ctx context.Context, m *Model, rank int) error {
					d, err := of.read(m, o)
					if err != nil {
						return err
					}
					if bare := d.Attributes == nil && d.Features == nil; bare != m.lacksInputs(d) {
						return fmt.Errorf("bare: %v, for attributes %v", m.lacksInputs(d), d.Attributes)
					}
					mine := o
					mine.Threads = 1 + rank // a machine may have more than another
					if got, err := written(ctx, m, d, mine, true); err != nil || got != want {
						return fmt.Errorf("%s, %+v: rank %d of %d predicts other than one process: %v", name, o, rank, n, err)
					}
					return nil
				})
			}
		}
	}
}

// Rank 0 says what is predicted, and writes it.
func TestRanksWrite(t *testing.T) {
	m, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	r, dir := Request{Path: file(t, "new", strings.Repeat("the DT O\nbig JJ O\n\n", 2000))}, t.TempDir()
	eachRank(t, 2, m, func(ctx context.Context, m *Model, rank int) error {
		d, err := m.ReadData(r)
		if err != nil {
			return err
		}
		err = m.Predict(ctx, d, predictions.Options{Marginals: rank == 0}, func(i int, p *predictions.Prediction) error {
			if len(p.Marginals) == 0 {
				return fmt.Errorf("no marginals of example %d", i)
			}
			return nil
		})
		return errors.Join(err, m.Write(ctx, d, predictions.Options{}, filepath.Join(dir, fmt.Sprintf("%d.npz", rank))))
	})
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != "0.npz" {
		t.Errorf("%v %v", files, err)
	}
}

// Text that arrives is answered as by one process, and rank 0 alone reads it.
func TestRanksPredictText(t *testing.T) {
	m, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "the DT O\nbig%d JJ B-X\ndog NN I-X\n\n", i%50)
	}
	for _, o := range []predictions.Options{{Confidence: true}, {Into: "label"}, {Into: "label", Scheme: "bioes"}} {
		want := streamed(t, m, strings.NewReader(text.String()), o, false)
		eachRank(t, 3, m, func(ctx context.Context, m *Model, rank int) error {
			var in *strings.Reader // which nobody reads
			if rank == 0 {
				in = strings.NewReader(text.String())
			}
			var out strings.Builder
			if err := m.PredictText(ctx, in, &out, Request{Path: "new"}, o, false); err != nil || out.String() != want {
				return fmt.Errorf("%+v: rank %d writes other than one process: %v", o, rank, err)
			}
			return nil
		})
	}
}

// All ranks have the error that one process has.
func TestRanksPredictErrors(t *testing.T) {
	c := textConfig(file(t, "train.conll", trainConll))
	c.Template = file(t, "words.template", "U%x[0,word]\n")
	m, _ := attributeModel(t, c)
	text := strings.Repeat("the DT O\nbig JJ B-X\ndog NN I-X\n\n", 10000)
	for name, in := range map[string]string{
		"late": text + "one\n\n" + text, "empty": "\n\n", "no attributes": "ελ ΩΩ O\n\n", "raw text": "It is a text with many words.\n",
	} {
		var out strings.Builder
		want := m.PredictText(t.Context(), strings.NewReader(in), &out, Request{Path: "new"}, predictions.Options{}, false)
		if want == nil {
			t.Fatalf("%s: no error", name)
		}
		eachRank(t, 3, m, func(ctx context.Context, m *Model, rank int) error {
			var got strings.Builder
			err := m.PredictText(ctx, strings.NewReader(in), &got, Request{Path: "new"}, predictions.Options{}, false)
			if err == nil || err.Error() != want.Error() || !structured.IsBadInput(err) || got.String() != out.String() {
				return fmt.Errorf("%s: rank %d has %v after %d bytes, one process %v after %d", name, rank, err, got.Len(), want, out.Len())
			}
			return nil
		})
	}
	strangers := Request{Path: file(t, "strangers", "ελ ΩΩ O\n\n"), Labels: true}
	_, want := m.ReadData(strangers)
	eachRank(t, 2, m, func(ctx context.Context, m *Model, rank int) error {
		d, err := m.ReadData(strangers)
		if err == nil {
			_, err = m.ReportOf(ctx, d, false, predictions.Options{})
		}
		if want == nil || err == nil || err.Error() != want.Error() {
			return fmt.Errorf("rank %d has %v, one process %v", rank, err, want)
		}
		return nil
	})
}

// What ranks do not share has its inputs on each of them.
func TestRanksComplete(t *testing.T) {
	m, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	r := Request{Path: file(t, "train.conll", trainConll), Labels: true}
	d, err := m.ReadData(r)
	if err != nil {
		t.Fatal(err)
	}
	nll, err1 := m.NLL(t.Context(), d, 1)
	θ, err2 := m.Potentials(t.Context(), d, 1)
	counts, err3 := m.Counts(t.Context(), d, 1)
	predicted, err4 := written(t.Context(), m, d, predictions.Options{}, true)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	eachRank(t, 2, m, func(ctx context.Context, m *Model, rank int) error {
		for name, same := range map[string]func(d *structured.Dataset) (bool, error){
			"NLL": func(d *structured.Dataset) (bool, error) {
				got, err := m.NLL(ctx, d, 1)
				return got == nll, err
			},
			"potentials": func(d *structured.Dataset) (bool, error) {
				got, err := m.Potentials(ctx, d, 1)
				return reflect.DeepEqual(got.Parts, θ.Parts), err
			},
			"counts": func(d *structured.Dataset) (bool, error) {
				got, err := m.Counts(ctx, d, 1)
				return reflect.DeepEqual(got, counts), err
			},
			"divergence": func(d *structured.Dataset) (bool, error) {
				got, err := m.Divergence(ctx, d, m, d, 1)
				return got.KL == 0 && got.Examples == d.Len(), err
			},
		} {
			d, err := m.ReadData(r)
			if err != nil {
				return err
			}
			if !m.lacksInputs(d) {
				return errors.New("the data have inputs already")
			}
			if ok, err := same(d); err != nil || !ok {
				return fmt.Errorf("%s of rank %d: other than that of one process: %v", name, rank, err)
			}
			if got, err := written(ctx, m, d, predictions.Options{}, true); err != nil || got != predicted {
				return fmt.Errorf("predictions after %s of rank %d: other than those of one process: %v", name, rank, err)
			}
		}
		return nil
	})
}

// Answers come to other ranks as they were, whatever they have.
func TestSharedAnswers(t *testing.T) {
	zero := math.Copysign(0, -1)
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Make[predictions.Prediction](), 0, 6).Draw(t, "answers")
		for k := range all {
			if rapid.Bool().Draw(t, "of zeros") {
				all[k] = predictions.Prediction{Output: predictions.Output{Score: zero}, NBest: []predictions.Output{{Score: zero, Probability: math.Inf(-1)}, {Labels: []int32{}}},
					Bound: &zero, Marginals: []float32{float32(zero)}, Entropy: zero, Spans: []predictions.Span{{Probability: zero}}}
			}
		}
		first, cut := rapid.IntRange(0, 9).Draw(t, "first"), rapid.IntRange(0, len(all)).Draw(t, "cut")
		sent := shared{First: first, Last: first, Known: 7}
		sent.add(slices.Clone(all[:cut]), 2)
		sent.add(slices.Clone(all[cut:]), 3)
		var message bytes.Buffer
		var received shared
		if err := errors.Join(gob.NewEncoder(&message).Encode(sent), gob.NewDecoder(&message).Decode(&received)); err != nil {
			t.Fatal(err)
		}
		examples, got := received.answers()
		if received.Truncated != 5 || received.Known != 7 || len(got) != len(all) {
			t.Fatalf("%d answers, %d truncated, %d known", len(got), received.Truncated, received.Known)
		}
		for k := range got {
			if examples[k] != first+k || !reflect.DeepEqual(got[k], all[k]) || fmt.Sprint(got[k].Output, got[k].NBest, got[k].Marginals, got[k].Entropy, got[k].Spans) !=
				fmt.Sprint(all[k].Output, all[k].NBest, all[k].Marginals, all[k].Entropy, all[k].Spans) || all[k].Bound != nil && math.Signbit(*got[k].Bound) != math.Signbit(*all[k].Bound) {
				t.Errorf("example %d: %+v, expected %+v", examples[k], got[k], all[k])
			}
		}
	})
}
