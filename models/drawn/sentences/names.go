package sentences

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// nameKinds describes the kinds of names: how many there are, which share also belongs to other kinds, which share are
// common English words, and the endings of the others.
var nameKinds = []struct {
	symbol        string
	names         int
	shared, words float64
	endings       []string
}{
	{"First", 400, 0.1, 0.05, strings.Fields("a ia o an el ine us")},
	{"Family", 2500, 0.6, 0.05, strings.Fields("son sen ov ez er ini ski man")},
	{"Place", 1500, 0.6, 0.05, strings.Fields("ton burg ham stead mouth ville grad by")},
	{"Brand", 1000, 0.5, 0.1, strings.Fields("ex tech co ix ware line")},
}

const (
	sharedNames = 2000 // names in the pool that kinds share
	acronyms    = 300
	endingShare = 0.4 // share of names with an ending, among those that are not shared
)

// drawNames draws the names of every kind, frequent ones first: the world that sentences talk about.
func drawNames(rng *rand.Rand) map[string]*WordSampler {
	common := map[string]bool{}
	for _, word := range English() {
		common[word] = true
	}
	stem := func() string {
		for {
			if s := drawStem(rng); !common[s] {
				return capitalised(s)
			}
		}
	}
	shared := make([]string, sharedNames)
	for i := range shared {
		shared[i] = stem()
	}
	names := map[string]*WordSampler{}
	for _, kind := range nameKinds {
		list := make([]string, kind.names)
		for i := range list {
			switch u := rng.Float64(); {
			case u < kind.shared:
				list[i] = shared[rng.IntN(len(shared))]
			case u < kind.shared+kind.words:
				list[i] = capitalised(English()[rng.IntN(len(English()))])
			default:
				list[i] = stem()
				if rng.Float64() < endingShare {
					list[i] = strings.TrimRight(list[i], "aeiouéö") + kind.endings[rng.IntN(len(kind.endings))]
				}
			}
		}
		names[kind.symbol] = NewWordSampler(list)
	}
	names["Acronym"] = NewWordSampler(drawAcronyms(rng))
	return names
}

var (
	onsets = strings.Fields("b b br d d dr f fl gl gr h h j kl kr l l m m n n r r st t t th tr v v w")
	vowels = strings.Fields("a a a e e e i i o o u ai ea ou é ö")
	codas  = append(strings.Fields("l l ld lm m n n nd r r rn st th"), slices.Repeat([]string{""}, 15)...)
)

// drawStem draws a word of one to three syllables, mostly two.
func drawStem(rng *rand.Rand) string {
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	var s strings.Builder
	for range 1 + (2+rng.IntN(5))/3 {
		s.WriteString(pick(onsets) + pick(vowels) + pick(codas))
	}
	return s.String()
}

func drawAcronyms(rng *rand.Rand) []string {
	list := make([]string, acronyms)
	for i := range list {
		for range 2 + rng.IntN(3) {
			list[i] += string(rune('A' + rng.IntN(26)))
		}
	}
	return list
}

// capitalised returns a word with its first letter in upper case.
func capitalised(word string) string {
	letters := []rune(word)
	letters[0] = unicode.ToUpper(letters[0])
	return string(letters)
}
