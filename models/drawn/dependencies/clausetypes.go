package dependencies

// copular draws "the house was old" or "she is a doctor".
func (w *writer) copular(f form, depth int) *node {
	classes := []string{"person", "person", "place", "food", "event", "abstract", "furniture", "animal"}
	s := w.nounPhrase(classes[w.rng.IntN(len(classes))], depth)
	f.plural = s.plural
	root := w.adjective()
	if w.chance(0.35) {
		root = w.noun(map[bool]string{true: "person", false: "abstract"}[s.class == "person" || s.class == "pronoun" ||
			s.class == "name"], s.plural)
		w.determine(root, depth+2)
		w.modify(root, depth+1)
	}
	verb := []*node{s.as("nsubj"), word(be(f), "be", "AUX", tense(f)).as("cop")}
	if w.chance(0.15) {
		verb = append(verb, w.negation())
	}
	root.before = append(verb, root.before...)
	w.adjuncts(root, depth)
	w.extrapose(root, s)
	return root
}

// existential draws "there was a dog in the garden".
func (w *writer) existential(f form, depth int) *node {
	classes := []string{"person", "animal", "event", "document", "furniture"}
	s := w.nounPhrase(classes[w.rng.IntN(len(classes))], depth)
	f.plural = s.plural
	v := word(be(f), "be", "VERB", tense(f))
	v.class = "state"
	v.before = append(v.before, word("there", "there", "PRON", "EX").as("expl"))
	v.after = append(v.after, s.as("nsubj"))
	if w.chance(0.6) {
		v.after = append(v.after, w.oblique(v, depth))
	}
	w.adjuncts(v, depth)
	w.extrapose(v, s)
	return v
}

// passive draws "the letter was written by a teacher".
func (w *writer) passive(f form, depth int) *node {
	class := []string{"action", "perception", "creation", "transfer", "placement", "consumption",
		"relation"}[w.rng.IntN(7)]
	s := w.nounPhrase(objects[class][w.rng.IntN(len(objects[class]))], depth)
	f.plural = s.plural
	v, e := w.verb(class, f)
	v.Form, v.XPOS = e.participle(), "VBN"
	v.before = append(v.before, s.as("nsubj:pass"), word(be(f), "be", "AUX", tense(f)).as("aux:pass"))
	if w.chance(0.15) {
		v.before = append(v.before, w.adverb("manner"))
	}
	if w.chance(0.4) {
		v.after = append(v.after, w.prepositional(site{preposition: "by", class: "person"}, depth+1).as("obl:agent"))
	}
	if w.chance(0.5) {
		v.after = append(v.after, w.oblique(v, depth))
	}
	w.adjuncts(v, depth)
	w.extrapose(v, s)
	return v
}

// relative draws a relative clause about the subject ("who sleeps") or the object, with a pronoun ("that she likes") or
// without ("she likes").
func (w *writer) relative(n *node, depth int) *node {
	pronoun := word("that", "that", "PRON", "WDT")
	person := n.class == "person" || n.class == "group"
	switch {
	case person && w.chance(0.7):
		pronoun = word("who", "who", "PRON", "WP")
	case !person && w.chance(0.4):
		pronoun = word("which", "which", "PRON", "WDT")
	}
	var c *node
	if w.chance(0.6) {
		c = w.predicate(form{past: w.chance(0.6), plural: n.plural}, depth, pronoun)
	} else {
		c = w.objectRelative(pronoun, depth)
	}
	c.clause = true
	if w.chance(0.15) {
		c.before = append([]*node{comma()}, c.before...)
	}
	return c.as("acl:relcl")
}

// objectRelative draws a clause whose object is the pronoun in front of it; pronoun may be nil.
func (w *writer) objectRelative(pronoun *node, depth int) *node {
	class := []string{"perception", "creation", "relation", "relation"}[w.rng.IntN(4)]
	s := w.subject(depth + 1)
	f := form{past: w.chance(0.6), plural: s.plural}
	v, e := w.verb(class, f)
	if w.chance(0.55) {
		v.before = append(v.before, pronoun.as("obj"))
	}
	v.before = append(v.before, s.as("nsubj"))
	w.auxiliaries(v, e, f)
	if w.chance(0.25) {
		v.after = append(v.after, w.oblique(v, depth))
	}
	w.adjuncts(v, depth)
	return v
}

