package kernels

import (
	"fmt"
	"os"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// BLAS multiplies matrices. An implementation runs on the calling goroutine only: dsp parallelises over shards, so
// results do not depend on the number of threads. It may own scratch memory: use one per goroutine.
type BLAS interface {
	Name() string
	// Sgemm computes c = op(a)·op(b) + beta·c, m×k by k×n, where op transposes if transA or transB is
	// set. The matrices are dense and row-major: a is [m×k], or [k×m] with transA. With beta 0, c may hold anything.
	Sgemm(transA, transB bool, m, n, k int, a, b []float32, beta float32, c []float32)
}

// sources return new instances of the implementations that this machine can run, the preferred ones first. OpenBLAS is
// loaded only if none before it is chosen.
var sources = []func() []BLAS{ownBLAS, openBLAS, func() []BLAS { return []BLAS{gonumBLAS{}} }}

// preferred is a prefix of the name of the implementation to use, in upper or lower case; "" means the first one.
var preferred = os.Getenv("DSP_BLAS")

// FindBLAS returns a new instance of the first implementation whose name starts with prefix, in upper or lower case. It
// is an error that lists the available ones if there is none.
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
	return nil, structured.BadInput("matrix products %q are not available; this machine has %s", prefix,
		strings.Join(names, ", "))
}

// CurrentBLAS returns a new instance of the implementation in use: the one whose name starts with the environment
// variable DSP_BLAS (own, openblas or gonum), else the first available one, whose Name then mentions DSP_BLAS if that
// was set. Where dsp has no kernels of its own for the processor, DSP_BLAS=own means gonum: the bits of a library would
// depend on what is installed.
func CurrentBLAS() BLAS {
	b, err := FindBLAS(preferred)
	if err == nil {
		return b
	}
	if strings.HasPrefix("own", strings.ToLower(preferred)) {
		return instead{gonumBLAS{}, preferred}
	}
	b, _ = FindBLAS("")
	return instead{b, preferred}
}

// instead stands in for an implementation that is not available.
type instead struct {
	BLAS
	wanted string
}

func (b instead) Name() string { return fmt.Sprintf("%s (no %q)", b.BLAS.Name(), b.wanted) }

// scaleBy multiplies c by beta: the result if k is 0. With beta 0 it overwrites everything, NaN too.
func scaleBy(c []float32, beta float32) {
	if beta == 0 {
		clear(c)
		return
	}
	for i := range c {
		c[i] *= beta
	}
}
