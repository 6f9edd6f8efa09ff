package edits

import (
	"math"
	"slices"
	"strings"
)

// Rule makes the words of a token that is written as one: a script for each.
type Rule []Script

// Apply makes the words; false if a script does not fit the form.
func (r Rule) Apply(form string) ([]string, bool) {
	words := make([]string, len(r))
	for k, s := range r {
		var ok bool
		if words[k], ok = s.Apply(form); !ok {
			return nil, false
		}
	}
	return words, len(r) > 0
}

// String returns the rule as ParseRule reads it: scripts with | between them.
func (r Rule) String() string {
	all := make([]string, len(r))
	for k, s := range r {
		all[k] = s.String()
	}
	return strings.Join(all, "|")
}

// ParseRule reads a rule.
func ParseRule(text string) (Rule, error) {
	var r Rule
	for part := range strings.SplitSeq(text, "|") {
		s, err := Parse(part)
		if err != nil {
			return nil, err
		}
		r = append(r, s)
	}
	return r, nil
}

// Rules chooses the rules of a treebank. A word can be made in several ways: the "n't" of "don't" is what stands behind
// its second letter, or its last three letters. So that rules hold for tokens not seen yet, they are chosen one after
// the other: first the script that makes words of the most different tokens, then the one that makes the most of what
// is left.
type Rules struct {
	seen  map[string]bool
	words map[place][][]string // the scripts for a word of each token
	rank  map[place]map[string]int
}

// place is the place of a word among those of its token.
type place struct{ word, of int }

// Add adds a token with its words. Another time, and in another case of letters, it counts no more.
func (r *Rules) Add(form string, words []string) {
	if r.seen == nil {
		r.seen, r.words = map[string]bool{}, map[place][][]string{}
	}
	token := strings.ToLower(form + "\t" + strings.Join(words, "\t"))
	if r.seen[token] {
		return
	}
	r.seen[token], r.rank = true, nil
	for k, word := range words {
		var scripts []string
		for _, s := range distinct(candidates(form, word)) {
			scripts = append(scripts, s.String())
		}
		at := place{k, len(words)}
		r.words[at] = append(r.words[at], scripts)
	}
}

// Len returns how many different tokens were added.
func (r *Rules) Len() int { return len(r.seen) }

// Of returns the rule for a token with its words: for each word, of the scripts that make it, the one that was chosen
// first.
func (r *Rules) Of(form string, words []string) Rule {
	if r.rank == nil {
		r.choose()
	}
	rule := make(Rule, len(words))
	for k, word := range words {
		ranks, best := r.rank[place{k, len(words)}], math.MaxInt
		all := candidates(form, word)
		rule[k] = all[len(all)-1]
		for _, s := range all {
			if rank, ok := ranks[s.String()]; ok && rank < best {
				rule[k], best = s, rank
			}
		}
	}
	return rule
}

// choose ranks the scripts.
func (r *Rules) choose() {
	r.rank = map[place]map[string]int{}
	for at, left := range r.words {
		ranks := map[string]int{}
		for left = slices.Clone(left); len(left) > 0; {
			count := map[string]int{}
			for _, scripts := range left {
				for _, s := range scripts {
					count[s]++
				}
			}
			best := left[0][0]
			for _, scripts := range left { // of scripts that make equally many, the first one
				for _, s := range scripts {
					if count[s] > count[best] {
						best = s
					}
				}
			}
			ranks[best] = len(ranks)
			left = slices.DeleteFunc(left, func(scripts []string) bool { return slices.Contains(scripts, best) })
		}
		r.rank[at] = ranks
	}
}

// distinct drops scripts that are there already.
func distinct(all []Script) []Script {
	var some []Script
	for _, s := range all {
		if !slices.Contains(some, s) {
			some = append(some, s)
		}
	}
	return some
}