// participial draws "holding a letter" or "made by a baker".
func (w *writer) participial(depth int) *node {
	if w.chance(0.6) {
		v, e := w.verb([]string{"action", "perception", "consumption", "state", "motion"}[w.rng.IntN(5)], form{bare: true})
		v.Form, v.XPOS = e.gerund(), "VBG"
		w.complement(v, depth+1)
		return v.as("acl")
	}
	v, e := w.verb([]string{"perception", "relation", "action", "creation"}[w.rng.IntN(4)], form{bare: true})
	v.Form, v.XPOS = e.participle(), "VBN"
	v.after = append(v.after, w.prepositional(site{preposition: "by", class: "person"}, depth+1).as("obl:agent"))
	return v.as("acl")
}

// question draws "did she sleep in the garden".
func (w *writer) question(depth int) *node {
	f := form{past: w.chance(0.6)}
	s := w.subject(depth + 1)
	f.plural = s.plural
	v := w.predicate(form{bare: true}, depth, nil)
	aux := word(do(f), "do", "AUX", tense(f)).as("aux")
	v.before = append([]*node{aux, s.as("nsubj")}, v.before...)
	v.clause = true
	return v
}

// command draws "open the box with this key".
func (w *writer) command(depth int) *node {
	v := w.predicate(form{bare: true}, depth, nil)
	v.clause = true
	return v
}

// quotation draws “the soup is cold,” said the cook.
func (w *writer) quotation() *node {
	c := w.clause(1)
	v, e := w.verb("speech", form{past: true})
	v.Form = e.past()
	open := word("“", "“", "PUNCT", "``").as("punct")
	end := punctuation("”")
	end.XPOS = "''"
	c.before = append([]*node{open}, c.before...)
	v.before = append(v.before, c.as("ccomp"), comma(), end)
	s := w.subject(2)
	if w.chance(0.5) || s.class == "pronoun" {
		v.before = append(v.before, s.as("nsubj"))
	} else {
		v.after = append(v.after, s.as("nsubj"))
	}
	w.adjuncts(v, 1)
	v.clause = true
	return v
}

func (w *writer) sentence() Sentence {
	mark := "."
	var root *node
	switch u := w.rng.Float64(); {
	case u < 0.05:
		root, mark = w.question(0), "?"
	case u < 0.08:
		root = w.command(0)
	case u < 0.13:
		root = w.quotation()
	case u < 0.23:
		root = w.clause(0)
		second := w.clause(1)
		link := word([]string{"and", "but", "so"}[w.rng.IntN(3)], "", "CCONJ", "CC").as("cc")
		link.Lemma = link.Form
		second.before = append([]*node{comma(), link}, second.before...)
		root.after = append(root.after, second.as("conj"))
	default:
		root = w.clause(0)
		w.opening(root)
	}
	s := linearise(root, mark)
	w.mistag(s)
	return s
}

// opening adds an adverb, a phrase or a clause before a clause, with a comma.
func (w *writer) opening(root *node) {
	var first *node
	switch u := w.rng.Float64(); {
	case u < 0.04:
		first = w.adverb("sentential")
	case u < 0.08:
		first = w.adverb("time")
	case u < 0.13:
		first = w.prepositional(site{preposition: "in", class: "place"}, 1).as("obl")
	case u < 0.2:
		first = w.adverbial(0)
	default:
		return
	}
	root.before = append([]*node{first, comma()}, root.before...)
}

// mistag swaps the parts of speech of some words that can be both nouns and verbs, as a tagger would.
func (w *writer) mistag(s Sentence) {
	for t := range s {
		if !w.chance(w.imperfection) || !homographs()[s[t].Lemma] {
			continue
		}
		switch k := &s[t]; k.XPOS {
		case "NN":
			k.UPOS, k.XPOS = "VERB", "VB"
		case "NNS":
			k.UPOS, k.XPOS = "VERB", "VBZ"
		case "VB", "VBP":
			k.UPOS, k.XPOS = "NOUN", "NN"
		case "VBZ":
			k.UPOS, k.XPOS = "NOUN", "NNS"
		}
	}
}
