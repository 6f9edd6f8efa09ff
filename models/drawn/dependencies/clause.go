package dependencies

import "math/rand/v2"

// writer generates sentences.
type writer struct {
	rng          *rand.Rand
	extraposed   float64 // share of the extraposable phrases that are extraposed
	imperfection float64 // share of the ambiguous words that get the wrong part of speech
}

func (w *writer) chance(p float64) bool { return w.rng.Float64() < p }

// verbSites are the prepositional phrases that modify verbs of a class.
var verbSites = map[string][]site{
	"action": {{"with", "tool", 6}, {"in", "place", 2}, {"for", "person", 2},
		{"at", "event", 1}, {"with", "person", 1}},
	"perception": {{"with", "tool", 4}, {"from", "place", 3}, {"in", "place", 2},
		{"at", "event", 3}, {"through", "part", 1}},
	"creation": {{"for", "person", 4}, {"in", "place", 2}, {"with", "tool", 2},
		{"with", "person", 1}, {"at", "event", 1}},
	"transfer":  {{"to", "person", 8}, {"to", "group", 2}, {"for", "mass", 1}},
	"placement": {{"on", "furniture", 6}, {"in", "furniture", 2}, {"near", "furniture", 2}, {"in", "place", 2}},
	"motion": {{"to", "place", 6}, {"from", "place", 3}, {"through", "place", 3},
		{"with", "person", 2}, {"near", "place", 1}},
	"state": {{"in", "place", 4}, {"at", "event", 3}, {"for", "person", 3},
		{"on", "furniture", 2}, {"with", "person", 2}},
	"consumption": {{"with", "person", 3}, {"in", "place", 3}, {"with", "tool", 2}, {"at", "event", 2}},
	"relation":    {{"in", "place", 3}, {"at", "event", 3}, {"for", "abstract", 2}, {"from", "event", 1}},
}

// objects are the object classes of each class of verbs; other verbs take no object.
var objects = map[string][]string{
	"action":      {"furniture", "tool", "part", "food", "animal"},
	"perception":  {"person", "animal", "person", "event", "tool", "document", "furniture"},
	"creation":    {"document", "document", "abstract"},
	"transfer":    {"document", "food", "tool", "mass", "animal"},
	"placement":   {"tool", "food", "document"},
	"consumption": {"food"},
	"relation":    {"person", "person", "animal", "event", "abstract", "group"},
}

// A form determines the inflection of a verb.
type form struct {
	past   bool
	bare   bool // an infinitive: no tense
	plural bool // of the subject
}

func (w *writer) verb(class string, f form) (*node, entry) {
	e := w.entry(class)
	n := word(e.lemma, e.lemma, "VERB", "VB")
	switch {
	case f.bare:
	case f.past:
		n.Form, n.XPOS = e.past(), "VBD"
	case f.plural:
		n.XPOS = "VBP"
	default:
		n.Form, n.XPOS = withS(e.lemma), "VBZ"
	}
	n.class = class
	return n, e
}

// auxiliaries adds a modal, "not" or the auxiliary of a tense before a verb, and inflects the verb accordingly.
func (w *writer) auxiliaries(v *node, e entry, f form) {
	aux := func(form, lemma, tag string) *node { return word(form, lemma, "AUX", tag).as("aux") }
	base := func() { v.Form, v.XPOS = e.lemma, "VB" }
	switch u := w.rng.Float64(); {
	case u < 0.12:
		modal := []string{"will", "can", "may", "must", "should"}[w.rng.IntN(5)]
		v.before = append(v.before, aux(modal, modal, "MD"))
		if w.chance(0.25) {
			v.before = append(v.before, word("not", "not", "PART", "RB").as("advmod"))
		}
		base()
	case u < 0.22:
		v.before = append(v.before, aux(do(f), "do", tense(f)))
		v.before = append(v.before, w.negation())
		base()
	case u < 0.3:
		have := "has"
		switch {
		case f.past:
			have = "had"
		case f.plural:
			have = "have"
		}
		v.before = append(v.before, aux(have, "have", tense(f)))
		v.Form, v.XPOS = e.participle(), "VBN"
	case u < 0.36:
		v.before = append(v.before, aux(be(f), "be", tense(f)))
		v.Form, v.XPOS = e.gerund(), "VBG"
	}
	if w.chance(0.1) {
		v.before = append(v.before, w.adverb("manner"))
	}
}

func tense(f form) string {
	switch {
	case f.past:
		return "VBD"
	case f.plural:
		return "VBP"
	}
	return "VBZ"
}

func do(f form) string {
	switch {
	case f.past:
		return "did"
	case f.plural:
		return "do"
	}
	return "does"
}

func be(f form) string {
	switch {
	case f.past && f.plural:
		return "were"
	case f.past:
		return "was"
	case f.plural:
		return "are"
	}
	return "is"
}

// negation draws "not", often contracted with the verb before it.
func (w *writer) negation() *node {
	n := word("not", "not", "PART", "RB").as("advmod")
	if w.chance(0.6) {
		n.Form, n.Joined = "n't", true
	}
	return n
}

func (w *writer) adverb(class string) *node {
	lemma := w.entry(class).lemma
	return word(lemma, lemma, "ADV", "RB").as("advmod")
}

// subject draws a noun phrase that can be an agent.
func (w *writer) subject(depth int) *node {
	class := "person"
	switch u := w.rng.Float64(); {
	case u < 0.12:
		class = "group"
	case u < 0.2:
		class = "animal"
	}
	return w.nounPhrase(class, depth)
}

