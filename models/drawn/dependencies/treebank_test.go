package dependencies

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/structured"
)

// drawn returns the three files and the treebanks read from them.
func drawn(t *testing.T, o Options) (texts [3][]byte, banks [3]*treebank.Treebank) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new")
	if err := Write(dir, o); err != nil {
		t.Fatal(err)
	}
	for i, p := range o.Parts() {
		var err error
		if texts[i], err = os.ReadFile(filepath.Join(dir, p.Name+".conllu")); err != nil {
			t.Fatal(err)
		}
		if banks[i], err = (treebank.Reader{}).Read(bytes.NewReader(texts[i]), p.Name); err != nil {
			t.Fatal(err)
		}
	}
	return texts, banks
}

// The files can be read, have all promised columns, and are written back with the same bytes.
func TestWrite(t *testing.T) {
	o := Options{Train: 600, Dev: 100, Test: 200, Extraposition: 0.1, Seed: 5}
	texts, banks := drawn(t, o)
	for i, b := range banks {
		if n := []int{600, 100, 200}[i]; b.Len() != n {
			t.Errorf("%s: %d sentences, want %d", b.Data.Name, b.Len(), n)
		}
		if mean := float64(b.Data.Positions()) / float64(b.Len()); mean < 10 || mean > 22 {
			t.Errorf("%s: %.1f words per sentence", b.Data.Name, mean)
		}
		var out bytes.Buffer
		if err := b.Write(&out, func(i int) treebank.Prediction {
			return treebank.Prediction{Tree: b.Tree(i)}
		}); err != nil || !bytes.Equal(out.Bytes(), texts[i]) {
			t.Errorf("%s: differs when written back: %v", b.Data.Name, err)
		}
		for _, c := range []int{treebank.Form, treebank.Lemma, treebank.UPOS, treebank.XPOS} {
			if k := slices.Index(b.Data.Columns[c], "_"); k >= 0 {
				t.Errorf("column %d of word %d is missing", c, k)
			}
		}
	}
	if first := banks[2].Data.IDs[0]; first != "test-1" {
		t.Errorf("the first sentence is called %s", first)
	}
	want := strings.Fields("acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp compound conj cop det expl " +
		"flat iobj mark nmod nmod:poss nsubj nsubj:pass nummod obj obl obl:agent obl:tmod punct root xcomp")
	if got := banks[0].Names.Names(); !slices.Equal(got, want) {
		t.Errorf("relations %q\nwant %q", got, want)
	}
}

// Treebank gives the same words as the file.
func TestColumns(t *testing.T) {
	p := DefaultOptions().Parts()[0]
	p.Sentences = 200
	b, err := p.Treebank(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Sentences {
		for c, column := range p.Sentence(i).Columns() {
			if !slices.Equal(column, b.Column(i, c)) {
				t.Fatalf("sentence %d, column %d: %q, in the file %q", i, c, column, b.Column(i, c))
			}
		}
	}
}

// The words, multiword tokens and SpaceAfter=No of a file reproduce its text.
func TestText(t *testing.T) {
	var file bytes.Buffer
	if err := (Options{Train: 3000, Seed: 3}).Parts()[0].Write(&file); err != nil {
		t.Fatal(err)
	}
	text, want := "", ""
	multiword, covered := 0, 0 // lines of words covered by the previous multiword token
	for line := range strings.Lines(file.String()) {
		line = strings.TrimSuffix(line, "\n")
		fields := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "# text = "):
			want = strings.TrimPrefix(line, "# text = ")
		case line == "":
			checkText(t, strings.TrimSuffix(text, " "), want)
			text = ""
		case len(fields) < treebank.ColumnCount:
		case covered > 0:
			covered--
		default:
			if strings.Contains(fields[treebank.ID], "-") {
				multiword++
				covered = 2
			}
			text += fields[treebank.Form]
			if fields[treebank.Misc] != "SpaceAfter=No" {
				text += " "
			}
		}
	}
	if multiword < 300 {
		t.Errorf("%d multiword tokens", multiword)
	}
}

func checkText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, slip := range []string{" ,", ",,", ",.", ",?", "  ", " a a", " a i", " a e", " a o", " .", "\t", "_"} {
		if strings.Contains(want, slip) {
			t.Errorf("%q in %q", slip, want)
		}
	}
}

