package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train/engine"
)

// faulty is a scorer whose workers panic.
type faulty struct{ nets.Worker }

func (faulty) Dim() int                 { return 1 }
func (faulty) Form() structured.Form    { return chains.Form(2, false) }
func (faulty) Affine() bool             { return true }
func (f faulty) NewWorker() nets.Worker { return f }
func (faulty) Score([]float32, *structured.Batch, *structured.Potentials) error {
	panic("mistake")
}

// A panic on any of the engine's goroutines becomes an error of the call.
func TestPanicsAreErrors(t *testing.T) {
	data := &structured.Dataset{Offsets: []int{0, 600, 1200}, Labels: make([]int32, 1200)}
	for _, threads := range []int{1, 2} {
		e := engine.NewEngine(&engine.Objective{Scorer: faulty{}, Data: data}, threads)
		_, err := e.Value(context.Background(), make([]float32, 1))
		if p := new(host.PanicError); !errors.As(err, &p) || p.Value != "mistake" {
			t.Errorf("%d threads: got %v, want the panic", threads, err)
		}
	}
}