// clause draws a finite clause with its subject. depth counts the clauses and phrases around it.
func (w *writer) clause(depth int) *node {
	f := form{past: w.chance(0.65)}
	var root *node
	switch u := w.rng.Float64(); {
	case u < 0.1:
		root = w.copular(f, depth)
	case u < 0.14:
		root = w.existential(f, depth)
	case u < 0.22:
		root = w.passive(f, depth)
	default:
		s := w.subject(depth)
		f.plural = s.plural
		root = w.predicate(f, depth, s)
	}
	root.clause = true
	return root
}

// predicate draws a verb with its auxiliaries and complements. subject may be nil.
func (w *writer) predicate(f form, depth int, subject *node) *node {
	class := w.verbClass(depth)
	v, e := w.verb(class, f)
	if subject != nil {
		v.before = append(v.before, subject.as("nsubj"))
	}
	if !f.bare {
		w.auxiliaries(v, e, f)
	}
	w.complement(v, depth)
	w.adjuncts(v, depth)
	if depth < 2 && w.chance(0.08) {
		f.bare = v.XPOS == "VB"
		second := w.predicate(f, depth+2, nil)
		second.before = append([]*node{word("and", "and", "CCONJ", "CC").as("cc")}, second.before...)
		v.after = append(v.after, second.as("conj"))
	}
	if subject != nil {
		w.extrapose(v, subject)
	}
	return v
}

// verbClass draws the class of a verb. Verbs that take a clause become rarer with depth.
func (w *writer) verbClass(depth int) string {
	if w.chance(0.24 / float64(depth+1)) {
		if w.chance(0.6) {
			return "speech"
		}
		return "control"
	}
	classes := []string{"action", "perception", "perception", "creation", "transfer", "placement", "motion", "motion",
		"state", "consumption", "relation", "relation"}
	return classes[w.rng.IntN(len(classes))]
}

// complement adds the objects and clauses that a verb requires.
func (w *writer) complement(v *node, depth int) {
	switch v.class {
	case "speech":
		c := w.clause(depth + 1)
		if w.chance(0.55) {
			c.before = append([]*node{word("that", "that", "SCONJ", "IN").as("mark")}, c.before...)
		}
		v.after = append(v.after, c.as("ccomp"))
		return
	case "control":
		c := w.predicate(form{bare: true}, depth+1, nil)
		c.before = append([]*node{word("to", "to", "PART", "TO").as("mark")}, c.before...)
		c.clause = false
		v.after = append(v.after, c.as("xcomp"))
		return
	}
	classes := objects[v.class]
	if classes == nil {
		if w.chance(0.75) {
			v.after = append(v.after, w.oblique(v, depth))
		}
		return
	}
	o := object(w.nounPhrase(classes[w.rng.IntN(len(classes))], depth))
	rate := 0.35
	switch v.class {
	case "transfer":
		if w.chance(0.4) {
			v.after = append(v.after, object(w.nounPhrase("person", depth+2)).as("iobj"), o.as("obj"))
			return
		}
		rate = 0.9
	case "placement":
		rate = 0.9
	}
	v.after = append(v.after, o.as("obj"))
	if w.chance(rate) {
		v.after = append(v.after, w.oblique(v, depth))
		w.extrapose(v, o)
	}
}

// oblique draws a prepositional phrase that modifies a verb.
func (w *writer) oblique(v *node, depth int) *node {
	return w.prepositional(w.pick(verbSites[v.class]), depth+1).as("obl")
}

// extrapose moves the last clause or phrase after a noun to the end of the clause, at the configured rate.
func (w *writer) extrapose(v, noun *node) {
	last := len(noun.after) - 1
	if last < 0 || len(v.after) == 0 && noun.Relation != "nsubj" || !w.chance(w.extraposed) {
		return
	}
	switch n := noun.after[last]; n.Relation {
	case "acl:relcl", "nmod", "acl":
		if n.Relation != "acl:relcl" || n.before[0].UPOS != "PUNCT" {
			n.extraposed = true
		}
	}
}

// adjuncts adds adverbs, times and clauses after a verb.
func (w *writer) adjuncts(v *node, depth int) {
	switch u := w.rng.Float64(); {
	case u < 0.07:
		v.after = append(v.after, w.adverb("manner"))
	case u < 0.13:
		v.after = append(v.after, w.adverb("time"))
	case u < 0.17:
		v.after = append(v.after, w.duration())
	case u < 0.2:
		v.after = append(v.after, w.day())
	}
	if w.chance(0.12 / float64(depth+1)) {
		v.after = append(v.after, w.adverbial(depth+1))
	}
}

// duration draws a phrase such as "for two hours".
func (w *writer) duration() *node {
	n := w.noun("unit", true)
	number := []string{"two", "three", "many", "several"}[w.rng.IntN(4)]
	d := word(number, number, "NUM", "CD").as("nummod")
	if number == "many" || number == "several" {
		d = word(number, number, "ADJ", "JJ").as("amod")
	}
	n.before = append(n.before, word("for", "for", "ADP", "IN").as("case"), d)
	return n.as("obl")
}

// day draws a phrase such as "last week" or "every morning".
func (w *writer) day() *node {
	n := w.noun("day", false)
	d := word("every", "every", "DET", "DT").as("det")
	if w.chance(0.6) {
		d = word("last", "last", "ADJ", "JJ").as("amod")
	}
	n.before = append(n.before, d)
	return n.as("obl:tmod")
}

// adverbial draws an adverbial clause with its conjunction.
func (w *writer) adverbial(depth int) *node {
	c := w.clause(depth + 1)
	mark := []string{"because", "when", "after", "if", "while", "although"}[w.rng.IntN(6)]
	c.before = append([]*node{word(mark, mark, "SCONJ", "IN").as("mark")}, c.before...)
	return c.as("advcl")
}
