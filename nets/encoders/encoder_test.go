package encoders

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// folders lists encoders with expected.safetensors: those of testdata, and those of the folder that DSP_ENCODERS names.
// See bench/encoders.py.
func folders(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("testdata/*/expected.safetensors")
	if err != nil || len(found) == 0 {
		t.Fatal("no encoders in testdata", err)
	}
	if more := os.Getenv("DSP_ENCODERS"); more != "" {
		others, err := filepath.Glob(filepath.Join(more, "*/expected.safetensors"))
		if err != nil || len(others) == 0 {
			t.Fatal("no encoders in", more, err)
		}
		found = append(found, others...)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

// expectation is what transformers computes.
type expectation struct {
	ids     []int32
	offsets []int
	states  []float32 // [layers+1 × pieces × width]
}

func expected(t *testing.T, dir string) expectation {
	t.Helper()
	f, err := safetensors.Read(filepath.Join(dir, "expected.safetensors"))
	must(t, err)
	var x expectation
	x.ids, err = safetensors.Values[int32](f, "ids", -1)
	must(t, err)
	offsets, err := safetensors.Values[int64](f, "offsets", -1)
	must(t, err)
	for _, at := range offsets {
		x.offsets = append(x.offsets, int(at))
	}
	if _, ok := f.Tensors["states"]; ok {
		x.states, err = safetensors.Values[float32](f, "states", -1, len(x.ids), -1)
		must(t, err)
	}
	return x
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The hidden states of every family are those of transformers, up to float32's rounding, which grows with an encoder's
// depth.
func TestFolders(t *testing.T) {
	for _, dir := range folders(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			e, err := Open(dir)
			must(t, err)
			want, limit := expected(t, dir), 1e-5
			if !strings.HasPrefix(dir, "testdata") {
				limit = 1e-4
			}
			n := len(want.ids) * e.Width()
			if len(want.states) != (e.Depth()+1)*n {
				t.Fatalf("%d numbers expected, for %d layers of %d pieces", len(want.states), e.Depth(), len(want.ids))
			}
			for k := range e.Depth() + 1 {
				rows := encode(t, e, fmt.Sprint(k), want.ids, want.offsets)
				if off := relative(rows, want.states[k*n:(k+1)*n]); off > limit {
					t.Errorf("hidden state %d differs by %.2g", k, off)
				} else {
					t.Logf("hidden state %d differs by %.2g", k, off)
				}
			}
			mean, rows := make([]float32, n), encode(t, e, "mean2", want.ids, want.offsets)
			for i := range mean {
				mean[i] = (want.states[(e.Depth()-1)*n+i] + want.states[e.Depth()*n+i]) / 2
			}
			if off := relative(rows, mean); off > limit {
				t.Errorf("the mean of the last two hidden states differs by %.2g", off)
			}
		})
	}
}

// With products of bytes, hidden states of every family are near those of transformers, but not the same, and a
// sequence has the same bits alone and among others.
func TestInt8(t *testing.T) {
	for _, dir := range folders(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			e, err := Open(dir)
			must(t, err)
			must(t, e.Supports(Int8))
			want, last := expected(t, dir), Layers{e.Depth(), e.Depth()}
			n := len(want.ids) * e.Width()
			rows := make([]float32, n)
			must(t, e.NewWorker(last, Int8).Encode(want.ids, want.offsets, rows))
			if off := distance(rows, want.states[e.Depth()*n:]); !(off < 0.15) || off < 1e-4 {
				t.Errorf("the last hidden state is %.2g away, relative to its size", off)
			} else {
				t.Logf("%.2g", off)
			}
			for i := range len(want.offsets) - 1 {
				lo, hi := want.offsets[i], want.offsets[i+1]
				alone := make([]float32, (hi-lo)*e.Width())
				must(t, e.NewWorker(last, Int8).Encode(want.ids[lo:hi], []int{0, hi - lo}, alone))
				if !slices.Equal(alone, rows[lo*e.Width():hi*e.Width()]) {
					t.Errorf("sequence %d has other bits alone", i)
				}
			}
		})
	}
}

// distance is the length of the difference, relative to that of what is expected.
func distance(got, want []float32) float64 {
	off, sum := 0.0, 0.0
	for i, x := range want {
		d := float64(got[i]) - float64(x)
		off, sum = off+d*d, sum+float64(x)*float64(x)
	}
	return math.Sqrt(off / sum)
}

func encode(t *testing.T, e *Encoder, layers string, ids []int32, offsets []int) []float32 {
	t.Helper()
	l, err := e.Layers(layers)
	must(t, err)
	rows := make([]float32, len(ids)*e.Width())
	must(t, e.NewWorker(l, Float32).Encode(ids, offsets, rows))
	return rows
}

// relative is the largest difference relative to the root mean square of what is expected.
func relative(got, want []float32) float64 {
	worst, sum := 0.0, 0.0
	for i, x := range want {
		d := math.Abs(float64(got[i]) - float64(x))
		if !(d <= worst) { // NaN, too
			worst = d
		}
		sum += float64(x) * float64(x)
	}
	return worst / math.Sqrt(sum/float64(len(want)))
}

// A sequence has the same bits alone, in any batch, and in batches that are split into blocks.
func TestBitsDoNotDependOnTheBatch(t *testing.T) {
	for _, dir := range folders(t) {
		e, err := Open(dir)
		must(t, err)
		want := expected(t, dir)
		together, width := encode(t, e, "last", want.ids, want.offsets), e.Width()
		var ids []int32 // many times, in another order
		offsets, from := []int{0}, []int{}
		for range 2*blockPieces/len(want.ids) + 1 {
			for i := len(want.offsets) - 2; i >= 0; i-- {
				ids = append(ids, want.ids[want.offsets[i]:want.offsets[i+1]]...)
				offsets, from = append(offsets, len(ids)), append(from, i)
			}
		}
		many := encode(t, e, "last", ids, offsets)
		for k, i := range from {
			lo, hi := want.offsets[i]*width, want.offsets[i+1]*width
			if !slices.Equal(many[offsets[k]*width:offsets[k+1]*width], together[lo:hi]) {
				t.Fatalf("%s: sequence %d has other bits in a large batch", dir, i)
			}
		}
		for i := range len(want.offsets) - 1 {
			lo, hi := want.offsets[i], want.offsets[i+1]
			if !slices.Equal(encode(t, e, "last", want.ids[lo:hi], []int{0, hi - lo}), together[lo*width:hi*width]) {
				t.Fatalf("%s: sequence %d has other bits alone", dir, i)
			}
		}
	}
}
