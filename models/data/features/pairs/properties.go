package pairs

import "math"

// property is a property of source word i with target word j, or of source word i alone.
type property struct {
	name    string
	of      scope
	classes []string // the values, if there are few; nil for words
	class   func(s *sentence, i, j int) int
	word    func(s *sentence, i, j int) string
	needs   needs
}

// scope says which lines may have a property.
type scope byte

const (
	pairs     scope = 1
	unmatched scope = 2
	both            = pairs | unmatched
)

// The classes of numbers are named by their lower edges.
var (
	diceEdges, diceNames = []float64{0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9},
		[]string{"0+", "0.02+", "0.05+", "0.1+", "0.15+", "0.2+", "0.3+", "0.4+", "0.5+", "0.6+", "0.7+", "0.8+", "0.9+"}
	leadEdges, leadNames = []float64{-0.5, -0.3, -0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2, 0.3, 0.5},
		[]string{"-1+", "-0.5+", "-0.3+", "-0.2+", "-0.1+", "-0.05+", "0+", "0.05+", "0.1+", "0.2+", "0.3+", "0.5+"}
	positionEdges, positionNames = []float64{0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6},
		[]string{"0+", "0.02+", "0.05+", "0.1+", "0.15+", "0.2+", "0.3+", "0.4+", "0.6+"}

	rankNames      = []string{"none", "1", "2", "3", "4+"}
	sideNames      = []string{"earlier", "near", "later"}
	prefixNames    = []string{"0", "1", "2", "3", "4", "5", "6+"}
	likenessNames  = []string{"0+", "0.2+", "0.4+", "0.6+", "0.8+", "identical", "short"}
	frequencyNames = []string{"0", "1", "2+", "4+", "8+", "16+", "32+", "64+", "128+", "256+", "512+", "1024+", "2048+",
		"4096+", "8192+", "16384+"}
	copiesNames = []string{"1,1", "1,2", "1,3+", "2,1", "2,2", "2,3+", "3+,1", "3+,2", "3+,3+"}
	yesNames    = []string{"no", "yes"}

	// both or one of the words beyond the end of its sentence
	neighbourNames = append(append([]string{}, diceNames...), "end", "outside")
	kindsNames     = products(kindNames, kindNames)
)

const (
	identical = 5
	tooShort  = 6 // a word of one or two letters, or less than half as long as the other: its likeness says little
)

func products(a, b []string) []string {
	var all []string
	for _, x := range a {
		for _, y := range b {
			all = append(all, x+","+y)
		}
	}
	return all
}

var properties = []property{
	{name: "source", of: both, word: func(s *sentence, i, _ int) string { return s.source.at(i) }},
	{name: "source-1", of: both, word: func(s *sentence, i, _ int) string { return s.source.at(i - 1) }},
	{name: "source+1", of: both, word: func(s *sentence, i, _ int) string { return s.source.at(i + 1) }},
	{name: "target", of: pairs, word: func(s *sentence, _, j int) string { return s.target.at(j) }},
	{name: "target-1", of: pairs, word: func(s *sentence, _, j int) string { return s.target.at(j - 1) }},
	{name: "target+1", of: pairs, word: func(s *sentence, _, j int) string { return s.target.at(j + 1) }},

	{name: "dice", of: pairs, classes: diceNames, class: func(s *sentence, i, j int) int {
		return bin(s.dice[i*s.m+j], diceEdges)
	}},
	{name: "rank", of: pairs, classes: rankNames, class: (*sentence).rank},
	{name: "reverse-rank", of: pairs, classes: rankNames, class: (*sentence).reverseRank},
	{name: "lead", of: pairs, classes: leadNames, class: (*sentence).lead},
	{name: "before", of: pairs, classes: neighbourNames, class: func(s *sentence, i, j int) int {
		return s.neighbours(i-1, j-1)
	}},
	{name: "after", of: pairs, classes: neighbourNames, class: func(s *sentence, i, j int) int {
		return s.neighbours(i+1, j+1)
	}},
	{name: "crossed", of: pairs, classes: diceNames, class: (*sentence).crossed},
	{name: "best", of: unmatched, classes: diceNames, class: func(s *sentence, i, _ int) int {
		return bin(s.source.first[i], diceEdges)
	}},
	{name: "best-mutual", of: unmatched, classes: yesNames, class: (*sentence).mutual},

	{name: "position", of: pairs, classes: positionNames, class: func(s *sentence, i, j int) int {
		return bin(math.Abs(s.shift(i, j)), positionEdges)
	}},
	{name: "side", of: pairs, classes: sideNames, class: (*sentence).side},
	{name: "spelling", of: pairs, classes: likenessNames, needs: needsSpelling, class: func(s *sentence, i, j int) int {
		return int(s.spelt[i*s.m+j].likeness)
	}},
	{name: "prefix", of: pairs, classes: prefixNames, needs: needsSpelling, class: func(s *sentence, i, j int) int {
		return int(s.spelt[i*s.m+j].prefix)
	}},
	{name: "kinds", of: pairs, classes: kindsNames, class: func(s *sentence, i, j int) int {
		return s.source.kind[i]*len(kindNames) + s.target.kind[j]
	}},
	{name: "copies", of: pairs, classes: copiesNames, class: func(s *sentence, i, j int) int {
		return 3*(min(s.source.copies[i], 3)-1) + min(s.target.copies[j], 3) - 1
	}},
	{name: "source-frequency", of: both, classes: frequencyNames, class: func(s *sentence, i, _ int) int {
		return s.source.class[i]
	}},
	{name: "target-frequency", of: pairs, classes: frequencyNames, class: func(s *sentence, _, j int) int {
		return s.target.class[j]
	}},
	{name: "source-kind", of: unmatched, classes: kindNames, class: func(s *sentence, i, _ int) int {
		return s.source.kind[i]
	}},
}

