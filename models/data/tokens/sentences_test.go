package tokens

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

func show(all []Sentence) string {
	var lines []string
	for _, s := range all {
		var words []string
		for _, token := range s.Tokens {
			words = append(words, token.Text)
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "|")
}

func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"Mr. Smith lives. He works.":                      "Mr. Smith lives .|He works .",
		"The U.S. Army left the U.S. Then it rained.":     "The U.S. Army left the U.S.|Then it rained .",
		"Fruit, e.g. this one (i.e. John's).":             "Fruit , e.g. this one ( i.e. John 's ) .",
		"J. R. Smith and I. Then we left.":                "J. R. Smith and I .|Then we left .",
		"Is it No. 5? No. He left Acme Inc. The end":      "Is it No. 5 ?|No .|He left Acme Inc .|The end",
		"Acme Inc. Chairman Dr. Lee quit at 5 p.m. today": "Acme Inc. Chairman Dr. Lee quit at 5 p.m. today",
		"It is\nnot\r\nover. Or\nis it?":                  "It is not over .|Or is it ?",
		"A title\n\nSome text\n \t\nMore":                 "A title|Some text|More",
		"Wait... What?! \"Yes.\" OK -- fine":              "Wait ...|What ? !|\" Yes . \"|OK -- fine",
		"\ufeffHi.\u200b \x00 \u00ad\n\n\n":               "Hi .",
		"Il habite à Paris. Où ?":                         "Il habite à Paris .|Où ?",
		"我住在罗马。你呢？":                                       "我 住 在 罗 马 。|你 呢 ？",
		" \n\n ":                                          "",
		"":                                                "",
		"see vol. 3, pp. 5 f. and 3.5 ... it":             "see vol. 3 , pp. 5 f . and 3.5 ... it",
	} {
		if got := show(Rules{Splitter: Unicode{}}.Split(text)); got != want {
			t.Errorf("%q: %s, expected %s", text, got, want)
		}
	}
	want := "John sings|Mary dances .|Well|End"
	if got := show(Rules{Splitter: Unicode{}, Lines: true}.Split("John sings\nMary dances. Well\n\nEnd")); got != want {
		t.Errorf("lines: %s", got)
	}
}

// A sentence has bounds, whatever the text.
func TestLongSentences(t *testing.T) {
	for name, text := range map[string]string{
		"tokens": strings.Repeat("a ", 5*maxTokens/2), "bytes": strings.Repeat("é", 3*maxBytes/2),
		"words": strings.Repeat(strings.Repeat("x", 999)+" ", 200),
	} {
		all := Rules{Splitter: Unicode{}}.Split(text)
		if len(all) < 3 {
			t.Errorf("%s: %d sentences", name, len(all))
		}
		for _, s := range all {
			if n := len(s.Tokens); n > maxTokens || s.Tokens[n-1].End-s.Start > maxBytes {
				t.Errorf("%s: %d tokens", name, n)
			}
		}
	}
}

// Splitting takes time in proportion to the text, whatever it is: a megabyte in a second, not an hour.
func TestLinear(t *testing.T) {
	for _, part := range []string{".", "漢.", "-Mr.漢", "a. 1 ", "a.", "\u0301", "'", "a'", ". ", "5. ", "\n", "a\n", "?!",
		"\x00", "U.S.", "a:\u0301", "Mr. "} {
		text := strings.Repeat(part, 1<<18/len(part))
		found := 0
		for _, s := range (Rules{Splitter: Unicode{}}).Split(text) {
			found += len(s.Tokens)
		}
		if found == 0 && strings.TrimFunc(part, Invisible) != "" {
			t.Errorf("%q: no tokens", part)
		}
	}
}

func drawText(t *rapid.T) string {
	parts := []string{"Mr.", "U.S.", "e.g.", "The", "the", "dog", "J.", "No.", "5", "3.14", ".", "!", "?", "...", "\"",
		"(", ")", " ", " ", " ", "\n", "\n", "\r\n", "\n\n", "\t", "é", "e\u0301", "İ’LL", "漢字", "。", "\u200d", "\u3000",
		"\u2028", "\x00", "\ufeff", "👩\u200d🚀", "-", "'", "'s", "n't", ",", "\u202f"}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 60).Draw(t, "text"), "")
}

