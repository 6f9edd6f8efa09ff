package nets

import (
	"fmt"
	"os"
	"strings"
	"sync"

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

// AvailableBLAS returns new instances of all implementations that this machine can run, the preferred one first.
func AvailableBLAS() []BLAS {
	var all []BLAS
	for _, s := range sources {
		all = append(all, s()...)
	}
	return all
}

var chosen struct {
	sync.Mutex
	prefix string
}

func init() { chosen.prefix = os.Getenv("DSP_BLAS") }

// UseBLAS makes the implementation whose name starts with the given prefix, in any case, the one of new workers. The
// environment variable DSP_BLAS does the same; "" is the preferred one.
func UseBLAS(prefix string) error {
	if _, err := findBLAS(prefix); err != nil {
		return err
	}
	chosen.Lock()
	chosen.prefix = prefix
	chosen.Unlock()
	return nil
}

func findBLAS(prefix string) (BLAS, error) {
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

// CurrentBLAS returns a new instance of the implementation in use. Where DSP_BLAS asks for one that is not there, the
// preferred one is used, and its name says so.
func CurrentBLAS() BLAS {
	chosen.Lock()
	prefix := chosen.prefix
	chosen.Unlock()
	b, err := findBLAS(prefix)
	if err != nil {
		b, _ = findBLAS("")
		return instead{b, prefix}
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
