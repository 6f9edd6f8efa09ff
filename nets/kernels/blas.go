package kernels

import (
	"fmt"
	"os"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// BLAS multiplies matrices. An implementation runs on the calling goroutine only: dsp works on shards in parallel, so
// results depend on no number of threads. It may own scratch memory: one a goroutine.
type BLAS interface {
	Name() string
	// Sgemm computes c = op(a)·op(b) + beta·c, m×k by k×n, with op the transpose where asked for. The matrices are
	// dense and row-major: a is [m×k], or [k×m] with transA. With beta 0, c may hold anything.
	Sgemm(transA, transB bool, m, n, k int, a, b []float32, beta float32, c []float32)
}

// sources are the implementations that this machine can run, the preferred ones first. Each makes new instances.
// OpenBLAS is only loaded when nothing before it will do.
var sources = []func() []BLAS{ownBLAS, openBLAS, func() []BLAS { return []BLAS{gonumBLAS{}} }}

// preferred begins the name of the implementation to use, in any case; "" is the first of sources.
var preferred = os.Getenv("DSP_BLAS")

func FindBLAS(prefix string) (BLAS, error) {
	var names []string
	for _, s := range sources {
		for _, b := range s() {
			if strings.HasPrefix(strings.ToLower(b.Name()), strings.ToLower(prefix)) {
				return b, nil
			}
			names = append(names, b.Name())
		}
	}
	return nil, structured.BadInput("matrix products %q are not available; this machine has %s", prefix, strings.Join(names, ", "))
}

// CurrentBLAS returns a new instance of the implementation in use. The environment variable DSP_BLAS chooses one by the
// beginning of its name; where there is none of that name, the first is used, and its name says so.
func CurrentBLAS() BLAS {
	b, err := FindBLAS(preferred)
	if err != nil {
		b, _ = FindBLAS("")
		return instead{b, preferred}
	}
	return b
}

// instead is an implementation that stands in for one that is not available.
type instead struct {
	BLAS
	wanted string
}

func (b instead) Name() string { return fmt.Sprintf("%s (no %q)", b.BLAS.Name(), b.wanted) }

// scaleBy is the product where k is 0; with beta 0 the old entries do not matter, NaN or not.
func scaleBy(c []float32, beta float32) {
	if beta == 0 {
		clear(c)
		return
	}
	for i := range c {
		c[i] *= beta
	}
}
