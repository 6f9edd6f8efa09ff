package transcript

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// String is what a line may read.
type String struct {
	Symbols []int32
	LogP    float64 // logarithm of its probability, at the temperature that was asked for
}

// Greedy returns what the best labels of the frames of example b read, and its exact probability.
func (o *Oracle) Greedy(θ *structured.Potentials, b int, μ float64) String {
	frame, width := θ.Parts[0].Of(b), θ.Parts[0].Width
	o.order = o.order[:0]
	for ; len(frame) > 0; frame = frame[width:] {
		best := 0
		for c, x := range frame[:width] {
			if x > frame[best] {
				best = c
			}
		}
		o.order = append(o.order, int32(best))
	}
	s := String{Symbols: transcripts.Read([]int32{}, o.order)}
	s.LogP = o.logP(θ, b, μ, s.Symbols)
	return s
}

// logP returns the logarithm of the probability that example b reads a string.
func (o *Oracle) logP(θ *structured.Potentials, b int, μ float64, reading []int32) float64 {
	if !o.lattice.open(θ, b, reading) {
		return minusInf
	}
	all := o.free(θ.Parts[0].Of(b), θ.Parts[0].Width, μ, nil)
	if math.IsInf(all, -1) {
		return minusInf // a frame forbids every label
	}
	return min(0, (o.lattice.exp(μ, nil)-all)/μ)
}

// Beam returns the n most probable of the strings that a search finds which keeps the width best beginnings at each
// frame, and what Greedy finds; the most probable first. Their probabilities are exact; there may be better strings,
// unless width is at least the number of beginnings.
func (o *Oracle) Beam(θ *structured.Potentials, b int, μ float64, width, n int) []String {
	o.share = vec.Grow(o.share, len(θ.Parts[0].Of(b)))
	if math.IsInf(o.free(θ.Parts[0].Of(b), θ.Parts[0].Width, μ, o.share), -1) {
		return nil
	}
	all := []String{o.Greedy(θ, b, μ)}
	for _, symbols := range o.beam.search(o.share, θ.Parts[0].Width, width) {
		if !slices.Equal(symbols, all[0].Symbols) {
			all = append(all, String{symbols, o.logP(θ, b, μ, symbols)})
		}
	}
	slices.SortStableFunc(all, func(a, b String) int { return cmp.Compare(b.LogP, a.LogP) })
	return all[:min(n, len(all))]
}

// beam searches for strings, frame by frame. A beginning is a node of a tree of prefixes, whose probability is parted
// by whether the last frame shows a blank.
type beam struct {
	nodes []prefix
	child map[[2]int32]int32 // of a node and a symbol
	place []int32            // [nodes] among the next beginnings, −1 if there is none

	now, next []beginning
}

// prefix is a string: that of another node, and a symbol.
type prefix struct{ before, symbol int32 }

// beginning is a prefix that the frames so far may read.
type beginning struct {
	node          int32
	blank, symbol float64 // its probability, where the last frame is blank, and where it shows the last symbol
}

func (h beginning) p() float64 { return h.blank + h.symbol }

// search returns the strings that are left at the end, given the probabilities of the labels of frames [T×Y].
func (s *beam) search(p []float32, labels, width int) [][]int32 {
	s.nodes, s.place = append(s.nodes[:0], prefix{-1, -1}), append(s.place[:0], -1)
	if s.child == nil {
		s.child = map[[2]int32]int32{}
	}
	clear(s.child)
	s.now = append(s.now[:0], beginning{node: 0, blank: 1})
	for ; len(p) > 0; p = p[labels:] {
		s.next = s.next[:0]
		for _, h := range s.now {
			last := s.nodes[h.node].symbol
			s.add(h.node, h.p()*float64(p[transcripts.Blank]), 0)
			if last >= 0 {
				s.add(h.node, 0, h.symbol*float64(p[1+last]))
			}
			for c, q := range p[1:labels] {
				from := h.p()
				if int32(c) == last { // without a blank between, it is the same symbol
					from = h.blank
				}
				if from *= float64(q); from > 0 {
					s.add(s.extend(h.node, int32(c)), 0, from)
				}
			}
		}
		for _, h := range s.next {
			s.place[h.node] = -1
		}
		slices.SortFunc(s.next, func(a, b beginning) int {
			return cmp.Or(cmp.Compare(b.p(), a.p()), cmp.Compare(a.node, b.node))
		})
		s.next = s.next[:min(width, len(s.next))]
		scale := 0.0
		for _, h := range s.next {
			scale = max(scale, h.p())
		}
		s.now = s.now[:0]
		for _, h := range s.next {
			if h.blank, h.symbol = h.blank/scale, h.symbol/scale; h.p() > 0 {
				s.now = append(s.now, h)
			}
		}
	}
	var all [][]int32
	for _, h := range s.now {
		symbols := []int32{}
		for n := h.node; n > 0; n = s.nodes[n].before {
			symbols = append(symbols, s.nodes[n].symbol)
		}
		slices.Reverse(symbols)
		all = append(all, symbols)
	}
	return all
}

// add adds to the probability of a next beginning.
func (s *beam) add(node int32, blank, symbol float64) {
	at := s.place[node]
	if at < 0 {
		at = int32(len(s.next))
		s.place[node] = at
		s.next = append(s.next, beginning{node: node})
	}
	s.next[at].blank += blank
	s.next[at].symbol += symbol
}

// extend returns the node of a prefix and one more symbol.
func (s *beam) extend(node, symbol int32) int32 {
	key := [2]int32{node, symbol}
	n, ok := s.child[key]
	if !ok {
		n = int32(len(s.nodes))
		s.child[key] = n
		s.nodes, s.place = append(s.nodes, prefix{node, symbol}), append(s.place, -1)
	}
	return n
}
