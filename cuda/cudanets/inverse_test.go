package cudanets_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
)

// inverseCase draws entries with keys of which a few are frequent and most do not occur.
func inverseCase(rng *rand.Rand, entries, keys, per, width int) (of []int32, from []float32) {
	for range entries {
		switch k := int32(rng.IntN(keys)); rng.IntN(4) {
		case 0:
			of = append(of, -1)
		case 1:
			of = append(of, k%3)
		default:
			of = append(of, k)
		}
	}
	for range (entries + per - 1) / per * width {
		from = append(from, float32(rng.NormFloat64()*math.Exp2(float64(rng.IntN(40)-20))))
	}
	return of, from
}

// build builds lists from entries, per consecutive entries in each row.
func build(d *device.Device, lists *cudanets.Inverse, of []int32, per int, from device.Array[float32], width int) {
	offsets, keys, rows := []int64{0}, []int32{}, []int32{}
	for i, k := range of {
		if k >= 0 {
			keys = append(keys, k)
		}
		if i%per == per-1 || i == len(of)-1 {
			offsets, rows = append(offsets, int64(len(keys))), append(rows, int32(len(rows)))
		}
	}
	lists.Build(&resident.Sparse{Offsets: cudatest.Uploaded(d, offsets), Index: cudatest.Uploaded(d, keys)},
		cudatest.Uploaded(d, rows), from, width)
}

func TestInverseSumsByKey(t *testing.T) {
	d := cudatest.Device(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ entries, keys, per, width int }{
		{1, 1, 1, 1}, {700, 50, 1, 3}, {700, 2000, 1, 5}, {600, 300, 3, 25}, {300, 40, 2, 70}, {40, 9, 1, 32},
	} {
		lists := cudanets.NewInverse(d, c.keys, 700, 700, false)
		for range 2 { // the second time on the memory that the first left behind
			of, from := inverseCase(rng, c.entries, c.keys, c.per, c.width)
			sum, size := make([]float64, c.keys*c.width), make([]float64, c.keys*c.width)
			for i, k := range of {
				for y := range c.width {
					if k >= 0 {
						x := float64(from[i/c.per*c.width+y])
						sum[int(k)*c.width+y] += x
						size[int(k)*c.width+y] += math.Abs(x)
					}
				}
			}
			to := cudatest.Uploaded(d, make([]float32, c.keys*c.width))
			rows := cudatest.Uploaded(d, from)
			build(d, lists, of, c.per, rows, c.width)
			lists.Sum(rows, c.width, to)
			for i, x := range cudatest.Downloaded(d, to) {
				if math.Abs(float64(x)-sum[i]) > 1e-7*size[i] {
					t.Fatalf("%+v: key %d column %d: %v, expected %v", c, i/c.width, i%c.width, x, sum[i])
				}
			}
		}
		lists.Free()
	}
}

func TestInverseDoesNotDependOnTheOrder(t *testing.T) {
	const keys, entries, width = 30, 900, 6
	of, from := inverseCase(rand.New(rand.NewPCG(5, 6)), entries, keys, 1, width)
	var want []float32
	for _, order := range []string{"forward", "reverse", "random:1", "random:2"} {
		d := cudatest.Emulated(t, "DSP_EMULATED_ORDER="+order)
		lists, to := cudanets.NewInverse(d, keys, entries, entries, false), cudatest.Uploaded(d, make([]float32, keys*width))
		rows := cudatest.Uploaded(d, from)
		build(d, lists, of, 1, rows, width)
		lists.Sum(rows, width, to)
		got := cudatest.Downloaded(d, to)
		if d.Err() != nil {
			t.Fatal(d.Err())
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("the sums differ in order %s", order)
		}
	}
}
