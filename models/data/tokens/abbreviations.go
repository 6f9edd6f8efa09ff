package tokens

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// use says when the point of an abbreviation does not end a sentence.
type use int

const (
	none   use = iota
	title      // never
	number     // before a digit
	usual      // unless a word follows that often begins sentences
)

// abbreviations are written without their last point. Those in lower case count in any case.
var abbreviations = sync.OnceValue(func() map[string]use {
	all := map[string]use{}
	for kind, list := range map[use]string{
		title: "Adm Capt Cmdr Col Cpl Dr Drs Fr Gen Gov Hon Hr Lt Maj Messrs Mlle Mme Mr Mrs Ms Mt Mx Pres Prof Rep Rev " +
			"Sen Sgt Sr Sra St Ste Supt " +
			"cf e.g i.e vs viz z.b d.h u.a bzw ca approx p.ex",
		number: "no nos nr art ch chap eq eqs fig figs p pp par sec vol tab jan feb mar apr jun jul aug sep sept oct nov dec",
		usual:  "ave bd blvd bros co corp dept dist ed eds est etc al inc jr ltd llc mfg univ a.m p.m ph.d b.a m.a m.d",
	} {
		for _, word := range strings.Fields(list) {
			all[word] = kind
		}
	}
	return all
})

// beginners are words that often begin English sentences, and rarely names.
var beginners = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields("A After All Although An And As At Because Before But By Can Did Do Does During For From He Her His How However If In It Its " +
		"Many Most My No Not Now On One Or Our She Since So Some That The Their Then There These They This Those Though Thus To Under Until We What When Where " +
		"Which While Who Why With Yes Yet You Your") {
		all[word] = true
	}
	return all
})

// abbreviation returns the use of a word that a point follows.
func abbreviation(word string) use {
	if kind := abbreviations()[word]; kind != none {
		return kind
	}
	return abbreviations()[strings.ToLower(word)]
}

// initial reports whether a word is a single capital letter, as in "J. Smith", but not the pronoun I.
func initial(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && unicode.IsUpper(r) && r != 'I'
}

// dotted reports whether a word is letters with points between them, as the U.S in "U.S.".
func dotted(word string) bool {
	letters := strings.Split(word, ".")
	for _, part := range letters {
		if r, size := utf8.DecodeRuneInString(part); size == 0 || size != len(part) || !unicode.IsLetter(r) {
			return false
		}
	}
	return len(letters) > 1
}

// longest is how many bytes of a word are looked at; no abbreviation is as long.
const longest = 64

// goesOn reports whether a sentence that ends so goes on in what follows: its last word is an abbreviation.
func goesOn(sentence, next string) bool {
	sentence = strings.TrimRightFunc(sentence, Invisible)
	rest, point := strings.CutSuffix(sentence, ".")
	if !point {
		return false
	}
	rest = rest[max(0, len(rest)-longest):]
	word := rest[strings.LastIndexFunc(rest, unicode.IsSpace)+1:]
	if at := strings.LastIndexFunc(word, func(r rune) bool { return r != '.' && !unicode.IsLetter(r) }); at >= 0 {
		_, size := utf8.DecodeRuneInString(word[at:])
		if unicode.IsDigit(rune(word[at])) {
			return false
		}
		word = word[at+size:]
	}
	next = strings.TrimLeftFunc(next, Invisible)
	first, _ := utf8.DecodeRuneInString(next)
	begins := func() bool {
		end := strings.IndexFunc(next, func(r rune) bool { return !unicode.IsLetter(r) })
		if end < 0 {
			end = len(next)
		}
		return beginners()[next[:end]]
	}
	switch abbreviation(word) {
	case title:
		return true
	case number:
		return unicode.IsDigit(first)
	case usual:
		return !begins()
	}
	return (initial(word) || dotted(word)) && !begins()
}
