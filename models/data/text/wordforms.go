package text

import (
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// AddForms adds to forms what a word of d may be called elsewhere: the word as it is written, and in lower case.
func AddForms(forms *structured.Alphabet, d *structured.Dataset) {
	for _, word := range d.Column(WordColumn) {
		forms.Intern(word)
		forms.Intern(strings.ToLower(word))
	}
}

// AddKnown adds to a vocabulary of words those words of d that known accepts: each as it is written, or else in lower case.
func AddKnown(vocab *structured.Alphabet, d *structured.Dataset, known func(word string) bool) {
	for _, word := range d.Column(WordColumn) {
		if known(word) {
			vocab.Intern(word)
		} else if lower := strings.ToLower(word); known(lower) {
			vocab.Intern(lower)
		}
	}
}

// FormNumber returns the number of a word in a vocabulary, as it is written or else in lower case; 0 for other words.
func FormNumber(vocab *structured.Alphabet, word string) int32 {
	number := vocab.Index(word)
	if number < 0 {
		number = vocab.Index(strings.ToLower(word))
	}
	return max(0, number)
}

// wordNumber returns the number of a word in a vocabulary: as it is written, in lower case, or in the form that BuildVocab collects;
// 0, the number of Unknown, for other words. BuildVocab's names alone are found by their form, which has no other number.
func wordNumber(vocab *structured.Alphabet, word string) int32 {
	number := vocab.Index(word)
	if number < 0 {
		number = vocab.Index(strings.ToLower(word))
	}
	if number < 0 {
		number = vocab.Index(normalForm(word))
	}
	return max(0, number)
}