// at returns word k in lower case, or a mark beyond the ends of the sentence.
func (w *words) at(k int) string {
	switch {
	case k < 0:
		return "_B-1"
	case k >= len(w.lower):
		return "_B+1"
	}
	return w.lower[k]
}

// bin returns how many of the rising edges are at most x, up to rounding.
func bin(x float64, edges []float64) int {
	const rounding = 1e-9
	k := 0
	for k < len(edges) && x >= edges[k]-rounding {
		k++
	}
	return k
}

// rank returns the class of the rank of target word j for source word i; words with the same coefficient share a rank.
func (s *sentence) rank(i, j int) int {
	d, rank := s.dice[i*s.m+j], 1
	if d == 0 {
		return 0
	}
	if d == s.source.first[i] {
		return 1
	}
	for _, other := range s.dice[i*s.m : (i+1)*s.m] {
		if other > d {
			rank++
		}
	}
	return min(rank, len(rankNames)-1)
}

func (s *sentence) reverseRank(i, j int) int {
	d, rank := s.dice[i*s.m+j], 1
	if d == 0 {
		return 0
	}
	if d == s.target.first[j] {
		return 1
	}
	for k := range s.n {
		if s.dice[k*s.m+j] > d {
			rank++
		}
	}
	return min(rank, len(rankNames)-1)
}

// lead returns the class of the lead of a pair over its best competitor, or −1 if the words never occur together.
func (s *sentence) lead(i, j int) int {
	d := s.dice[i*s.m+j]
	if d == 0 {
		return -1
	}
	return bin(d-max(s.source.rival(i, d), s.target.rival(j, d)), leadEdges)
}

// neighbours returns the class of the coefficient of two words, one or both of which may be beyond the ends.
func (s *sentence) neighbours(i, j int) int {
	sourceOut, targetOut := i < 0 || i >= s.n, j < 0 || j >= s.m
	switch {
	case sourceOut && targetOut:
		return len(neighbourNames) - 2
	case sourceOut || targetOut:
		return len(neighbourNames) - 1
	}
	return bin(s.dice[i*s.m+j], diceEdges)
}

func (s *sentence) crossed(i, j int) int {
	most := 0.0
	if i > 0 && j+1 < s.m {
		most = s.dice[(i-1)*s.m+j+1]
	}
	if i+1 < s.n && j > 0 {
		most = max(most, s.dice[(i+1)*s.m+j-1])
	}
	return bin(most, diceEdges)
}

// mutual reports whether the source word's best coefficient is also the best of a target word that has it; −1 if it
// is 0.
func (s *sentence) mutual(i, _ int) int {
	best := s.source.first[i]
	if best == 0 {
		return -1
	}
	for j, d := range s.dice[i*s.m : (i+1)*s.m] {
		if d == best && s.target.first[j] == best {
			return 1
		}
	}
	return 0
}

// shift returns how much later, as a share of its sentence, the target word comes.
func (s *sentence) shift(i, j int) float64 {
	return (float64(j)+0.5)/float64(s.m) - (float64(i)+0.5)/float64(s.n)
}

func (s *sentence) side(i, j int) int {
	const near = 0.05
	switch d := s.shift(i, j); {
	case d < -near:
		return 0
	case d > near:
		return 2
	}
	return 1
}