// Only extraposition makes trees that are not projective.
func TestExtraposition(t *testing.T) {
	shares := []float64{}
	for _, rate := range []float64{0, 0.1, 1} {
		p := Options{Train: 1000, Extraposition: rate, Seed: 2}.Parts()[0]
		b, err := p.Treebank(nil)
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, float64(b.Crossing().Sentences)/1000)
	}
	if shares[0] != 0 || shares[1] < 0.02 || shares[1] > 0.08 || shares[2] < 0.2 {
		t.Errorf("shares of sentences that are not projective: %v", shares)
	}
}

// A sentence depends only on the seed and its place in its set.
func TestSeed(t *testing.T) {
	o := Options{Train: 50, Dev: 50, Test: 50, Seed: 9}
	texts, _ := drawn(t, o)
	if again, _ := drawn(t, o); !bytes.Equal(slices.Concat(texts[:]...), slices.Concat(again[:]...)) {
		t.Error("the same seed gives different sentences")
	}
	if bytes.Equal(bytes.ReplaceAll(texts[0], []byte("train-"), []byte("dev-")), texts[1]) {
		t.Error("the sets have the same sentences")
	}
	o.Train = 60
	if larger, _ := drawn(t, o); !bytes.HasPrefix(larger[0], texts[0]) || !bytes.Equal(larger[2], texts[2]) {
		t.Error("a sentence depends on the number of sentences")
	}
	o.Seed = 10
	if other, _ := drawn(t, o); bytes.HasPrefix(other[0], texts[0][:200]) {
		t.Error("another seed gives the same sentences")
	}
}

// Word order alone does not determine the attachment of a phrase, and words alone do not determine their part of
// speech.
func TestAmbiguity(t *testing.T) {
	_, banks := drawn(t, DefaultOptions())
	train, test := banks[0], banks[2]
	verbs, nouns := map[string]int{}, map[string]int{}
	tags := map[string]map[string]int{}
	known := map[string]bool{}
	unseen, words := 0, 0
	for i := range train.Len() {
		heads, forms, upos := train.Tree(i).Heads, train.Column(i, treebank.Form), train.Column(i, treebank.UPOS)
		names := train.Tree(i).Relations
		for d, h := range heads {
			known[forms[d]] = true
			if tags[forms[d]] == nil {
				tags[forms[d]] = map[string]int{}
			}
			tags[forms[d]][upos[d]]++
			if upos[d] != "ADP" || h == 0 || d == 0 {
				continue
			}
			switch n := int(h) - 1; train.Names.Name(names[n]) { // a phrase that follows an object
			case "nmod":
				if to := heads[n]; int(to) == d && train.Names.Name(names[to-1]) == "obj" {
					nouns[forms[d]]++
				}
			case "obl":
				if k := d - 1; train.Names.Name(names[k]) == "obj" && heads[k] == heads[n] {
					verbs[forms[d]]++
				}
			}
		}
	}
	for i := range test.Len() {
		for _, form := range test.Column(i, treebank.Form) {
			words++
			if !known[form] {
				unseen++
			}
		}
	}
	for _, preposition := range []string{"with", "in", "for", "from"} {
		if verbs[preposition] < 10 || nouns[preposition] < 10 {
			t.Errorf("%s belongs %d times to the verb and %d times to its object", preposition,
				verbs[preposition], nouns[preposition])
		}
	}
	both := 0
	for _, uses := range tags {
		if uses["NOUN"] > 2 && uses["VERB"] > 2 {
			both++
		}
	}
	if both < 15 {
		t.Errorf("%d words are both nouns and verbs", both)
	}
	if share := float64(unseen) / float64(words); share < 0.005 || share > 0.1 {
		t.Errorf("%.3f of the test words are unseen", share)
	}
}

