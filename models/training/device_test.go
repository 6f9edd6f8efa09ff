package training

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/ranks"
)

// On a GPU a step takes more examples, as long as a pass has enough steps.
func TestDeviceBatch(t *testing.T) {
	data := func(n, length int) *structured.Dataset {
		d := &structured.Dataset{Offsets: []int{0}}
		for range n {
			d.Offsets = append(d.Offsets, d.Offsets[len(d.Offsets)-1]+length)
		}
		return d
	}
	for _, c := range []struct {
		method                 string
		examples, length, want int
	}{
		{"svrg", 100, 10, 1},
		{"svrg", 511, 10, 1},
		{"svrg", 512, 10, 8},
		{"sgd", 6877, 8, 64},
		{"bcfw", 1000000, 8, 1024},
		{"prox-linear", 1000000, 100, 64},
		{"sgd", 1000000, 10000, 1},
		{"lbfgs", 1000000, 8, 1},
	} {
		if got := deviceBatch(c.method, data(c.examples, c.length), 1); got != c.want {
			t.Errorf("%s on %d examples of length %d: %d in a step, want %d", c.method, c.examples, c.length, got, c.want)
		}
	}
}

// lost is a group of two, of which the other rank agrees to everything, and is gone when devices are named.
type lost struct{ ranks.Alone }

func (lost) Size() int { return 2 }

func (lost) AllGather(_ context.Context, mine []byte) ([][]byte, error) {
	if mine[0] != '[' { // no facts to agree on
		return nil, errLost
	}
	return [][]byte{mine, mine}, nil
}

var errLost = errors.New("a rank is gone")

// A run that fails while its ranks meet has given its device's memory back.
func TestRunWhoseRanksDoNotMeetOnGPU(t *testing.T) {
	cudatest.Device(t)
	before := device.Held()
	data := &structured.Dataset{Name: "chains", Alphabet: structured.NewAlphabet("a", "b"), Dim: 1, Offsets: []int{0}}
	for n := range 1 << 14 {
		data.Features, data.Labels, data.Offsets = append(data.Features, 1), append(data.Labels, 0), append(data.Offsets, n+1)
	}
	c := config.Default()
	c.Net, c.Hidden, c.Method, c.Device, c.Quiet, c.Out = "mlp", settings.Sizes{4}, "adam", config.CUDA, true, t.TempDir()
	o := TrainOptions{Log: slog.New(slog.DiscardHandler), Ranks: &ranks.Member{Group: lost{}, Here: 2}}
	if _, _, err := trainOn(t.Context(), c, &models.Data{Train: data}, o); !errors.Is(err, errLost) {
		t.Fatalf("error %v", err)
	}
	if after := device.Held(); after != before {
		t.Errorf("the run holds %d bytes of its device", after-before)
	}
}
