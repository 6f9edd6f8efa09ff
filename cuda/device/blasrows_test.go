package device_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

// A product that reads A's rows from a larger matrix has the bits of the product of the gathered rows: with every tile,
// in every layout, with sums of parts, with rows that repeat, and with rows of zeros.
func TestSgemmOfRowsKeepsBits(t *testing.T) {
	t.Setenv("DSP_CUDA_BLAS", "own")
	d := cudatest.Device(t)
	for _, by := range precisions {
		s := device.NewBLAS(d, by.tf32)
		defer s.Close()
		t.Run(s.Name(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			for _, size := range [][3]int{
				{1, 1, 1}, {3, 5, 7}, {64, 64, 16}, {65, 30, 33}, {130, 132, 17}, {7, 100, 1}, {4, 4, 0}, {0, 3, 2}, {3, 0, 2},
				{12, 9, 3000}, {16, 70, 2001},
			} {
				for form := range 16 {
					checkRows(t, d, s, r, size, form)
				}
			}
			for form, size := range [][3]int{{33792, 64, 17}, {16896, 128, 3}, {33792, 32, 4}} {
				checkRows(t, d, s, r, size, form%2)
			}
		})
	}
	for _, tf32 := range []string{"", "tf32_"} {
		for _, tile := range []string{"128x128", "64x64", "128x32"} {
			if kernel := fmt.Sprintf("gemm_rows_%s%s", tf32, tile); d.Launches(kernel) == 0 {
				t.Errorf("no product took %s", kernel)
			}
		}
	}
}

// checkRows multiplies m×k by k×n matrices. The bits of form transpose A, transpose B, set β to 1, and misalign the
// larger matrix.
func checkRows(t *testing.T, d *device.Device, s *device.BLAS, r *rand.Rand, size [3]int, form int) {
	t.Helper()
	m, n, k := size[0], size[1], size[2]
	transA, transB, β, skip := form&1 != 0, form&2 != 0, float32(form>>2&1), form>>3
	rows, width := m, k
	if transA {
		rows, width = k, m
	}
	large := rows/2 + 3
	from, source, gathered := normal(r, skip+large*width), make([]int32, rows), make([]float32, rows*width)
	for i := range source {
		source[i] = int32(r.IntN(large+1)) - 1
		if at := int(source[i]) * width; at >= 0 {
			copy(gathered[i*width:(i+1)*width], from[skip+at:])
		}
	}
	b, c := normal(r, k*n), normal(r, m*n)
	onFrom, onA, onB, onC := upload(d, from), upload(d, gathered), upload(d, b), upload(d, c)
	at := device.NewFrom(d, source, "a test's rows")
	defer func() {
		for _, x := range []device.Array[float32]{onFrom, onA, onB, onC} {
			device.Free(d, x)
		}
		device.Free(d, at)
	}()
	s.SgemmRows(transA, transB, m, n, k, onFrom.Slice(skip, len(from)), at, onB, β, onC, nil)
	got, want := make([]float32, m*n), make([]float32, m*n)
	device.Download(d, got, onC)
	device.Upload(d, onC, c)
	s.Sgemm(transA, transB, m, n, k, onA, onB, β, onC, 1, 0, 0, 0)
	device.Download(d, want, onC)
	if err := d.Sync(); err != nil {
		t.Fatalf("%v, form %d: %v", size, form, err)
	}
	if !slices.EqualFunc(got, want, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
		t.Fatalf("%v, form %d: the bits differ", size, form)
	}
}