// Some words that can be nouns or verbs have the wrong tag; mistagging changes nothing else.
func TestMistagged(t *testing.T) {
	wrong, words := 0, 0
	for i := range 500 {
		right := (&writer{rng: rand.New(rand.NewPCG(1, uint64(i)))}).sentence()
		drawn := (&writer{rng: rand.New(rand.NewPCG(1, uint64(i))), imperfection: 0.5}).sentence()
		for k := range right {
			if drawn[k].UPOS != right[k].UPOS {
				wrong++
				if !homographs()[right[k].Lemma] || right[k].UPOS+drawn[k].UPOS != "NOUNVERB" &&
					right[k].UPOS+drawn[k].UPOS != "VERBNOUN" {
					t.Errorf("%+v was drawn as %+v", right[k], drawn[k])
				}
			}
			drawn[k].UPOS, drawn[k].XPOS = right[k].UPOS, right[k].XPOS
		}
		if !slices.Equal(right, drawn) {
			t.Fatalf("sentence %d differs with wrong tags", i)
		}
		words += len(right)
	}
	if share := float64(wrong) / float64(words); share < 0.01 || share > 0.1 {
		t.Errorf("%.3f of all words have the wrong tag", share)
	}
}

func TestValidate(t *testing.T) {
	for _, o := range []Options{{Train: -1}, {Dev: -1}, {Test: -1}, {Extraposition: -0.1}, {Extraposition: 1.1},
		{Extraposition: math.NaN()}} {
		if err := Write(filepath.Join(t.TempDir(), "x"), o); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// The lexicon has words for every class that the grammar uses.
func TestLexicon(t *testing.T) {
	words := lexicon()
	for class, sites := range nounSites {
		checkSites(t, class, sites)
	}
	for class, sites := range verbSites {
		checkSites(t, class, sites)
		for _, object := range objects[class] {
			if words[object] == nil || nounSites[object] == nil {
				t.Errorf("objects of %s: no class %s", class, object)
			}
		}
	}
	for class, entries := range words {
		seen := map[string]bool{}
		for _, e := range entries {
			if e.lemma == "" || seen[e.lemma] || len(e.forms) > 2 {
				t.Errorf("%s: %+v", class, e)
			}
			seen[e.lemma] = true
		}
	}
	for _, word := range strings.Fields("plan report watch guard fish") {
		if !homographs()[word] {
			t.Errorf("%s is not both a noun and a verb", word)
		}
	}
	if homographs()["teacher"] || homographs()["sleep"] {
		t.Error("teacher or sleep are both nouns and verbs")
	}
}

func checkSites(t *testing.T, class string, sites []site) {
	t.Helper()
	if lexicon()[class] == nil || len(sites) == 0 {
		t.Errorf("no words of class %s, or no phrases", class)
	}
	for _, s := range sites {
		if lexicon()[s.class] == nil || nounSites[s.class] == nil || s.weight < 1 || s.preposition == "" {
			t.Errorf("%s: %+v", class, s)
		}
	}
}

func TestInflection(t *testing.T) {
	find := func(class, lemma string) entry {
		for _, e := range lexicon()[class] {
			if e.lemma == lemma {
				return e
			}
		}
		t.Fatalf("no %s in %s", lemma, class)
		return entry{}
	}
	for lemma, plural := range map[string]string{"man": "men", "nurse": "nurses", "coach": "coaches", "baker": "bakers"} {
		if find("person", lemma).plural() != plural {
			t.Error(find("person", lemma).plural())
		}
	}
	if find("event", "party").plural() != "parties" || find("tool", "key").plural() != "keys" || withS("fix") != "fixes" ||
		withS("catch") != "catches" {
		t.Error("plurals")
	}
	for lemma, want := range map[string][3]string{
		"try": {"tried", "tried", "trying"}, "plan": {"planned", "planned", "planning"}, "hope": {"hoped", "hoped", "hoping"},
		"need": {"needed", "needed", "needing"},
	} {
		if e := find("control", lemma); [3]string{e.past(), e.participle(), e.gerund()} != want {
			t.Error(e.past(), e.participle(), e.gerund())
		}
	}
	for lemma, want := range map[string][3]string{
		"tie": {"tied", "tied", "tying"}, "cut": {"cut", "cut", "cutting"}, "break": {"broke", "broken", "breaking"},
	} {
		if e := find("action", lemma); [3]string{e.past(), e.participle(), e.gerund()} != want {
			t.Error(e.past(), e.participle(), e.gerund())
		}
	}
	if e := find("perception", "see"); e.gerund() != "seeing" || e.participle() != "seen" {
		t.Error(e.gerund(), e.participle())
	}
}

func BenchmarkSentence(b *testing.B) {
	p := DefaultOptions().Parts()[0]
	var text []byte
	i := 0
	for b.Loop() {
		text = p.Sentence(i).appendConllu(text[:0], "x")
		i++
	}
}
