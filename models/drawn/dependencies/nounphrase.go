package dependencies

// A site is a kind of prepositional phrase: its preposition and the class of its noun.
type site struct {
	preposition, class string
	weight             int
}

// nounSites are the prepositional phrases that modify each class of nouns. They overlap with those of verbs, so that
// only the words decide the attachment of a phrase, and not always.
var nounSites = map[string][]site{
	"person": {{"with", "part", 6}, {"from", "place", 4}, {"in", "place", 1}, {"with", "tool", 1}, {"of", "group", 1}},
	"animal": {{"with", "part", 5}, {"from", "place", 2}, {"in", "place", 1}},
	"tool":   {{"with", "part", 3}, {"of", "person", 3}, {"on", "furniture", 2}},
	"part":   {{"of", "person", 3}},
	"place":  {{"near", "place", 3}, {"of", "place", 1}, {"in", "place", 2}, {"with", "part", 1}},
	"event":  {{"in", "place", 5}, {"for", "person", 3}, {"with", "person", 2}, {"at", "place", 2}},
	"document": {{"about", "abstract", 4}, {"about", "person", 3}, {"about", "event", 2}, {"from", "person", 2},
		{"on", "furniture", 1}, {"for", "person", 1}},
	"food":      {{"with", "food", 4}, {"from", "place", 2}, {"for", "person", 1}},
	"abstract":  {{"of", "person", 3}, {"about", "event", 2}, {"with", "document", 1}, {"for", "event", 1}},
	"furniture": {{"in", "place", 4}, {"of", "person", 1}, {"with", "part", 2}, {"near", "furniture", 2}},
	"group":     {{"of", "person", 6}, {"from", "place", 3}, {"in", "place", 1}},
	"mass":      {{"for", "event", 2}, {"from", "person", 2}},
}

func (w *writer) pick(sites []site) site {
	total := 0
	for _, s := range sites {
		total += s.weight
	}
	at := w.rng.IntN(total)
	for _, s := range sites {
		if at -= s.weight; at < 0 {
			return s
		}
	}
	return sites[0]
}

// nounPhrase draws a noun phrase of a class. depth counts the phrases around it. The noun's dependents are in word
// order.
func (w *writer) nounPhrase(class string, depth int) *node {
	if class == "person" {
		switch u := w.rng.Float64(); {
		case u < 0.16:
			return w.pronoun()
		case u < 0.34:
			return w.personName(depth)
		}
	}
	if class == "place" && w.chance(0.25) {
		return w.properName("place")
	}
	n := w.noun(class, w.chance(0.3) && class != "mass")
	w.determine(n, depth)
	w.modify(n, depth)
	if depth < 3 && w.chance(0.09) {
		w.coordinate(n, class, depth)
	}
	return n
}

// noun draws a bare noun.
func (w *writer) noun(class string, plural bool) *node {
	e := w.entry(class)
	n := word(e.lemma, e.lemma, "NOUN", "NN")
	if plural {
		n.Form, n.XPOS, n.plural = e.plural(), "NNS", true
	}
	n.class = class
	return n
}

func (w *writer) pronoun() *node {
	p := [][4]string{{"he", "he", "PRP"}, {"she", "she", "PRP"}, {"they", "they", "PRP", "s"}, {"nobody", "nobody", "NN"},
		{"everyone", "everyone", "NN"}, {"we", "we", "PRP", "s"}}
	k := p[w.rng.IntN(len(p))]
	n := word(k[0], k[1], "PRON", k[2])
	n.plural, n.class = k[3] != "", "pronoun"
	return n
}

// object puts a pronoun into the object case.
func object(n *node) *node {
	forms := map[string]string{"he": "him", "she": "her", "they": "them", "we": "us"}
	if form := forms[n.Form]; form != "" && n.class == "pronoun" {
		n.Form = form
	}
	return n
}

func (w *writer) properName(class string) *node {
	text := name(w.rng)
	n := word(text, text, "PROPN", "NNP")
	n.class = class
	return n
}

// personName draws a first name and, often, a family name, a title or an apposition.
func (w *writer) personName(depth int) *node {
	n := w.properName("name")
	if w.chance(0.5) {
		n.after = append(n.after, w.properName("name").as("flat"))
	}
	if depth < 2 && w.chance(0.15) {
		a := w.noun("person", false)
		a.before = append([]*node{comma()}, w.article(a).as("det"))
		if w.chance(0.5) {
			a.after = append(a.after, w.prepositional(w.pick(nounSites["person"]), depth+2).as("nmod"))
		}
		a.after = append(a.after, comma())
		n.after = append(n.after, a.as("appos"))
	}
	return n
}

