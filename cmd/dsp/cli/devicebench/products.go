package devicebench

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/cuda/device"
)

// products measures the matrix products of one mlp 300→200→25 step: forward, backward to the hidden units, and weight
// gradients.
func (b *bench) products() error {
	rows, in, hidden, labels := b.pick(65536, 70), b.pick(300, 30), b.pick(200, 20), b.pick(25, 5)
	for _, tf32 := range []bool{false, true} {
		s := device.NewBLAS(b.Device, tf32)
		if !tf32 {
			b.report.BLAS = s.Name()
		}
		for _, p := range []product{
			{m: rows, n: hidden, k: in}, {m: rows, n: labels, k: hidden}, {m: rows, n: hidden, k: labels, transB: true},
			{m: in, n: hidden, k: rows, transA: true}, {m: hidden, n: labels, k: rows, transA: true},
		} {
			if err := b.product(s, p, tf32); err != nil {
				return err
			}
		}
		s.Close()
	}
	return nil
}

// product is op(A)·op(B), m×k by k×n.
type product struct {
	m, n, k        int
	transA, transB bool
}

func (p product) String() string {
	mark := func(trans bool) string {
		if trans {
			return "ᵀ"
		}
		return ""
	}
	return fmt.Sprintf("A%s·B%s, %d×%d·%d×%d", mark(p.transA), mark(p.transB), p.m, p.k, p.k, p.n)
}

func (b *bench) product(s *device.BLAS, p product, tf32 bool) error {
	d, r := b.Device, rand.New(rand.NewPCG(3, 3))
	var enqueue []func()
	for range b.pick(sets, 1) {
		x, y := make([]float32, p.m*p.k), make([]float32, p.k*p.n)
		draw(r, x)
		draw(r, y)
		onX, onY, c := device.New[float32](d, len(x), "A"), device.New[float32](d, len(y), "B"), device.New[float32](d, p.m*p.n, "C")
		defer device.Free(d, onX)
		defer device.Free(d, onY)
		defer device.Free(d, c)
		device.Upload(d, onX, x)
		device.Upload(d, onY, y)
		enqueue = append(enqueue, func() { s.Sgemm(p.transA, p.transB, p.m, p.n, p.k, onX, onY, 0, c, 1, 0, 0, 0) })
	}
	milliseconds, repeats, err := b.graphs(enqueue...)
	if err != nil {
		return err
	}
	entries := float64(p.m)*float64(p.k) + float64(p.k)*float64(p.n) + float64(p.m)*float64(p.n)
	b.add(Row{What: "matrix product, " + s.Name(), Sizes: p.String(), Milliseconds: milliseconds, Repeats: repeats},
		work{bytes: 4 * entries, flops: 2 * float64(p.m) * float64(p.n) * float64(p.k), fused: true, tensor: tf32})
	return nil
}
