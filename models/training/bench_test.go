//go:build unix

package training

import (
	"cmp"
	"log/slog"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

// BenchmarkTuneStep takes the steps of passes that train an encoder under tags, with as many threads as GOMAXPROCS
// says; the value of the objective after a pass does not count. DSP_ENCODER names the encoder's folder, DSP_TRAIN a
// file of columns (word first, label last), DSP_METHOD the method, DSP_ADAPTER the adapters. See bench/encoders.py.
func BenchmarkTuneStep(b *testing.B) {
	c := config.Default()
	c.Task, c.Columns, c.Train, c.TuneEncoder, c.Quiet, c.EncoderLayers = "tag", "word=0,label=-1", os.Getenv("DSP_TRAIN"), true, true, "last"
	c.Encoder, c.Threads, c.Passes, c.Adapter = os.Getenv("DSP_ENCODER"), runtime.GOMAXPROCS(0), 5, os.Getenv("DSP_ADAPTER")
	c.Method = cmp.Or(os.Getenv("DSP_METHOD"), "adam")
	if c.Encoder == "" {
		c.Encoder = encodedtest.Folder(b, "bert")
	}
	if c.Train == "" {
		c.Train = file(b, "train.conll", trainConll)
	}
	data, err := readData(&c)
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewProblem(c, data, TrainOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	r, err := p.open()
	if err != nil {
		b.Fatal(err)
	}
	defer r.close()
	s := newState(r.model.W)
	if err := r.method.Start(b.Context(), r.problem, s); err != nil {
		b.Fatal(err)
	}
	pass := func() {
		if err := r.method.Pass(b.Context(), r.problem, s); err != nil {
			b.Fatal(err)
		}
	}
	value := func() float64 {
		before := processorSeconds()
		if _, _, err := r.problem.Upper(b.Context(), s.W); err != nil {
			b.Fatal(err)
		}
		return processorSeconds() - before
	}
	pass() // makes programs and memory
	beside := value()
	before, steps := processorSeconds(), 0
	for b.Loop() {
		pass()
		steps += r.problem.Steps()
	}
	b.ReportMetric((processorSeconds()-before-beside*float64(b.N))/float64(steps), "cpu-s/step")
	b.ReportMetric(beside/float64(r.problem.Steps()), "cpu-s/value")
}

// processorSeconds is the time that the process has used processors for.
func processorSeconds() float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return float64(use.Utime.Sec+use.Stime.Sec) + float64(use.Utime.Usec+use.Stime.Usec)/1e6
}