// article draws an article that fits a noun.
func (w *writer) article(n *node) *node {
	if n.plural || w.chance(0.6) {
		return word("the", "the", "DET", "DT")
	}
	return word("a", "a", "DET", "DT")
}

// determine adds a determiner, a number or a possessor before a noun, followed by adjectives and nouns.
func (w *writer) determine(n *node, depth int) {
	var d *node
	switch u := w.rng.Float64(); {
	case u < 0.1 && depth < 2:
		d = w.noun("person", false)
		if w.chance(0.5) {
			d = w.properName("name")
		} else {
			d.before = append(d.before, w.article(d).as("det"))
		}
		mark := word("'s", "'s", "PART", "POS").as("case")
		mark.Joined = true
		d.after = append(d.after, mark)
		d.as("nmod:poss")
	case u < 0.2:
		p := [][2]string{{"his", "he"}, {"her", "she"}, {"their", "they"}, {"my", "I"}}[w.rng.IntN(4)]
		d = word(p[0], p[1], "PRON", "PRP$").as("nmod:poss")
	case u < 0.3 && n.plural:
		text := []string{"two", "three", "five", "ten", "40"}[w.rng.IntN(5)]
		d = word(text, text, "NUM", "CD").as("nummod")
	case n.plural && u < 0.45 || n.class == "mass":
	case u < 0.55:
		text := []string{"this", "every", "some", "another"}[w.rng.IntN(4)]
		if n.plural {
			text = []string{"these", "some", "many", "no"}[w.rng.IntN(4)]
		}
		d = word(text, text, "DET", "DT").as("det")
	default:
		d = w.article(n).as("det")
	}
	if d != nil {
		n.before = append(n.before, d)
	}
	if w.chance(0.3) {
		n.before = append(n.before, w.adjective().as("amod"))
		if w.chance(0.15) {
			n.before = append(n.before, w.adjective().as("amod"))
		}
	}
	if w.chance(0.12) { // "the market price"; the modifier may have its own modifier: "the city market price"
		m := w.noun([]string{"place", "event", "food", "group", "abstract"}[w.rng.IntN(5)], false)
		if w.chance(0.15) {
			m.before = append(m.before, w.noun("place", false).as("compound"))
		} else if w.chance(0.15) {
			n.before = append(n.before, w.noun("event", false).as("compound"))
		}
		n.before = append(n.before, m.as("compound"))
	}
}

// adjective draws an adjective, sometimes with an adverb of degree.
func (w *writer) adjective() *node {
	lemma := w.entry("adjective").lemma
	a := word(lemma, lemma, "ADJ", "JJ")
	if w.chance(0.1) {
		degree := w.entry("degree").lemma
		a.before = append(a.before, word(degree, degree, "ADV", "RB").as("advmod"))
	}
	return a
}

// prepositional draws a prepositional phrase. The caller sets its relation.
func (w *writer) prepositional(s site, depth int) *node {
	n := object(w.nounPhrase(s.class, depth))
	n.before = append([]*node{word(s.preposition, s.preposition, "ADP", "IN").as("case")}, n.before...)
	return n
}

// modify adds prepositional phrases and clauses after a noun.
func (w *writer) modify(n *node, depth int) {
	rates := []float64{0.28, 0.15, 0.06}
	if depth >= len(rates) {
		return
	}
	if w.chance(rates[depth]) {
		n.after = append(n.after, w.prepositional(w.pick(nounSites[n.class]), depth+1).as("nmod"))
	}
	switch u := w.rng.Float64() / rates[depth]; {
	case u < 0.3:
		n.after = append(n.after, w.relative(n, depth+1))
	case u < 0.4:
		n.after = append(n.after, w.participial(depth+1))
	}
}

// coordinate adds one or two phrases of the same class with "and" or "or".
func (w *writer) coordinate(n *node, class string, depth int) {
	lemma := []string{"and", "and", "and", "or"}[w.rng.IntN(4)]
	members := 1
	if w.chance(0.2) {
		members = 2
	}
	for k := range members {
		m := w.noun(class, w.chance(0.4) && class != "mass")
		if w.chance(0.7) {
			w.determine(m, depth+2)
		}
		link := comma()
		if k == members-1 {
			link = word(lemma, lemma, "CCONJ", "CC").as("cc")
		}
		m.before = append([]*node{link}, m.before...)
		if w.chance(0.2) {
			m.after = append(m.after, w.prepositional(w.pick(nounSites[class]), depth+2).as("nmod"))
		}
		n.after = append(n.after, m.as("conj"))
	}
	n.plural = true
}
