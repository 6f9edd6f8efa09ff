//go:build unix

package encoders

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// BenchmarkEncode encodes sequences with as many workers as GOMAXPROCS says. DSP_ENCODER names the encoder's folder,
// DSP_PRECISION its precision, DSP_PIECES a file with ids and offsets; see bench/encoders.py. Beside the time it
// reports processor time, which other processes disturb less.
func BenchmarkEncode(b *testing.B) {
	e, err := Open(cmp.Or(os.Getenv("DSP_ENCODER"), "testdata/bert"))
	if err != nil {
		b.Fatal(err)
	}
	ids, offsets := pieces(b, e)
	rows := make([]float32, len(ids)*e.Width())
	layers, workers := Layers{e.Depth(), e.Depth()}, make([]*Worker, runtime.GOMAXPROCS(0))
	precision := Precision(cmp.Or(os.Getenv("DSP_PRECISION"), string(Float32)))
	for i := range workers {
		workers[i] = e.NewWorker(layers, precision)
	}
	encode := func(to int) {
		const together = 64 // sequences in a call
		var next atomic.Int64
		var group sync.WaitGroup
		for _, w := range workers {
			group.Go(func() {
				for {
					lo := int(next.Add(together)) - together
					if lo >= to {
						return
					}
					part := make([]int, 0, together+1)
					for _, at := range offsets[lo : min(lo+together, to)+1] {
						part = append(part, at-offsets[lo])
					}
					first, last := offsets[lo], offsets[min(lo+together, to)]
					if err := w.Encode(ids[first:last], part, rows[first*e.Width():last*e.Width()]); err != nil {
						b.Error(err)
					}
				}
			})
		}
		group.Wait()
	}
	all := len(offsets) - 1
	encode(min(all, 256)) // packs the weights and compiles programs
	before := processorSeconds()
	for b.Loop() {
		encode(all)
	}
	b.ReportMetric((processorSeconds()-before)/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(len(ids))*float64(b.N)/b.Elapsed().Seconds(), "pieces/s")
}

// processorSeconds is the time that the process has used processors for.
func processorSeconds() float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return float64(use.Utime.Sec+use.Stime.Sec) + float64(use.Utime.Usec+use.Stime.Usec)/1e6
}

func pieces(b *testing.B, e *Encoder) (ids []int32, offsets []int) {
	path := os.Getenv("DSP_PIECES")
	if path == "" {
		rng := rand.New(rand.NewPCG(1, 2))
		offsets = append(offsets, 0)
		for range 100 {
			for range 5 + rng.IntN(40) {
				ids = append(ids, int32(rng.IntN(e.Vocabulary())))
			}
			offsets = append(offsets, len(ids))
		}
		return ids, offsets
	}
	f, err := safetensors.Read(filepath.Clean(path))
	if err != nil {
		b.Fatal(err)
	}
	ids, err = safetensors.Values[int32](f, "ids", -1)
	if err != nil {
		b.Fatal(err)
	}
	all, err := safetensors.Values[int64](f, "offsets", -1)
	if err != nil {
		b.Fatal(err)
	}
	for _, at := range all {
		offsets = append(offsets, int(at))
	}
	return ids, offsets
}

// BenchmarkTune computes hidden states and gradients of batches of 16 sequences, of which GOMAXPROCS workers take equal
// shares, as a step of training does. The variables of BenchmarkEncode choose the encoder and the pieces; DSP_RECOMPUTE
// asks for Tuning.Recompute.
func BenchmarkTune(b *testing.B) {
	e, err := Open(cmp.Or(os.Getenv("DSP_ENCODER"), "testdata/bert"))
	if err != nil {
		b.Fatal(err)
	}
	t, err := NewTuned(e, Tuning{Read: Layers{e.Depth(), e.Depth()}, Frozen: -1, Dropout: -1,
		Recompute: os.Getenv("DSP_RECOMPUTE") != ""})
	if err != nil {
		b.Fatal(err)
	}
	ids, offsets := pieces(b, e)
	data := &structured.Dataset{Offsets: offsets, Pieces: &structured.Pieces{Ids: ids, Offsets: offsets}}
	for i := range offsets {
		data.Pieces.First = append(data.Pieces.First, i)
	}
	for p := range ids {
		data.Pieces.Words = append(data.Pieces.Words, [2]int{p, p + 1})
	}
	const examples = 16
	shards := runtime.GOMAXPROCS(0)
	workers, grads, v := make([]graph.EncoderWorker, shards), make([][]float32, shards), make([][]float32, shards)
	for i := range shards {
		workers[i], grads[i] = t.NewWorker(), make([]float32, t.Dim())
	}
	step := func(k int) {
		var group sync.WaitGroup
		for i := range shards {
			group.Go(func() {
				var list []int
				for j := i; j < examples; j += shards {
					list = append(list, (k*examples+j)%data.Len())
				}
				var batch structured.Batch
				batch.Reset(data, list)
				rows := make([]float32, batch.Positions()*e.Width())
				if err := workers[i].Encode(e.w, 1+uint64(k), &batch, rows); err != nil {
					b.Error(err)
				}
				v[i] = append(v[i][:0], rows...)
				if err := workers[i].Pullback(v[i], grads[i]); err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
	}
	step(0)
	before, k := processorSeconds(), 0
	for b.Loop() {
		k++
		step(k)
	}
	b.ReportMetric((processorSeconds()-before)/float64(b.N), "cpu-s/op")
}
