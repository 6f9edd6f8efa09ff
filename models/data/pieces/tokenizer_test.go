package pieces

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// read returns a tokenizer of the test data.
func read(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func parse(t testing.TB, name string) *Tokenizer {
	t.Helper()
	tok, err := Parse(read(t, name), name)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// The numbers of pieces are those of the library tokenizers, which bench/pieces.py stored.
func TestReference(t *testing.T) {
	files, err := filepath.Glob("testdata/*.answers.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".answers.json")
		t.Run(name, func(t *testing.T) {
			var want struct {
				Size           int
				Prefix, Suffix []int32
				Words          []string
				IDs            [][]int32
			}
			text, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(text, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			tok := parse(t, name)
			if tok.Size != want.Size || !slices.Equal(tok.Prefix, want.Prefix) || !slices.Equal(tok.Suffix, want.Suffix) {
				t.Errorf("size %d and pieces %v, %v around, want %d, %v, %v", tok.Size, tok.Prefix, tok.Suffix,
					want.Size, want.Prefix, want.Suffix)
			}
			c := tok.NewCutter()
			for range 2 { // afresh, then kept
				for k, word := range want.Words {
					expected := want.IDs[k]
					if len(expected) == 0 {
						expected = []int32{tok.Unknown}
					}
					got, err := c.Cut([]int32{-7}, word)
					if err != nil {
						t.Fatal(err)
					}
					if got[0] != -7 || !slices.Equal(got[1:], expected) {
						t.Errorf("%q: %v, want %v", word, got, expected)
					}
				}
			}
		})
	}
}

// Long words, empty ones and ones that are not text have pieces, too.
func TestStrangeWords(t *testing.T) {
	for _, name := range []string{"wordpiece", "bytelevel", "unigram", "sentencepiece-bpe"} {
		c := parse(t, name).NewCutter()
		for _, word := range []string{"", "\u200b", "\xff\xfe", "a\x00b", strings.Repeat("long", 2500),
			strings.Repeat("\xe6\x9d", 3000)} {
			ids, err := c.Cut(nil, word)
			if err != nil || len(ids) == 0 {
				t.Errorf("%s, %.20q: pieces %v, error %v", name, word, ids, err)
			}
		}
	}
	if ids, _ := parse(t, "bytelevel").NewCutter().Cut(nil, strings.Repeat("long", 2500)); len(ids) < 1000 {
		t.Errorf("%d pieces of a word of 10,000 letters", len(ids))
	}
}

// A cutter forgets words when it knows too many, and answers the same.
func TestCutterForgets(t *testing.T) {
	c := parse(t, "wordpiece").NewCutter()
	first, _ := c.Cut(nil, "certificate")
	for k := range mostKept + 10 {
		word := []byte{'a' + byte(k%26), 'a' + byte(k/26%26), 'a' + byte(k/676%26), 'a' + byte(k/17576%26)}
		if _, err := c.Cut(nil, string(word)); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := c.Cut(nil, "certificate"); !slices.Equal(first, again) || len(c.kept) > mostKept {
		t.Errorf("%v, then %v, with %d words kept", first, again, len(c.kept))
	}
}

// What is wrong with a file is said in a sentence.
func TestBadFiles(t *testing.T) {
	good := string(read(t, "wordpiece"))
	bpe := string(read(t, "bytelevel"))
	replace := func(s, old, with string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("no %s in the test data", old)
		}
		return strings.Replace(s, old, with, 1)
	}
	for _, c := range []struct{ name, content, says string }{
		{"cut in the middle", good[:len(good)/2], "ends in the middle"},
		{"empty", "", "ends in the middle"},
		{"not JSON", "{x", "byte 2"},
		{"a list", "[1]", "not what a tokenizer.json holds"},
		{"no model", "{}", "no model"},
		{"another model", replace(good, `"WordPiece"`, `"WordLevel"`), `"WordLevel"`},
		{"another normaliser", replace(good, `"BertNormalizer"`, `"Magic"`), `"Magic"`},
		{"another splitter", replace(good, `"BertPreTokenizer"`, `"Magic"`), `"Magic"`},
		{"another post-processor", replace(good, `"TemplateProcessing"`, `"Magic"`), `"Magic"`},
		{"a negative number", replace(good, `"[UNK]":1`, `"[UNK]":-1`), "-1"},
		{"no unknown piece", replace(good, `"unk_token":"[UNK]"`, `"unk_token":"[???]"`), "[???]"},
		{"a merge of one", replace(bpe, `"merges":[[`, `"merges":[["only"],[`), "merge"},
		{"a merge of unknown pieces", replace(bpe, `"merges":[[`, `"merges":[["日","本"],[`), "merge 1"},
		{"a pattern that Go has not",
			replace(good, `{"type":"BertPreTokenizer"}`,
				`{"type":"Split","pattern":{"Regex":"\\s+(?!\\S)"},"behavior":"Isolated"}`),
			"not one that Go knows"},
		{"no pattern", replace(good, `{"type":"BertPreTokenizer"}`, `{"type":"Split","behavior":"Isolated"}`), "no pattern"},
		{"no pattern to replace", replace(good, `{"type":"BertNormalizer"`, `{"type":"Replace"`), "no pattern"},
		{"an empty pattern", replace(good, `{"type":"BertPreTokenizer"}`,
			`{"type":"Split","pattern":{"String":""},"behavior":"Isolated"}`), "expected a String"},
		{"an empty mark", replace(good, `{"type":"BertPreTokenizer"}`, `{"type":"Metaspace","replacement":""}`),
			"replacement is empty"},
	} {
		_, err := Parse([]byte(c.content), "x/tokenizer.json")
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "x/tokenizer.json: ") {
			t.Errorf("%s: %v, expected a message with %q", c.name, err, c.says)
		}
		if !structured.IsBadInput(err) {
			t.Errorf("%s: %v is not bad input", c.name, err)
		}
	}
}

// A folder without a tokenizer says what to do.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "no such folder") {
		t.Error(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "no tokenizer.json in this folder") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vocab.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "only vocab.txt") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, TokenizerFile), read(t, "wordpiece"), 0o666); err != nil {
		t.Fatal(err)
	}
	tok, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for size, fits := range map[int]bool{tok.Size: true, tok.Size + 8: true, tok.Size - 1: false, 2 * tok.Size: false} {
		if err := tok.Fits(size); (err == nil) != fits {
			t.Errorf("%d pieces for an encoder of %d: %v", tok.Size, size, err)
		}
	}
}

