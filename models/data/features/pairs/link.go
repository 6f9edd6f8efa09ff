package pairs

import (
	"cmp"
	"slices"
	"strings"
)

// linkedDice is the least Dice coefficient of words that Link joins.
const linkedDice = 0.1

// Link aligns a sentence pair without training: it joins words in the order of falling Dice coefficients, as long as
// both are still free and the coefficient is more than 0.1 (competitive linking, Melamed 2000). Among equal
// coefficients, words nearer the start come first. The output has a number per source word: 0 for none, else 1 + its
// target word.
func (s *Statistics) Link(source, target []string) []int32 {
	type link struct {
		i, j int
		dice float64
	}
	var links []link
	for i, w := range source {
		for j, t := range target {
			if d := s.Dice(strings.ToLower(w), strings.ToLower(t)); d > linkedDice {
				links = append(links, link{i, j, d})
			}
		}
	}
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(b.dice, a.dice) })
	y, taken := make([]int32, len(source)), make([]bool, len(target))
	for _, l := range links {
		if y[l.i] == 0 && !taken[l.j] {
			y[l.i], taken[l.j] = int32(l.j)+1, true
		}
	}
	return y
}
