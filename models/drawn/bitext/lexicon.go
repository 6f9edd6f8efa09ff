package bitext

import (
	"math/rand/v2"
	"strings"
)

// entry is a source word with its translations, the most frequent one first. A translation has one or two words, or
// none.
type entry struct {
	source       string
	translations [][]string
	topic        int  // from 1; words of a topic occur together
	after        bool // an adjective that follows its noun in the target language
}

// lexicon holds the words of both languages by class.
type lexicon struct {
	nouns, verbs, adjectives, adverbs, prepositions, determiners []entry

	particles  []string    // source words without translation
	articles   []string    // target words without a source word
	auxiliary  []string    // first words of verbs in the target language
	source     *phonology  // how source words sound
	target     *phonology  // how target words sound
	spelling   [][2]string // how the spelling of cognates changes
	ranks      []float64   // sums of the weights of the words of a class, by rank
	taken      map[string]bool
	difficulty float64
	rng        *rand.Rand
}

// topics is the number of groups of words that keep company.
const topics = 30

// phonology makes up words of a language.
type phonology struct{ onsets, vowels, codas, endings []string }

var (
	sourceSounds = &phonology{
		strings.Fields("b br d dr f fl g gr h k kl l m n p pl r s sch st t tr v w z"), strings.Fields("a e i o u ei au ie"),
		strings.Fields("n r l s t nd ng ch rt ck"), strings.Fields("e er en el ung keit ig"),
	}
	targetSounds = &phonology{
		strings.Fields("b c d f g j l m n p qu r s t v cr tr pr bl"), strings.Fields("a e i o u ai ou eu"),
		strings.Fields("n r l s x c m"), strings.Fields("e o a ion ment al eur ique"),
	}
	changes = [][2]string{{"k", "c"}, {"z", "s"}, {"w", "v"}, {"sch", "ch"}, {"keit", "ité"}, {"ung", "ion"},
		{"ig", "ique"}, {"ei", "ai"}, {"ck", "que"}}
)

// drawLexicon draws the words of both languages.
func drawLexicon(rng *rand.Rand, difficulty float64) *lexicon {
	l := &lexicon{source: sourceSounds, target: targetSounds, spelling: changes, taken: map[string]bool{},
		difficulty: difficulty, rng: rng}
	l.determiners = l.class(6, 1, 1)
	l.prepositions = l.class(14, 1, 1)
	l.adverbs = l.class(80, 2, 0.6)
	l.adjectives = l.class(500, 2, 0.6)
	l.verbs = l.class(500, 2, 0.8)
	l.nouns = l.class(1500, 2, 0.6)
	sum := 0.0
	for k := range l.nouns { // the largest class
		sum += 1 / float64(k+4)
		l.ranks = append(l.ranks, sum)
	}
	for range 5 {
		l.particles = append(l.particles, l.word(l.source, 1))
		l.articles = append(l.articles, l.word(l.target, 1))
	}
	for range 3 {
		l.auxiliary = append(l.auxiliary, l.word(l.target, 1))
	}
	for k := range l.adjectives {
		l.adjectives[k].after = rng.IntN(3) > 0
	}
	for k := range l.nouns {
		if rng.Float64() < 0.08+0.12*difficulty { // a noun in two words
			e := &l.nouns[k]
			first := e.translations[0][0]
			e.translations[0] = []string{first, l.word(l.target, 2)}
		}
	}
	return l
}

// class draws n entries of words with that many syllables. ambiguous scales the share of words with several
// translations.
func (l *lexicon) class(n, syllables int, ambiguous float64) []entry {
	entries := make([]entry, n)
	for k := range entries {
		size := syllables
		if syllables > 1 {
			size += l.rng.IntN(2)
		}
		e := entry{source: l.word(l.source, size), topic: 1 + l.rng.IntN(topics)}
		count := 1
		if l.rng.Float64() < ambiguous*(0.1+0.9*l.difficulty) {
			count += 1 + l.rng.IntN(2)
		}
		for range count {
			text := l.word(l.target, size)
			switch {
			case syllables > 1 && len(e.translations) == 0 && l.rng.IntN(4) == 0:
				text = l.cognate(e.source)
			case k > 0 && l.rng.Float64() < 0.2*l.difficulty: // two source words share a translation
				text = entries[l.rng.IntN(k)].translations[0][0]
			}
			e.translations = append(e.translations, []string{text})
		}
		entries[k] = e
	}
	return entries
}

// word makes up a word that no word of either language equals.
func (l *lexicon) word(p *phonology, syllables int) string {
	for {
		var b strings.Builder
		for range syllables {
			b.WriteString(pick(l.rng, p.onsets) + pick(l.rng, p.vowels))
			if l.rng.IntN(2) == 0 {
				b.WriteString(pick(l.rng, p.codas))
			}
		}
		if syllables > 1 {
			b.WriteString(pick(l.rng, p.endings))
		} else if l.rng.IntN(2) == 0 {
			b.WriteString(pick(l.rng, p.codas))
		}
		if text := b.String(); !l.taken[text] {
			l.taken[text] = true
			return text
		}
	}
}

// cognate returns a source word in the spelling of the target language.
func (l *lexicon) cognate(source string) string {
	for _, change := range l.spelling {
		source = strings.ReplaceAll(source, change[0], change[1])
	}
	return source
}

func pick[E any](rng *rand.Rand, list []E) E { return list[rng.IntN(len(list))] }
