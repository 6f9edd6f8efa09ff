package optimisers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// damagedProblems returns what a method trains on here: a problem for each loss that it takes, and a sparse one.
func damagedProblems(t *testing.T, d *Descriptor) map[string]*train.Problem {
	all := map[string]*train.Problem{}
	smoothing := traintest.Entropy
	if d.Smoothing == NotSmoothed {
		smoothing.Kind = 0
	}
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF} {
		if !d.Losses.Takes(loss.String()) {
			continue
		}
		all[loss.String()] = traintest.NoisyProblem(5, loss, smoothing, 0.2)
		all[loss.String()+", attributes"] = traintest.AttributeProblem(t, 5, 4, 3, 0, loss, 0.2)
		all[loss.String()+", attributes"].Smoothing = smoothing
	}
	if d.TakesRadius() {
		for _, p := range all {
			p.Lambda, p.Radius = 0, 3
		}
	}
	return all
}

// evil returns a word of a tensor that no run would have written there, or hardly.
func evil(r *rand.Rand, data any) {
	floats := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, -1e-3, 1e30, 0.5}
	switch x := data.(type) {
	case []float32:
		if x[r.IntN(len(x))] = float32(floats[r.IntN(len(floats))]); r.IntN(3) == 0 {
			x[r.IntN(len(x))] = math.Float32frombits(r.Uint32())
		}
	case []float64:
		if x[r.IntN(len(x))] = floats[r.IntN(len(floats))]; r.IntN(3) == 0 {
			x[r.IntN(len(x))] = math.Float64frombits(r.Uint64())
		}
	case []int64:
		x[r.IntN(len(x))] = []int64{-1, 0, 1, 7, 1 << 40, math.MaxInt64, math.MinInt64}[r.IntN(7)]
	case []int32:
		x[r.IntN(len(x))] = []int32{-1, 0, 1, 2, 7, 1 << 30, math.MaxInt32, math.MinInt32}[r.IntN(8)]
	}
}

// One damaged word of a checkpoint is refused. Where the checksum was mended as well, the method finds it out or goes
// on; it never panics, and never takes memory or passes without end.
func TestDamagedCheckpoints(t *testing.T) {
	r, words := seeds.Rand(t), 3 // per problem
	if os.Getenv("DSP_LONG") != "" {
		words = 1000
	}
	identity := map[string]string{"seed": "3"}
	mended, methods := 0, map[string]bool{}
	for _, d := range All() {
		for name, p := range damagedProblems(t, d) {
			run := func(passes int, c *train.Checkpoint) error {
				return host.Guard(func() error {
					m, err := d.New(&Run{Settings: Default()})
					if err != nil {
						return err
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					q := *p
					q.Engine = engine.NewEngine(p.Objective, 1)
					c.Every = passes
					_, err = (&train.Trainer{Problem: &q, Method: m, Passes: passes, Checkpoint: c}).Run(ctx, train.NewState(make([]float32, p.Scorer.Dim())))
					return err
				})
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "state.safetensors")
			c, err := train.NewCheckpoint(dir, identity)
			if err != nil {
				t.Fatal(err)
			}
			if err := run(2, c); structured.IsBadInput(err) || d == Counts {
				continue // not on such data, or one pass is all
			} else if err != nil {
				t.Errorf("%s, %s: %v", d.Name, name, err)
				continue
			}
			methods[d.Name] = true
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damage := func(tensor string) {
				f, err := safetensors.Decode(bytes.NewReader(whole), int64(len(whole)))
				if err != nil {
					t.Fatal(err)
				}
				before := fmt.Sprint(f.Tensors[tensor].Data)
				for fmt.Sprint(f.Tensors[tensor].Data) == before {
					evil(r, f.Tensors[tensor].Data)
				}
				save := func() {
					var file bytes.Buffer
					if err := errors.Join(safetensors.Encode(&file, f), os.WriteFile(path, file.Bytes(), 0o666)); err != nil {
						t.Fatal(err)
					}
				}
				save()
				if _, err := train.OpenCheckpoint(dir, identity); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "damaged") {
					t.Errorf("%s, %s: %s is damaged, and opening the checkpoint says %v", d.Name, name, tensor, err)
				}
				mended++
				f.Metadata["sum"] = f.Sum()
				save()
				c, err := train.OpenCheckpoint(dir, identity)
				if err != nil {
					t.Fatal(err)
				}
				if err := run(4, c); errors.Is(err, train.ErrInterrupted) || err != nil && strings.Contains(err.Error(), "internal error") {
					t.Errorf("%s, %s, %s is %.60s instead of %.60s: %v", d.Name, name, tensor, fmt.Sprint(f.Tensors[tensor].Data), before, err)
				}
			}
			var tensors []string // with numbers
			f, err := safetensors.Decode(bytes.NewReader(whole), int64(len(whole)))
			if err != nil {
				t.Fatal(err)
			}
			for tensor, x := range f.Tensors {
				if fmt.Sprint(x.Data) != "[]" {
					tensors = append(tensors, tensor)
				}
			}
			slices.Sort(tensors)
			r.Shuffle(len(tensors), func(i, j int) { tensors[i], tensors[j] = tensors[j], tensors[i] })
			for _, tensor := range tensors[:min(words, len(tensors))] {
				damage(tensor)
			}
		}
	}
	for _, d := range All() {
		if d != Counts && !methods[d.Name] {
			t.Errorf("%s was not tried", d.Name)
		}
	}
	if mended < 3*len(methods) {
		t.Errorf("%d words were damaged, of %d methods", mended, len(methods))
	}
}
