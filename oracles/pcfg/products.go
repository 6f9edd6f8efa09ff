package pcfg

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/pcfg"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// products sums over the derivations of a sentence without logarithms of terms. The sums of a span's nonterminals are
// relative to the largest of them, whose logarithm is level(i,j), and so are the weights of words, of rules and of the
// root. With the pairs of symbols below a span,
//
//	x(B,C) = Σ_k exp(level(i,k) + level(k+1,j) − most)·inside(i,k,B)·inside(k+1,j,C),    s(A) = Σ_{B,C} rule(A → B C)·x(B,C)
//
// inside(i,j,A) is s(A) times the weight of the span. Marginals follow from the top down: a span has its probability
// p(A)/s(A) times each of the terms of s(A).
//
// No factor but 0 is below tiny, and no product of up to four underflows, or else Exp asks the chart, which adds
// logarithms. So what is 0 is forbidden.
type products struct {
	kernels *kernels

	n, nonterminals, preterminals int

	// x of a span over more than two words has pairs numbers: B, C; B, Q; P, C. That over two has leaves: P, Q.
	pairs, leaves          int
	rule, leaf             []float64 // weights [N×pairs], [N×leaves]
	ruleCounts, leafCounts []float64 // Σ p(A)/s(A)·x, which rules' expected numbers are proportional to
	x, y                   []float64 // of a span, and Σ_A p(A)/s(A)·rule
	split                  []float64 // [n] exp(level(i,k) + level(k+1,j) − most), by k

	level           []float64 // [n·n]
	inside          []float64 // [n·n×N]
	span            []float64 // [n·n×N] weights
	word            []float64 // [n×M] weights
	sums            []float64 // [n·n×N] s
	probability     []float64 // [n·n×N] probabilities
	wordProbability []float64 // [n×M]
	root            []float64 // [N]
	ratio           []float64 // [N] p(A)/s(A) of a span
}

const (
	tiny        = 1e-75
	leastInside = 1e-290 // a product of five factors, which may be less accurate below
	logTiny     = -172.0
)

var minusInf = math.Inf(-1)

// exp returns log Z of example b at temperature 1/rate, and writes its marginals, which are zero before, unless u is
// nil. It returns false for the chart to answer.
func (s *products) exp(θ *structured.Potentials, b int, rate float64, u *structured.Marginals) (logZ float64, ok bool) {
	s.n = constituents.Words(θ.Outputs[b+1] - θ.Outputs[b])
	s.nonterminals, s.preterminals = pcfg.Sizes(θ.Parts)
	n, N, M := s.n, s.nonterminals, s.preterminals
	if n < 2 || N == 0 || M == 0 {
		return 0, false
	}
	s.resize()
	top, ok := s.weigh(θ.Parts[2].Of(b), rate)
	if !ok {
		return 0, false
	}
	for i := range n {
		if s.level[i*n+i], ok = weights(s.word[i*M:][:M], θ.Parts[1].Of(b)[i*M:], rate); !ok {
			return 0, false
		}
	}
	for w := 1; w < n; w++ {
		for i := range n - w {
			if !s.sum(i, i+w, θ.Parts[0].Of(b), rate, top) {
				return 0, false
			}
		}
	}
	all := n - 1
	rootTop, ok := weights(s.root, θ.Parts[3].Of(b), rate)
	z := dot(s.root, s.inside[all*N:][:N])
	if !ok || !(z > 0) {
		return 0, false
	}
	if u != nil {
		clear(s.probability)
		clear(s.wordProbability)
		clear(s.ruleCounts)
		clear(s.leafCounts)
		for a := range N {
			s.probability[all*N+a] = s.root[a] * s.inside[all*N+a] / z
		}
		narrow(u.Parts[3].Of(b), s.probability[all*N:])
		for w := n - 1; w > 0; w-- {
			for i := range n - w {
				s.share(i, i+w)
			}
		}
		s.write(u, b)
	}
	return s.level[all] + rootTop + math.Log(z), true
}

func (s *products) resize() {
	n, N, M := s.n, s.nonterminals, s.preterminals
	s.pairs, s.leaves = whole(N*(N+M)+M*N), whole(M*M)
	for _, table := range []struct {
		of   *[]float64
		size int
	}{
		{&s.rule, N * s.pairs}, {&s.ruleCounts, N * s.pairs}, {&s.leaf, N * s.leaves}, {&s.leafCounts, N * s.leaves},
		{&s.x, s.pairs + s.leaves}, {&s.y, s.pairs + s.leaves}, {&s.split, n}, {&s.level, n * n},
		{&s.inside, n * n * N}, {&s.span, n * n * N},
		{&s.word, n * M},
		{&s.sums, n * n * N}, {&s.probability, n * n * N}, {&s.wordProbability, n * M}, {&s.root, N}, {&s.ratio, N},
	} {
		*table.of = vec.Grow(*table.of, table.size)
	}
	clear(s.x)
}