// Offsets find the tokens in the text, in order, and only invisible characters are between them.
func TestSentenceOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		runes, at := []rune(text), 0
		for _, s := range (Rules{Splitter: Unicode{}, Lines: rapid.Bool().Draw(t, "lines")}).Split(text) {
			if len(s.Tokens) == 0 || s.Start != s.Tokens[0].Start {
				t.Fatalf("%q: sentence %+v", text, s)
			}
			for _, token := range s.Tokens {
				if token.Start < at || token.End <= token.Start || string(runes[token.Start:token.End]) != token.Text ||
					strings.ContainsAny(token.Text, " \t\r\n") {
					t.Fatalf("%q: token %+v", text, token)
				}
				if strings.TrimFunc(string(runes[at:token.Start]), Invisible) != "" {
					t.Fatalf("%q: %q is in no token", text, string(runes[at:token.Start]))
				}
				at = token.End
			}
		}
		if strings.TrimFunc(string(runes[at:]), Invisible) != "" {
			t.Fatalf("%q: %q is in no token", text, string(runes[at:]))
		}
	})
}

// pieces returns the sentences of a stream, and checks that the pieces are the text.
func pieces(t interface{ Fatalf(string, ...any) }, r io.Reader, text string, rules Rules) []Sentence {
	var all []Sentence
	var whole strings.Builder
	p := NewChunks(r, "text", rules)
	for {
		piece, more, err := p.Next()
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !more {
			break
		}
		if before := whole.String(); piece.Start != utf8.RuneCountInString(before) ||
			piece.Line != 1+strings.Count(before, "\n") {
			t.Fatalf("%q: piece %+v", text, piece)
		}
		whole.WriteString(piece.Text)
		for _, s := range rules.Split(piece.Text) {
			s.Start += piece.Start
			for k := range s.Tokens {
				s.Tokens[k].Start += piece.Start
				s.Tokens[k].End += piece.Start
			}
			all = append(all, s)
		}
	}
	if whole.String() != text {
		t.Fatalf("%q: pieces are %q", text, whole.String())
	}
	return all
}

// However a text arrives, its sentences are those of the whole.
func TestStreamIsWhole(t *testing.T) {
	read, long := readSize, longParagraph
	defer func() { readSize, longParagraph = read, long }()
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		readSize, longParagraph = rapid.IntRange(1, 40).Draw(t, "read"), rapid.IntRange(1, 80).Draw(t, "long")
		rules := Rules{Splitter: Unicode{}, Lines: rapid.Bool().Draw(t, "lines")}
		want := rules.Split(text)
		if got := pieces(t, strings.NewReader(text), text, rules); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %s, whole %s", text, show(got), show(want))
		}
	})
}

// A paragraph is a piece before more text arrives, and a long one is cut.
func TestPieces(t *testing.T) {
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, "One.\nTwo.\n\n") }() // the text goes on, but not yet
	p, more, err := NewChunks(r, "text", Rules{Splitter: Unicode{}}).Next()
	if err != nil || !more || p.Text != "One.\nTwo.\n\n" {
		t.Errorf("%+v, %v, %v", p, more, err)
	}
	_ = r.Close()
	text := strings.Repeat("It goes on. And on\nand on.\n", 50000)
	p, _, _ = NewChunks(strings.NewReader(text), "text", Rules{Splitter: Unicode{}}).Next()
	if len(p.Text) > 2*longParagraph || !strings.HasSuffix(p.Text, ".\n") && !strings.HasSuffix(p.Text, ". ") {
		t.Errorf("a piece of %d bytes ends in %q", len(p.Text), p.Text[len(p.Text)-9:])
	}
}

func TestBadText(t *testing.T) {
	for text, want := range map[string]string{"a\nb\xff c": "text:2: byte 0xff is not UTF-8", "\n\n\xe9": "text:3: "} {
		p := NewChunks(iotest.OneByteReader(strings.NewReader(text)), "text", Rules{Splitter: Unicode{}})
		var err error
		for more := true; more && err == nil; {
			_, more, err = p.Next()
		}
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat("Mr. Smith lives in the U.S. and works at Acme Inc. in New York, doesn't he? Yes.\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Rules{Splitter: Unicode{}}.Split(text)
	}
}
