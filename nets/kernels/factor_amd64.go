package kernels

import (
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// The sizes of packed factors. A tile's rows of x and a few vectors of the panel are in the L1 cache while k runs over
// at most factorDepth entries; factorPanels panels of that depth stay in the L2 cache while the rows of x run.
const (
	factorDepth  = 512
	factorPanels = 5
)

// steps returns how many entries of k the packed blocks have.
func (f *Factor) steps() int {
	blocks := (f.K + factorDepth - 1) / factorDepth
	return (f.K + blocks - 1) / blocks
}

// pack implements factors. Groups of factorPanels panels follow each other; a group has the blocks of k in order, and
// each block its panels, with the columns of W side by side for each k, padded with zeros to whole vectors.
func (s *packedBLAS) pack(f *Factor) {
	f.block = 3 * s.kernel.lanes
	f.panels = make([]float32, s.kernel.whole(f.N)*f.K)
	at := 0
	for lo := 0; lo < f.N; lo += factorPanels * f.block {
		hi := min(f.N, lo+factorPanels*f.block)
		for from := 0; from < f.K; from += f.steps() {
			kb := min(f.steps(), f.K-from)
			for j := lo; j < hi; j += f.block {
				width := min(f.block, hi-j)
				s.packPanel(f.panels[at:], true, f.w, f.N, f.K, from, kb, j, width)
				at += s.kernel.whole(width) * kb
			}
		}
	}
}

// timesFactor implements factors. Every entry of c is a sum over k in the same order, whatever m is.
func (s *packedBLAS) timesFactor(m int, x []float32, f *Factor, c []float32, stride int, bias []float32,
	start, finish func(c []float32, row, column int)) {
	_, _ = x[m*f.K-1], c[(m-1)*stride+f.N-1]
	x, xRow := s.spread(m, x, f.K)
	rows, t, group := s.kernel.rows, &s.tile, 0
	for lo := 0; lo < f.N; lo += factorPanels * f.block {
		hi := min(f.N, lo+factorPanels*f.block)
		wide := s.kernel.whole(hi - lo)
		for from := 0; from < f.K; from += f.steps() {
			kb := min(f.steps(), f.K-from)
			panels := f.panels[(group*f.K + from*wide):][:wide*kb]
			first := from == 0 && start == nil // nothing is in c yet
			for i := 0; i < m; i += rows {
				height := min(rows, m-i)
				t.k = kb
				if from == 0 && start != nil {
					for r := range height {
						start(c[(i+r)*stride+lo:(i+r)*stride+hi], i+r, lo)
					}
				}
				if height < rows {
					s.packRows(x[i*xRow+from:], height, kb, xRow, 1)
					t.a, t.aRow, t.aK = unsafe.Pointer(&s.a[0]), 4, 4*rows
				} else {
					t.a, t.aRow, t.aK = unsafe.Pointer(&x[i*xRow+from]), 4*xRow, 4
				}
				for j := lo; j < hi; j += f.block {
					width := min(f.block, hi-j)
					across := s.kernel.whole(width)
					t.b, t.bK = unsafe.Pointer(&panels[(j-lo)*kb]), 4*across
					if height == rows && width == across {
						t.c, t.cRow = unsafe.Pointer(&c[i*stride+j]), 4*stride
						switch {
						case !first:
							t.from, t.fromRow = t.c, t.cRow
						case bias != nil:
							t.from, t.fromRow = unsafe.Pointer(&bias[j:][:width][0]), 0
						default:
							t.from = nil
						}
						s.kernel.run(across/s.kernel.lanes, t)
						continue
					}
					t.c, t.cRow, t.from = unsafe.Pointer(&s.c[0]), 4*across, nil
					s.kernel.run(across/s.kernel.lanes, t)
					for r := range height {
						part, to := s.c[r*across:][:width], c[(i+r)*stride+j:][:width]
						switch {
						case !first:
							Rows.Add(to, to, part)
						case bias != nil:
							Rows.Add(to, bias[j:j+width], part)
						default:
							copy(to, part)
						}
					}
				}
				if from+kb == f.K && finish != nil {
					for r := range height {
						finish(c[(i+r)*stride+lo:(i+r)*stride+hi], i+r, lo)
					}
				}
			}
		}
		group += wide
	}
}

// spread returns x [m×k] with the distance of its rows. Rows whose distance is a multiple of 4 KiB compete for the same
// places of the L1 cache, which made a product a third slower; they are copied further apart.
func (s *packedBLAS) spread(m int, x []float32, k int) ([]float32, int) {
	if k%1024 != 0 {
		return x, k
	}
	row := k + s.kernel.lanes
	s.t = vec.Grow(s.t, m*row)
	for i := range m {
		copy(s.t[i*row:], x[i*k:(i+1)*k])
	}
	return s.t, row
}
