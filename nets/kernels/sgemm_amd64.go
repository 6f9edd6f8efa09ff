package kernels

import (
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/instructions"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// tile is the argument of an inner loop in sgemm_amd64.s, which reads the fields by their offsets. Strides are in
// bytes.
type tile struct {
	k        int
	a        unsafe.Pointer
	aRow, aK int
	b        unsafe.Pointer
	bK       int
	c        unsafe.Pointer
	cRow     int
	from     unsafe.Pointer // what c becomes the sum of, with the product; nil: the product alone
	fromRow  int
}

//go:noescape
func tile512x1(t *tile)

//go:noescape
func tile512x2(t *tile)

//go:noescape
func tile512x3(t *tile)

//go:noescape
func tile256x1(t *tile)

//go:noescape
func tile256x2(t *tile)

//go:noescape
func tile256x3(t *tile)

// kernel has the inner loops of an instruction set, for tiles of rows × lanes·i entries, i = 1, 2, 3.
type kernel struct {
	name        string
	rows, lanes int
	run         func(vectors int, t *tile)
}

// whole rounds a number of columns up to whole vectors.
func (k *kernel) whole(columns int) int { return (columns + k.lanes - 1) / k.lanes * k.lanes }

var (
	avx512 = kernel{"AVX-512", 8, 16, func(vectors int, t *tile) {
		switch vectors {
		case 1:
			tile512x1(t)
		case 2:
			tile512x2(t)
		default:
			tile512x3(t)
		}
	}}
	avx2 = kernel{"AVX2", 4, 8, func(vectors int, t *tile) {
		switch vectors {
		case 1:
			tile256x1(t)
		case 2:
			tile256x2(t)
		default:
			tile256x3(t)
		}
	}}
)

// ownBLAS returns the kernels of this package that this processor can run, the fastest first.
func ownBLAS() []BLAS {
	var all []BLAS
	if instructions.AVX512() {
		all = append(all, &packedBLAS{kernel: avx512})
	}
	if instructions.AVX2() {
		all = append(all, &packedBLAS{kernel: avx2})
	}
	return all
}

// packedBLAS multiplies tile by tile (Goto and van de Geijn 2008). B is packed into panels as wide as a tile, so that
// the inner loop reads it in order. A is read in place, or packed by the rows of a tile if it is transposed.
type packedBLAS struct {
	kernel kernel
	tile   tile
	b, a   []float32       // packed panels of B, packed rows of A
	t      []float32       // a transposed product
	c      [8 * 48]float32 // a tile that extends beyond C
}

// A packed part of B has at most depth×breadth entries, so that it stays in the L2 cache. depth is small enough for the
// rows of A of a tile to stay in the L1 cache.
const (
	depth   = 256
	breadth = 480
	fewRows = 32 // up to so many rows of A, packing all of B does not pay
)

// Name names the instruction set of the inner loops.
func (s *packedBLAS) Name() string { return "own kernel, " + s.kernel.name }

func (s *packedBLAS) Sgemm(transA, transB bool, m, n, k int, a, b []float32, beta float32, c []float32) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		scaleBy(c[:m*n], beta)
		return
	}
	_, _, _ = a[m*k-1], b[k*n-1], c[m*n-1]
	if transB && m <= fewRows && n > m {
		s.transposed(transA, m, n, k, a, b, beta, c)
		return
	}
	blocks := (k + depth - 1) / depth
	step := (k + blocks - 1) / blocks
	if beta != 0 && beta != 1 {
		scaleBy(c[:m*n], beta)
		beta = 1
	}
	for from := 0; from < k; from += step {
		kb := min(step, k-from)
		add := 1
		if from == 0 && beta == 0 {
			add = 0
		}
		for lo := 0; lo < n; lo += breadth {
			s.addColumns(transA, transB, m, n, k, from, kb, lo, min(n, lo+breadth), a, b, add, c)
		}
	}
}

// transposed computes the product for few rows of A and a transposed B, as cᵀ = b·op(a)ᵀ. It reads b in place: packing
// all of B would take longer than it saves.
func (s *packedBLAS) transposed(transA bool, m, n, k int, a, b []float32, beta float32, c []float32) {
	s.t = vec.Grow(s.t, n*m)
	s.Sgemm(false, !transA, n, m, k, b, a, 0, s.t)
	for i := range m {
		row := c[i*n : (i+1)*n]
		if beta == 0 {
			for j := range row {
				row[j] = s.t[j*m+i]
			}
			continue
		}
		for j := range row {
			row[j] = beta*row[j] + s.t[j*m+i]
		}
	}
}