// whole returns the size of a row of n numbers in whole vectors.
func whole(n int) int { return (n + lanes - 1) &^ (lanes - 1) }

// weights sets to to exp(x·rate − top) for the largest x·rate, top, 0 if all are −∞. It returns false if one is tiny.
func weights(to []float64, x []float32, rate float64) (top float64, ok bool) {
	x = x[:len(to)]
	largest := float32(minusInf)
	for _, v := range x {
		if v > largest {
			largest = v
		}
	}
	if top = float64(largest) * rate; top == minusInf {
		clear(to)
		return 0, true
	}
	ok = true
	for k, v := range x {
		to[k] = float64(v)*rate - top
		if to[k] < logTiny && to[k] > minusInf {
			ok = false
		}
	}
	vec.ExpDoubles(to)
	return top, ok
}

// weigh sets the weights of the rules in the order of pairs and leaves.
func (s *products) weigh(rule []float32, rate float64) (top float64, ok bool) {
	N, M := s.nonterminals, s.preterminals
	S := N + M
	size := N * S * S
	scratch := vec.Grow(s.sums, max(size, len(s.sums))) // sums come later
	s.sums = scratch
	if top, ok = weights(scratch[:size], rule, rate); !ok {
		return 0, false
	}
	s.reorder(func(at, of, count int) { copy(s.rule[at:at+count], scratch[of:]) }, func(at, of, count int) {
		copy(s.leaf[at:at+count], scratch[of:])
	})
	for a := range N {
		clear(s.rule[a*s.pairs+N*S+M*N : (a+1)*s.pairs])
		clear(s.leaf[a*s.leaves+M*M : (a+1)*s.leaves])
	}
	return top, ok
}

// reorder visits the runs of rules: where each begins among pairs or leaves, and in the potentials.
func (s *products) reorder(pairs, leaves func(at, of, count int)) {
	N, M := s.nonterminals, s.preterminals
	S := N + M
	for a := range N {
		pairs(a*s.pairs, a*S*S, N*S)
		for p := range M {
			pairs(a*s.pairs+N*S+p*N, (a*S+N+p)*S, N)
			leaves(a*s.leaves+p*M, (a*S+N+p)*S+N, M)
		}
	}
}

// cells returns numbers of the nonterminals of a span.
func (s *products) cells(of []float64, i, j int) []float64 {
	return of[(i*s.n+j)*s.nonterminals:][:s.nonterminals]
}

// words returns numbers of the preterminals of a word.
func (s *products) words(of []float64, i int) []float64 {
	return of[i*s.preterminals:][:s.preterminals]
}

// sumPairs sets x of a span, and the weights of its splits. It returns their largest level, −∞ if there are none, and
// false if a weight is tiny.
func (s *products) sumPairs(i, j int) (x []float64, most float64, ok bool) {
	n, N, M := s.n, s.nonterminals, s.preterminals
	most = minusInf
	for k := i; k < j; k++ {
		s.split[k] = s.level[i*n+k] + s.level[(k+1)*n+j]
		most = max(most, s.split[k])
	}
	if most == minusInf {
		return nil, most, true
	}
	for k := i; k < j; k++ {
		if s.split[k] -= most; s.split[k] < logTiny && s.split[k] > minusInf {
			return nil, most, false
		}
	}
	vec.ExpDoubles(s.split[i:j])
	if j == i+1 {
		x = s.x[s.pairs:]
		for p, v := range s.words(s.word, i) {
			times(x[p*M:][:M], s.words(s.word, j), v)
		}
		return x, most, true
	}
	x = s.x[:s.pairs]
	for b, v := range s.cells(s.inside, i, j-1) {
		row := x[b*(N+M):][:N+M]
		clear(row[:N])
		times(row[N:], s.words(s.word, j), v*s.split[j-1])
	}
	for p, v := range s.words(s.word, i) {
		times(x[N*(N+M)+p*N:][:N], s.cells(s.inside, i+1, j), v*s.split[i])
	}
	for k := i + 1; k < j-1; k++ {
		if s.split[k] == 0 {
			continue
		}
		right := s.cells(s.inside, k+1, j)
		for b, v := range s.cells(s.inside, i, k) {
			v *= s.split[k]
			row := x[b*(N+M):][:len(right)]
			for c, w := range right {
				row[c] += v * w
			}
		}
	}
	return x, most, true
}

