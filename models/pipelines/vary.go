package pipelines

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/data/conllu"
)

// A variation writes a sentence as another writer would: its tokens, words and trees stay.
type variation func(s *conllu.Sentence, rng *rand.Rand)

// variations are the manners of writing: treebanks of edited text know one of them, and the web knows all.
var variations = []variation{spaced, unspaced, joined, requoted}

// vary returns sentences of which a share, chosen by the seed, is varied, so that a pipeline knows more manners than
// its treebank has.
func vary(sentences []conllu.Sentence, share float64, seed uint64) []conllu.Sentence {
	const stream = 0x76617279
	rng := rand.New(rand.NewPCG(seed, stream))
	all := copyOf(sentences)
	for i := range all {
		if rng.Float64() < share {
			all[i].Tokens = slices.Clone(all[i].Tokens)
			variations[rng.IntN(len(variations))](&all[i], rng)
		}
	}
	return all
}

// Signs with blanks in some manners: French has one before those of spacedSigns and behind «.
const (
	spacedSigns = "?!;:»"
	closingSign = spacedSigns + ",.…)]”"
	joinedSigns = "?!;:,)"
)

// spaced has a blank before the signs that French has one before.
func spaced(s *conllu.Sentence, _ *rand.Rand) {
	for k := range s.Tokens {
		if k > 0 && isOneOf(s.Tokens[k].Form, spacedSigns) {
			setSpace(&s.Tokens[k-1], true)
		}
		if s.Tokens[k].Form == "«" {
			setSpace(&s.Tokens[k], true)
		}
	}
}

// unspaced has no blank before signs that follow a word.
func unspaced(s *conllu.Sentence, _ *rand.Rand) {
	for k := range s.Tokens {
		if k > 0 && isOneOf(s.Tokens[k].Form, closingSign) && wordEnds(s.Tokens[k-1].Form) {
			setSpace(&s.Tokens[k-1], false)
		}
		if s.Tokens[k].Form == "«" {
			setSpace(&s.Tokens[k], false)
		}
	}
}

// joined has no blank behind signs between words.
func joined(s *conllu.Sentence, _ *rand.Rand) {
	for k := 1; k+1 < len(s.Tokens); k++ {
		if next, _ := utf8.DecodeRuneInString(s.Tokens[k+1].Form); isOneOf(s.Tokens[k].Form, joinedSigns) &&
			unicode.IsLetter(next) && wordEnds(s.Tokens[k-1].Form) {
			setSpace(&s.Tokens[k], false)
		}
	}
}

// Quotes and apostrophes that stand for each other.
var (
	quotePairs  = [][2]string{{"“", "”"}, {"«", "»"}, {"„", "“"}, {`"`, `"`}}
	apostrophes = []string{"’", "’", "´", "ʼ"}
)

// requoted has other quotes, and other apostrophes.
func requoted(s *conllu.Sentence, rng *rand.Rand) {
	pair, curly := quotePairs[rng.IntN(len(quotePairs))], apostrophes[rng.IntN(len(apostrophes))]
	other := strings.NewReplacer("'", curly, "’", "'", "´", "'", "ʼ", "'")
	side := 0
	for k := range s.Tokens {
		t := &s.Tokens[k]
		if t.First == t.Last && isOneOf(t.Form, "\"“”„«»") {
			rewrite(s, t.First, pair[side])
			t.Form, side = pair[side], 1-side
			continue
		}
		t.Form = other.Replace(t.Form)
		for w := t.First; w <= t.Last; w++ {
			rewrite(s, w, other.Replace(s.Words[w].Fields[conllu.Form]))
		}
	}
}

// rewrite gives a word another form, and the lemma that was the same.
func rewrite(s *conllu.Sentence, word int, form string) {
	fields := &s.Words[word].Fields
	if fields[conllu.Lemma] == fields[conllu.Form] {
		fields[conllu.Lemma] = form
	}
	fields[conllu.Form] = form
}

// isOneOf reports whether a form is one of some signs.
func isOneOf(form, signs string) bool {
	r, size := utf8.DecodeRuneInString(form)
	return size == len(form) && strings.ContainsRune(signs, r)
}

// wordEnds reports whether a form ends as words do.
func wordEnds(form string) bool {
	r, _ := utf8.DecodeLastRuneInString(form)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// noSpace says in MISC that no white space follows a token.
const noSpace = "SpaceAfter=No"

// setSpace says in MISC whether white space follows a token.
func setSpace(t *conllu.Token, follows bool) {
	if t.SpaceAfter() == follows {
		return
	}
	items := slices.DeleteFunc(strings.Split(t.Misc, "|"), func(item string) bool {
		return item == noSpace || item == conllu.Empty
	})
	if !follows {
		items = append(items, noSpace)
	}
	if t.Misc = strings.Join(items, "|"); t.Misc == "" {
		t.Misc = conllu.Empty
	}
}
