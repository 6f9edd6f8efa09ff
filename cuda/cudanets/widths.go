package cudanets

import (
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/graph"
)

// Widths returns how much the network's widest array grows with a batch. It compares programs of small sizes.
func (e *Executor) Widths() (w resident.Widths, err error) {
	needs, small := e.net.Needs(), graph.Size{Rows: graph.Bucket(1)}
	if needs.Pairs {
		small.Pairs = graph.PairBucket(1)
	}
	if needs.Characters {
		small.Chars = graph.CharBucket(1)
	}
	from, err := e.lengths(small)
	if err != nil {
		return w, err
	}
	for _, by := range []struct {
		grows *int
		by    int
		to    *int
	}{{&small.Rows, small.Rows, &w.Row}, {&small.Pairs, small.Pairs, &w.Other}, {&small.Chars, small.Chars, &w.Char}} {
		if by.by == 0 {
			continue
		}
		*by.grows += by.by
		to, err := e.lengths(small)
		if err != nil {
			return w, err
		}
		*by.grows -= by.by
		for i, n := range to {
			if len(from) == len(to) { // else the two programs differ, and all of an array counts as growth
				n -= from[i]
			}
			*by.to = max(*by.to, (n+by.by-1)/by.by)
		}
	}
	return w, nil
}

// lengths returns the lengths of all arrays that the program of a size reads and writes, in order.
func (e *Executor) lengths(size graph.Size) (all []int, err error) {
	p, err := e.net.Program(size)
	if err != nil {
		return nil, err
	}
	for _, list := range [][]graph.Instruction{p.Forward, p.Pullback, p.Push} {
		for _, in := range list {
			all = append(all, in.Out.N)
			for _, a := range in.Args {
				all = append(all, a.Buffer.N)
			}
		}
	}
	return all, nil
}