func times(to, x []float64, by float64) {
	x = x[:len(to)]
	for i, v := range x {
		to[i] = v * by
	}
}

// sum computes the sums of a span.
func (s *products) sum(i, j int, span []float32, rate, ruleTop float64) bool {
	row, N := i*s.n+j, s.nonterminals
	inside, weight := s.cells(s.inside, i, j), s.cells(s.span, i, j)
	x, most, ok := s.sumPairs(i, j)
	spanTop, within := weights(weight, span[row*N:], rate)
	if !ok || !within {
		return false
	}
	if s.level[row] = minusInf; most == minusInf {
		clear(inside)
		return true
	}
	rule := s.rule
	if j == i+1 {
		rule = s.leaf
	}
	sums := s.cells(s.sums, i, j)
	s.kernels.dots(sums, x, rule)
	largest := 0.0
	for a, v := range sums {
		inside[a] = v * weight[a]
		largest = max(largest, inside[a])
	}
	for a, v := range inside {
		if sums[a] > 0 && weight[a] > 0 && !(v >= max(tiny*largest, leastInside)) {
			return false
		}
	}
	if largest == 0 {
		return true
	}
	for a := range inside {
		inside[a] /= largest
	}
	s.level[row] = most + ruleTop + spanTop + math.Log(largest)
	return true
}

// share distributes the probabilities of a span among its terms.
func (s *products) share(i, j int) {
	N, M := s.nonterminals, s.preterminals
	none := true
	sums := s.cells(s.sums, i, j)
	for a, p := range s.cells(s.probability, i, j) {
		if s.ratio[a] = 0; p > 0 {
			s.ratio[a], none = p/sums[a], false
		}
	}
	if none {
		return
	}
	x, _, _ := s.sumPairs(i, j)
	if j == i+1 {
		y := s.y[s.pairs:]
		s.kernels.spread(y, x, s.ratio, s.leaf, s.leafCounts)
		divide(s.words(s.wordProbability, i), s.words(s.wordProbability, j), x, y, M)
		return
	}
	y := s.y[:s.pairs]
	s.kernels.spread(y, x, s.ratio, s.rule, s.ruleCounts)
	divide(s.words(s.wordProbability, i), s.cells(s.probability, i+1, j), x[N*(N+M):], y[N*(N+M):], N)
	divide(s.cells(s.probability, i, j-1), s.words(s.wordProbability, j), x[N:], y[N:], N+M)
	for k := i + 1; k < j-1; k++ {
		if s.split[k] == 0 {
			continue
		}
		left, right := s.cells(s.inside, i, k), s.cells(s.inside, k+1, j)
		toLeft, toRight := s.cells(s.probability, i, k), s.cells(s.probability, k+1, j)
		for b, v := range left {
			v *= s.split[k]
			row, sum := y[b*(N+M):][:len(right)], 0.0
			toRight := toRight[:len(right)]
			for c, w := range right {
				w *= v * row[c]
				sum += w
				toRight[c] += w
			}
			toLeft[b] += sum
		}
	}
}

// divide adds the products of x and y, whose rows begin stride apart, to the symbol of their row and to that of their
// column.
func divide(toLeft, toRight, x, y []float64, stride int) {
	for b := range toLeft {
		x, y, sum := x[b*stride:][:len(toRight)], y[b*stride:][:len(toRight)], 0.0
		for c, v := range x {
			v *= y[c]
			sum += v
			toRight[c] += v
		}
		toLeft[b] += sum
	}
}

// write writes the marginals of example b.
func (s *products) write(u *structured.Marginals, b int) {
	n := s.n
	for i := range n {
		for j := i + 1; j < n; j++ {
			narrow(u.Parts[0].Of(b)[(i*n+j)*s.nonterminals:][:s.nonterminals], s.cells(s.probability, i, j))
		}
	}
	narrow(u.Parts[1].Of(b), s.wordProbability)
	to := u.Parts[2].Of(b)
	write := func(weight, sum []float64) func(at, of, count int) {
		return func(at, of, count int) {
			weight, sum := weight[at:at+count], sum[at:at+count]
			to := to[of : of+count]
			for k := range to {
				to[k] = float32(weight[k] * sum[k])
			}
		}
	}
	s.reorder(write(s.rule, s.ruleCounts), write(s.leaf, s.leafCounts))
}

func narrow(to []float32, x []float64) {
	for i := range to {
		to[i] = float32(x[i])
	}
}
