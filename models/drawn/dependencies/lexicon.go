package dependencies

import (
	_ "embed"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// The words of the generated sentences. The file's first lines explain the notation.
//
//go:embed lexicon.txt
var lexiconText string

var lexicon = sync.OnceValue(func() map[string][]entry { return parseLexicon(lexiconText) })

// An entry is a word with its irregular forms: the plural of a noun, or the past tense and participle of a verb.
type entry struct {
	lemma string
	forms []string
}

// parseLexicon parses the notation of lexicon.txt. It does not check it: the file is embedded.
func parseLexicon(text string) map[string][]entry {
	classes := map[string][]entry{}
	for line := range strings.Lines(text) {
		class, words, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(words) {
			forms := strings.Split(word, "/")
			classes[class] = append(classes[class], entry{forms[0], forms[1:]})
		}
	}
	return classes
}

// entry draws a word of a class. The word with rank k has weight 1/(k+4).
func (w *writer) entry(class string) entry {
	words := lexicon()[class]
	sum := 0.0
	for k := range words {
		sum += 1 / float64(k+4)
	}
	u := sum * w.rng.Float64()
	for k := range words {
		if u -= 1 / float64(k+4); u <= 0 {
			return words[k]
		}
	}
	return words[len(words)-1]
}

// isVowel reports whether a letter of a lexicon word is a vowel.
func isVowel(letter byte) bool { return strings.IndexByte("aeiou", letter) >= 0 }

// withS adds the s of plurals and of the third person singular.
func withS(word string) string {
	last := word[len(word)-1]
	switch {
	case last == 'y' && !isVowel(word[len(word)-2]):
		return word[:len(word)-1] + "ies"
	case strings.HasSuffix(word, "s") || strings.HasSuffix(word, "x") || strings.HasSuffix(word, "ch") ||
		strings.HasSuffix(word, "sh"):
		return word + "es"
	}
	return word + "s"
}

// plural returns the plural of a noun.
func (e entry) plural() string {
	if len(e.forms) > 0 {
		return e.forms[0]
	}
	return withS(e.lemma)
}

// past returns the past tense of a verb.
func (e entry) past() string {
	if len(e.forms) > 0 {
		return e.forms[0]
	}
	switch last := e.lemma[len(e.lemma)-1]; {
	case last == 'e':
		return e.lemma + "d"
	case last == 'y' && !isVowel(e.lemma[len(e.lemma)-2]):
		return e.lemma[:len(e.lemma)-1] + "ied"
	}
	return e.lemma + "ed"
}

// participle returns the past participle of a verb.
func (e entry) participle() string {
	if len(e.forms) > 1 {
		return e.forms[1]
	}
	return e.past()
}

// gerund returns the -ing form of a verb.
func (e entry) gerund() string {
	stem := e.lemma
	n := len(stem)
	switch doubles := []string{"cut", "hit", "put", "run", "plan", "spot", "drop", "admit"}; {
	case slices.Contains(doubles, stem):
		stem += stem[n-1:]
	case strings.HasSuffix(stem, "ie"):
		stem = stem[:n-2] + "y"
	case stem[n-1] == 'e' && stem[n-2] != 'e':
		stem = stem[:n-1]
	}
	return stem + "ing"
}

// name makes up a proper name from syllables.
func name(rng *rand.Rand) string {
	starts := strings.Fields("B Br C D Dr F G H J K L M N P R S St T V W")
	vowels := strings.Fields("a e i o u a e o ie")
	middles := strings.Fields("l n r nd rt st m v ll ss")
	ends := strings.Fields("n s r y son ton a o ck ler man ski ford")
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	text := pick(starts) + pick(vowels)
	if rng.IntN(2) == 0 {
		text += pick(middles) + pick(vowels)
	}
	return text + pick(ends)
}
