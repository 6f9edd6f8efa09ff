package bitext

import (
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/alignments"
)

// phrase is a piece of a sentence pair: its words in source order, and the words of its translation in target order.
type phrase struct {
	source []*word
	target []piece
}

// word is a source word; its number is set when the sentence is complete.
type word struct {
	text   string
	number int
}

// piece is a target word, with the source word that it is linked to, if any.
type piece struct {
	text string
	of   *word
	sure bool
}

// writer draws a sentence pair.
type writer struct {
	*lexicon
	rng *rand.Rand
}

// pair draws a sentence pair with its links.
func (w *writer) pair() (source, target []string, links []alignments.Link) {
	all := w.clause()
	for w.rng.Float64() < 0.45 && len(all.source) < 40 { // one more clause
		comma := mark(",")
		next := w.clause()
		all.source = append(append(all.source, comma.source...), next.source...)
		all.target = append(append(all.target, comma.target...), next.target...)
	}
	end := mark(".")
	if w.rng.IntN(6) == 0 {
		end = mark("?")
	}
	all.source, all.target = append(all.source, end.source...), append(all.target, end.target...)
	for k, s := range all.source {
		s.number = k
		source = append(source, s.text)
	}
	links = []alignments.Link{}
	for k, t := range all.target {
		target = append(target, t.text)
		if t.of != nil {
			links = append(links, alignments.Link{Source: int32(t.of.number), Target: int32(k), Sure: t.sure})
		}
	}
	return source, target, links
}

// mark returns a punctuation mark, which both languages share.
func mark(text string) phrase {
	s := &word{text: text}
	return phrase{[]*word{s}, []piece{{text, s, true}}}
}

// with reports true with a probability that rises from easy to hard with the difficulty.
func (w *writer) with(easy, hard float64) bool {
	return w.rng.Float64() < easy+(hard-easy)*w.difficulty
}

// clause draws subject, verb, object and adverbials. In the target language the verb has an auxiliary after the subject
// and its main part often at the end of the clause, and the last prepositional phrase may come first.
func (w *writer) clause() phrase {
	action := w.draw(w.verbs, 0)
	subject, object := w.nounPhrase(0), w.nounPhrase(action.topic)
	verb := w.inflect(w.translate(w.verbs, action), "t", "a", 0.4)
	var adverb, place phrase
	if w.rng.IntN(3) == 0 {
		adverb = w.translate(w.adverbs, w.draw(w.adverbs, 0))
	}
	if w.rng.IntN(2) == 0 {
		place = w.prepositional()
	}
	var particle phrase
	if w.rng.IntN(4) == 0 {
		particle = phrase{source: []*word{{text: pick(w.rng, w.particles)}}}
	}
	var auxiliary []piece
	if w.rng.Float64() < 0.4 && len(verb.target) > 0 {
		auxiliary = []piece{{pick(w.rng, w.auxiliary), verb.source[0], false}}
	}
	all := phrase{source: concat(subject.source, verb.source, particle.source, adverb.source, object.source, place.source)}
	middle := concat(adverb.target, object.target)
	var front []piece
	if w.with(0.05, 0.4) {
		front = place.target
	} else {
		middle = concat(middle, place.target)
	}
	if auxiliary != nil && w.with(0.3, 0.9) { // the verb comes last
		all.target = concat(front, subject.target, auxiliary, middle, verb.target)
	} else {
		all.target = concat(front, subject.target, auxiliary, verb.target, middle)
	}
	return all
}

func (w *writer) prepositional() phrase {
	preposition, of := w.translate(w.prepositions, w.draw(w.prepositions, 0)), w.nounPhrase(0)
	return phrase{concat(preposition.source, of.source), concat(preposition.target, of.target)}
}

