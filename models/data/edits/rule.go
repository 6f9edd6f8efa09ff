package edits

import (
	"slices"
	"strconv"
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

// Counts counts scripts for the words of tokens. A word can be made in several ways (the "n't" of "don't" is what stands behind its second
// letter, or its last three letters); the one that makes the most words is the one that will make those of tokens not seen yet.
type Counts map[string]int

// Add counts a token with its words.
func (c Counts) Add(form string, words []string) {
	for k, word := range words {
		for _, s := range distinct(candidates(form, word)) {
			c[key(k, len(words), s)]++
		}
	}
}

// Rule returns the rule for a token with its words: for each word, of the scripts that make it, the most frequent one.
func (c Counts) Rule(form string, words []string) Rule {
	r := make(Rule, len(words))
	for k, word := range words {
		most := -1
		for _, s := range candidates(form, word) {
			n := c[key(k, len(words), s)]
			if n > most || n == most && r[k].Literal { // a piece of the form says more than letters
				r[k], most = s, n
			}
		}
	}
	return r
}

func key(k, of int, s Script) string {
	return strconv.Itoa(k) + "/" + strconv.Itoa(of) + " " + s.String()
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
