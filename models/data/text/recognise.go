package text

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// PosColumn is the name of the column that holds parts of speech.
const PosColumn = "pos"

// recognisedTokens is how many tokens at the beginning of a file Recognise looks at.
const recognisedTokens = 20000

// Recognise returns names for the columns of a file whose labels are entity tags: those of DefaultColumns, and pos for
// the first column between them that holds parts of speech. It returns an empty string where there is none, and where
// the file cannot be read, which Read says.
func (c Conll) Recognise(r io.Reader, name string) string {
	h := &conllHead{Conll: c.withColumns()}
	in := newBlocks(r, name)
	if ok, err := h.read(in); !ok || err != nil || len(h.roles) < 3 || h.label != len(h.roles)-1 {
		return ""
	}
	counts := make([]map[string]int, len(h.roles))
	for k := range counts {
		counts[k] = map[string]int{}
	}
	var fields []string
	for tokens := 0; tokens < recognisedTokens; {
		b, more, err := in.next()
		if !more || err != nil {
			break
		}
		for number, line := range b.lines() {
			if IsBlank(line) || docStart(line) || h.isHeader(number) || line[0] == hash[0] { // which may be a comment
				continue
			}
			if fields = h.split(fields[:0], line); len(fields) != len(h.roles) {
				continue
			}
			tokens++
			for k, field := range fields {
				counts[k][field]++
			}
		}
	}
	if !chains.EntityTags(structured.NewAlphabet(keys(counts[h.label])...)) {
		return ""
	}
	for k := 1; k < h.label; k++ {
		if arePartsOfSpeech(counts[k]) {
			return "word=0," + PosColumn + "=" + strconv.Itoa(k) + "," + LabelColumn + "=-1"
		}
	}
	return ""
}

func keys(counts map[string]int) []string {
	var all []string
	for value := range counts {
		all = append(all, value)
	}
	slices.Sort(all)
	return all
}

// knownTags are parts of speech of the Penn Treebank, Universal Dependencies, the Stuttgart-Tübingen tagset, and the
// CoNLL task of 2002. Tags of punctuation, which are punctuation in many tagsets, are no evidence.
var knownTags = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, tag := range strings.Fields(`
		CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS NP NPS PDT POS PRP PRP$ PP PP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB
		ADD AFX GW HYPH NFP XX
		ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ VERB X CONJ
		ADJA ADJD APPR APPRART APPO APZR ART CARD FM ITJ KOUI KOUS KON KOKOM NE PDS PDAT PIS PIAT PIDAT PPER PPOSS PPOSAT PRELS PRELAT PRF PWS PWAT PWAV
		PAV PROAV PTKZU PTKNEG PTKVZ PTKANT PTKA TRUNC VVFIN VVIMP VVINF VVIZU VVPP VAFIN VAIMP VAINF VAPP VMFIN VMINF VMPP XY
		N V Adj Adv Art Conj Int Misc Num Prep Pron Punc`) {
		all[tag] = true
	}
	return all
})

// arePartsOfSpeech reports whether the values of a column are parts of speech: nearly all are known ones or
// punctuation, or they are a closed class of names that begin with a capital.
func arePartsOfSpeech(counts map[string]int) bool {
	if chains.EntityTags(structured.NewAlphabet(keys(counts)...)) {
		return false
	}
	tokens, words, known, named, different := 0, 0, 0, 0, 0
	for value, n := range counts {
		tokens += n
		first := []rune(value)[0]
		if !unicode.IsLetter(first) {
			continue
		}
		words += n
		different++
		if tag, _, _ := strings.Cut(value, "|"); knownTags()[tag] {
			known += n
		}
		if unicode.IsUpper(first) {
			named += n
		}
	}
	switch {
	case different < 3 || 2*words < tokens:
		return false
	case 20*known >= 19*words:
		return true
	}
	const least, most, share = 8, 400, 20 // of a closed class whose tags nobody here knows
	return named == words && different >= least && different <= most && share*different <= tokens
}

// The names that the first line of a file may give its columns, in lower case and without other signs than letters.
var (
	wordNames  = []string{"word", "words", "token", "tokens", "form", "text"}
	otherNames = []string{
		"pos", "postag", "postags", "upos", "xpos", "lemma", "lemmas", "chunk", "chunks", "chunktag", "chunktags", "tag",
		"tags", "label", "labels", "ner", "nertag", "nertags", "ne", "netag", "netags", "entity", "entities", "iob", "bio",
		"iobtag", "gold", "slot", "slots", "target",
	}
)

// namesColumns reports whether the columns of a line are the names of columns: two or more, none twice.
func namesColumns(fields []string) bool {
	if len(fields) < 2 {
		return false
	}
	for k, field := range fields {
		name := strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, field)
		names := otherNames
		if k == 0 {
			names = wordNames
		}
		if !slices.Contains(names, name) || slices.Contains(fields[:k], field) {
			return false
		}
	}
	return true
}

// isHeader reports whether the line of that number names the columns.
func (h *conllHead) isHeader(number int) bool { return h.header && number == h.first }