// nounPhrase draws a name, a number with a noun, or a determiner, adjectives and a noun, which prefers the topic.
func (w *writer) nounPhrase(topic int) phrase {
	switch k := w.rng.IntN(20); {
	case k < 3:
		return w.name()
	case k < 5:
		text := strconv.Itoa(2 + w.rng.IntN(998))
		number, noun := mark(text), w.inflect(w.translate(w.nouns, w.draw(w.nouns, topic)), "n", "s", 1)
		return phrase{concat(number.source, noun.source), concat(number.target, noun.target)}
	}
	thing := w.draw(w.nouns, topic)
	plural := 0.0
	if w.rng.IntN(3) == 0 {
		plural = 1
	}
	noun := w.inflect(w.translate(w.nouns, thing), "n", "s", plural)
	var determiner phrase
	switch {
	case w.rng.IntN(10) < 6:
		determiner = w.translate(w.determiners, w.draw(w.determiners, 0))
	case w.rng.IntN(2) == 0: // the target language needs an article
		determiner.target = []piece{{text: pick(w.rng, w.articles)}}
		if w.rng.IntN(2) == 0 { // some annotators link it to the noun
			determiner.target[0].of = noun.source[0]
		}
	}
	all := phrase{source: determiner.source}
	var before, after []piece
	for w.rng.IntN(3) == 0 && len(all.source) < 4 {
		e := w.draw(w.adjectives, thing.topic)
		adjective := w.inflect(w.translation(e), "e", "s", plural)
		all.source = append(all.source, adjective.source...)
		if e.after {
			after = append(after, adjective.target...)
		} else {
			before = append(before, adjective.target...)
		}
	}
	all.source = append(all.source, noun.source...)
	all.target = concat(determiner.target, before, noun.target, after)
	return all
}

// name makes up a name. Most names are the same in both languages.
func (w *writer) name() phrase {
	text := ""
	for range 2 + w.rng.IntN(2) {
		text += pick(w.rng, w.source.onsets) + pick(w.rng, w.source.vowels)
	}
	text = strings.ToUpper(text[:1]) + text[1:] + pick(w.rng, w.source.codas)
	s := &word{text: text}
	if w.rng.IntN(3) == 0 {
		text = w.cognate(text)
	}
	return phrase{[]*word{s}, []piece{{text, s, true}}}
}

func (w *writer) translate(class []entry, e entry) phrase {
	if w.with(0, 0.08) { // a free translation, by any word of the class, that only some annotators link
		s := &word{text: e.source}
		other := w.draw(class, 0).translations[0]
		return phrase{[]*word{s}, []piece{{other[0], s, false}}}
	}
	return w.translation(e)
}

// inflect adds endings to the source word and to the first word of its translation, with a probability.
func (w *writer) inflect(p phrase, source, target string, probability float64) phrase {
	if w.rng.Float64() >= probability {
		return p
	}
	p.source[0].text += source
	if len(p.target) > 0 {
		p.target[0].text += target
	}
	return p
}

// translation returns a word with one of its translations. Each comes twice as often as the next. Some words are left
// out.
func (w *writer) translation(e entry) phrase {
	s := &word{text: e.source}
	p := phrase{source: []*word{s}}
	if w.with(0.02, 0.1) {
		return p
	}
	k := 0
	for k+1 < len(e.translations) && w.rng.IntN(3) == 0 {
		k++
	}
	for _, text := range e.translations[k] {
		p.target = append(p.target, piece{text, s, true})
	}
	return p
}

// draw draws an entry. The one with rank k has weight 1/(k+4). Words keep company: with a topic other than 0, the entry
// is often one of that topic.
func (w *writer) draw(class []entry, topic int) entry {
	for {
		at := sort.SearchFloat64s(w.ranks[:len(class)-1], w.rng.Float64()*w.ranks[len(class)-1])
		if topic == 0 || class[at].topic == topic || !w.with(0.5, 0.95) {
			return class[at]
		}
	}
}

// concat returns the concatenation of lists in memory of its own.
func concat[E any](lists ...[]E) []E {
	var all []E
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
