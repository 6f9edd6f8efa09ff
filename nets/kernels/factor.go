package kernels

// Factor is a matrix W [N×K] that stays the same over many products x·Wᵀ, such as the weights of a layer that is not
// trained. It is packed once, in the order in which the inner loops read it. Goroutines may share a Factor.
type Factor struct {
	N, K   int
	w      []float32
	panels []float32 // nil: the products in use cannot read packed matrices
	block  int       // how many columns of W a panel has; the last ones may have fewer
}

// factors is implemented by products that read packed matrices.
type factors interface {
	pack(f *Factor)
	timesFactor(m int, x []float32, f *Factor, c []float32, stride int, bias []float32,
		start, finish func(c []float32, row, column int))
}

// NewFactor packs w [n×k] for the products in use. It keeps w if they cannot read packed matrices.
func NewFactor(w []float32, n, k int) *Factor {
	f := &Factor{N: n, K: k, w: w[:n*k]}
	if p, ok := unwrapped(CurrentBLAS()).(factors); ok {
		p.pack(f)
		f.w = nil
	}
	return f
}

func unwrapped(b BLAS) BLAS {
	if i, ok := b.(instead); ok {
		return i.BLAS
	}
	return b
}

// RowByRow reports whether a row of a product has the same bits whatever the other rows are and however many there are.
// Where it does not, the caller decides which rows share a product.
func (f *Factor) RowByRow() bool { return f.panels != nil }

// Times computes c = x·Wᵀ + s for x [m×K]. The rows of c are stride entries apart, at least N. It calls start for parts
// of rows of c before it computes them, with the row and the column where the part begins, and finish when they are
// complete; start sets them to s. If it is nil, all rows of s are bias [N], or zero if that is nil, too. Each entry of
// the product belongs to one part, and parts are in the cache. b is the product in use; scratch is memory that Times
// may replace.
func (f *Factor) Times(b BLAS, m int, x, c []float32, stride int, scratch *[]float32, bias []float32,
	start, finish func(c []float32, row, column int)) {
	if m == 0 {
		return
	}
	if f.panels != nil {
		unwrapped(b).(factors).timesFactor(m, x, f, c, stride, bias, start, finish)
		return
	}
	if len(*scratch) < m*f.N {
		*scratch = make([]float32, m*f.N)
	}
	y := (*scratch)[:m*f.N]
	b.Sgemm(false, true, m, f.N, f.K, x, f.w, 0, y)
	for i := range m {
		row := c[i*stride:][:f.N]
		switch part := y[i*f.N : (i+1)*f.N]; {
		case start != nil:
			start(row, i, 0)
			Rows.Add(row, row, part)
		case bias != nil:
			Rows.Add(row, bias, part)
		default:
			copy(row, part)
		}
		if finish != nil {
			finish(row, i, 0)
		}
	}
}