// A file with a mistake anywhere gives a tokenizer or an error.
func TestDamagedFiles(t *testing.T) {
	for _, name := range names {
		content := read(t, name)
		for at := 0; at < len(content); at += 1 + len(content)/400 {
			for _, damaged := range [][]byte{
				slices.Concat(content[:at], content[at+1:]),
				slices.Concat(content[:at], []byte("9"), content[at:]),
				slices.Concat(content[:at], []byte(`"",`), content[at:]),
			} {
				if tok, err := Parse(damaged, "damaged"); err == nil {
					cut(t, tok, "don't \u200bЁé 東京 <mask>")
				}
			}
		}
	}
}

// Any file gives a tokenizer or an error, in bounded memory.
func FuzzFile(f *testing.F) {
	for _, name := range names {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if tok, err := Parse(content, "fuzz"); err == nil {
			cut(t, tok, "don't \u200bЁé 東京 <mask>")
		}
		runtime.ReadMemStats(&after)
		if taken, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+1024*len(content)); taken > most {
			t.Errorf("%d bytes took %d, expected at most %d", len(content), taken, most)
		}
	})
}

// Any word has pieces.
func FuzzWord(f *testing.F) {
	var all []*Tokenizer
	for _, name := range names {
		all = append(all, parse(f, name))
	}
	for _, word := range []string{"don't", "\u200b", "Ёé 東京", "<mask> x", "\xff\xf0\x80", " \t\u2028 a"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		for _, tok := range all {
			cut(t, tok, word)
		}
	})
}

var names = []string{"wordpiece", "bytelevel", "unigram", "sentencepiece-bpe", "unigram-nfkd", "split-bytelevel"}

// cut cuts a word, and checks that the tokenizer has its pieces.
func cut(t *testing.T, tok *Tokenizer, word string) {
	ids, err := tok.cut(nil, word)
	if err != nil && !structured.IsBadInput(err) {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id < 0 || int(id) >= tok.Size {
			t.Fatalf("piece %d of %d", id, tok.Size)
		}
	}
}

// The longest word that has pieces is counted in characters, not in bytes.
func TestLongestWordInCharacters(t *testing.T) {
	w := &wordPiece{vocabulary: vocabulary{"é": 1, "##é": 2}, continuing: "##", most: 5, longest: 4, unknown: 0}
	if got := w.cut(nil, "ééééé"); !slices.Equal(got, []int32{1, 2, 2, 2, 2}) {
		t.Errorf("five characters are %v", got)
	}
	if got := w.cut(nil, "éééééé"); !slices.Equal(got, []int32{0}) {
		t.Errorf("six characters are %v", got)
	}
}

// A character without a piece of its own is unknown only where no longer piece has it, however improbable that is.
func TestUnknownIsTheLastResort(t *testing.T) {
	unknown := 0
	u, err := newUnigram([]byte(`[["<unk>", 0], ["a", -1], ["ab", -9], ["c", -2]]`), &unknown, false)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]int32{"ab": {2}, "aba": {2, 1}, "ac": {1, 3}, "ad": {1, 0}, "cab": {3, 2}} {
		if got := u.cut(nil, text); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// Words are split where the expression of GPT-2 says: before each of its contractions, signs and numbers, with the
// blank before.
func TestGPT2Split(t *testing.T) {
	for text, want := range map[string][]string{
		"we'll": {"we", "'ll"}, "it's": {"it", "'s"}, "don't": {"don", "'t"}, "they're": {"they", "'re"},
		"I've": {"I", "'ve"}, "I'm": {"I", "'m"}, "he'd": {"he", "'d"}, "o'lx": {"o", "'", "lx"},
		"a 12!?": {"a", " 12", "!?"}, "a  b": {"a", " ", " b"}, "a \n": {"a", " \n"},
	} {
		var got []string
		gpt2Split(text, func(part string) { got = append(got, part) })
		if !slices.Equal(got, want) {
			t.Errorf("%q is split into %q, want %q", text, got, want)
		}
	}
}

// BERT sets the ideographs of its blocks apart, first and last ones included, and nothing just outside of them.
func TestIdeographs(t *testing.T) {
	for _, block := range [][2]rune{{0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x2a6df},
		{0x2a700, 0x2b73f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}} {
		for r, want := range map[rune]bool{block[0] - 1: false, block[0]: true, block[1]: true} {
			if isChinese(r) != want {
				t.Errorf("%U: %v, expected %v", r, !want, want)
			}
		}
	}
	for _, r := range "aé–かハ한" {
		if isChinese(r) {
			t.Errorf("%c", r)
		}
	}
}
