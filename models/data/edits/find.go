package edits

import "strings"

// longest is how many letters a word has at most for which a piece is looked for that both words have. Longer ones get
// literal scripts.
const longest = 200

// Lemma returns the script that makes a lemma of a form. Of the cases that can, it takes the one that keeps the longest
// piece of the form, cut off by letters from its beginning and from its end.
func Lemma(form, lemma string) Script {
	best, kept := Literal(lemma), 0
	for c := range cases {
		if p, ok := find(form, lemma, c); ok && p.length > kept {
			best, kept = p.script(c, false, true), p.length
		}
	}
	return best
}

// candidates returns the scripts that make a word that is a part of a form: they keep a longest piece of it, in any
// case, and count places from both ends. The last one is literal.
func candidates(form, word string) []Script {
	var all []Script
	kept := 0
	for _, c := range []Case{Keep, Lower, Title, Upper} {
		p, ok := find(form, word, c)
		if !ok || p.length == 0 || p.length < kept {
			continue
		}
		if p.length > kept {
			all, kept = nil, p.length
		}
		for _, back := range [][2]bool{{false, true}, {false, false}, {true, true}, {true, false}} {
			all = append(all, p.script(c, back[0], back[1]))
		}
	}
	return append(all, Literal(word))
}

// piece is what two words have in common.
type piece struct {
	from, length, letters int // in the form, which has that many letters
	before, after         string
}

// script returns the script that keeps the piece, whose bounds are counted from the end of the form or not.
func (p piece) script(c Case, fromBack, toBack bool) Script {
	s := Script{Case: c, From: Bound{p.from, false}, To: Bound{p.from + p.length, false}, Before: p.before, After: p.after}
	if fromBack {
		s.From = Bound{p.letters - p.from, true}
	}
	if toBack {
		s.To = Bound{p.letters - p.from - p.length, true}
	}
	return s
}

// find returns the longest piece that a form has in common with a word, if scripts of that case can make the word at
// all.
func find(form, word string, c Case) (piece, bool) {
	if c != Keep {
		form = strings.ToLower(form)
	}
	target := word
	if c == Title || c == Upper {
		target = strings.ToLower(word)
	}
	a, b := []rune(form), []rune(target)
	if len(a) > longest || len(b) > longest {
		return piece{}, false
	}
	p := piece{letters: len(a)}
	start := 0
	lengths := make([]int, len(b)+1) // of the common piece that ends before the letters i of a and j of b
	for i := range a {
		diagonal := 0
		for j := range b {
			was := lengths[j+1]
			lengths[j+1] = 0
			if a[i] == b[j] {
				lengths[j+1] = diagonal + 1
			}
			if n := lengths[j+1]; n > p.length {
				p.length, p.from, start = n, i+1-n, j+1-n
			}
			diagonal = was
		}
	}
	p.before, p.after = string(b[:start]), string(b[start+p.length:])
	made, ok := p.script(c, false, true).Apply(form)
	return p, ok && made == word
}