// addColumns adds to columns lo to hi-1 of C what kb columns of op(A), starting at from, contribute.
func (s *packedBLAS) addColumns(transA, transB bool, m, n, k, from, kb, lo, hi int,
	a, b []float32, add int, c []float32) {
	rows, wide := s.kernel.rows, 3*s.kernel.lanes
	aRow, aK := k, 1
	if transA {
		aRow, aK = 1, m
	}
	a = a[from*aK:]
	// For few rows, packing takes longer than it saves. When B is read in place, the last tile reads beyond its columns
	// and drops those results, so the read must only stay within the memory of b.
	direct := !transB && m <= 2*fewRows && (from+kb-1)*n+lo+s.kernel.whole(hi-lo) <= cap(b)
	if !direct {
		s.b = vec.Grow(s.b, s.kernel.whole(hi-lo)*kb)
		for j := lo; j < hi; j += wide {
			s.packPanel(s.b[(j-lo)*kb:], transB, b, n, k, from, kb, j, min(wide, hi-j))
		}
	}
	t := &s.tile
	t.k = kb
	for i := 0; i < m; i += rows {
		height := min(rows, m-i)
		if transA || height < rows {
			s.packRows(a[i*aRow:], height, kb, aRow, aK)
			t.a, t.aRow, t.aK = unsafe.Pointer(&s.a[0]), 4, 4*rows
		} else {
			t.a, t.aRow, t.aK = unsafe.Pointer(&a[i*aRow]), 4*aRow, 4*aK
		}
		for j := lo; j < hi; j += wide {
			width := min(wide, hi-j)
			across := s.kernel.whole(width)
			if direct {
				t.b, t.bK = unsafe.Pointer(&b[from*n+j]), 4*n
			} else {
				t.b, t.bK = unsafe.Pointer(&s.b[(j-lo)*kb]), 4*across
			}
			if height == rows && width == across {
				t.c, t.cRow, t.from = unsafe.Pointer(&c[i*n+j]), 4*n, nil
				if add != 0 {
					t.from, t.fromRow = t.c, t.cRow
				}
				s.kernel.run(across/s.kernel.lanes, t)
				continue
			}
			t.c, t.cRow, t.from = unsafe.Pointer(&s.c[0]), 4*across, nil
			s.kernel.run(across/s.kernel.lanes, t)
			for r := range height {
				part, to := s.c[r*across:][:width], c[(i+r)*n+j:][:width]
				if add == 0 {
					copy(to, part)
				} else {
					Rows.Add(to, to, part)
				}
			}
		}
	}
}

// packRows packs up to a tile's number of rows of op(A), side by side for each k. Missing rows are zeros.
func (s *packedBLAS) packRows(a []float32, height, kb, aRow, aK int) {
	rows := s.kernel.rows
	s.a = vec.Grow(s.a, kb*rows)
	if height == 8 && rows == 8 && aRow == 1 {
		for p := range kb {
			*(*[8]float32)(s.a[p*8:]) = [8]float32(a[p*aK:])
		}
		return
	}
	if height == rows && aRow == 1 {
		for p := range kb {
			copy(s.a[p*rows:(p+1)*rows], a[p*aK:])
		}
		return
	}
	clear(s.a)
	for r := range height {
		at := r * aRow
		for p := range kb {
			s.a[p*rows+r] = a[at]
			at += aK
		}
	}
}

// packPanel packs width columns of op(B), starting at column j, side by side for each k, with zeros up to whole
// vectors.
func (s *packedBLAS) packPanel(to []float32, transB bool, b []float32, n, k, from, kb, j, width int) {
	wide := s.kernel.whole(width)
	to = to[:kb*wide]
	if !transB {
		for p := range kb {
			row := to[p*wide : (p+1)*wide]
			clear(row[copy(row, b[(from+p)*n+j:][:width]):])
		}
		return
	}
	if width < wide {
		clear(to)
	}
	for x := range width {
		at := x
		for _, v := range b[(j+x)*k+from:][:kb] {
			to[at] = v
			at += wide
		}
	}
}
