package wordvectors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// binaryFile writes vectors as word2vec does, with or without line feeds between them.
func binaryFile(words []string, rows [][]float32, ends string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %d\n", len(words), len(rows[0]))
	for i, word := range words {
		b.WriteString(word + " ")
		_ = binary.Write(&b, binary.LittleEndian, rows[i])
		b.WriteString(ends)
	}
	return b.String()
}

// textFile writes vectors as text.
func textFile(words []string, rows [][]float32, header bool) string {
	var b strings.Builder
	if header {
		fmt.Fprintf(&b, "%d %d\n", len(words), len(rows[0]))
	}
	for i, word := range words {
		b.WriteString(word)
		for _, x := range rows[i] {
			fmt.Fprintf(&b, " %v", x)
		}
		if header {
			b.WriteString(" ") // as fastText does
		}
		b.WriteString("\n")
	}
	return b.String()
}

// All formats give the vectors of the wanted words, and no others.
func TestFormats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé0-9.,]{1,6}`), 1, 8, rapid.ID[string]).Draw(t, "words")
		dim := rapid.IntRange(12, 24).Draw(t, "dim") // bytes of fewer numbers can be those of a text
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := make([][]float32, len(words))
		for i := range rows {
			for range dim {
				rows[i] = append(rows[i], float32(rng.NormFloat64()))
			}
		}
		wanted := structured.NewAlphabet("not there")
		for _, word := range words {
			if rng.IntN(3) > 0 {
				wanted.Add(word)
			}
		}
		for format, content := range map[string]string{
			"GloVe": textFile(words, rows, false), "text": textFile(words, rows, true),
			"binary": binaryFile(words, rows, "\n"), "binary without line feeds": binaryFile(words, rows, ""),
		} {
			v, err := Read(strings.NewReader(content), "f", wanted)
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if v.Dim != dim || v.Read != len(words) {
				t.Fatalf("%s: %d vectors of %d numbers, want %d of %d", format, v.Read, v.Dim, len(words), dim)
			}
			for i, word := range words {
				var want []float32
				if wanted.Index(word) >= 0 {
					want = rows[i]
				}
				if got := v.Of(word); !slices.Equal(got, want) {
					t.Fatalf("%s: %q has %v, want %v", format, word, got, want)
				}
			}
		}
	})
}

func TestWordsWithSpacesAndRepetitions(t *testing.T) {
	wanted := structured.NewAlphabet(". .", "a", "b")
	v, err := Read(strings.NewReader("a 1 2\n\n. . 3 4\na 5 6\r\nb\t7\t8\n"), "f", wanted)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Of(". ."), []float32{3, 4}) || !slices.Equal(v.Of("a"), []float32{1, 2}) ||
		!slices.Equal(v.Of("b"), []float32{7, 8}) || v.Of("c") != nil {
		t.Errorf("%+v", v)
	}
	if v.Read != 4 {
		t.Errorf("%d vectors read", v.Read)
	}
}

// Lines that are longer than what is read at once are read whole, and those that are too long for a vector are refused.
func TestLongLines(t *testing.T) {
	row := make([]float32, 60000) // a line of more than 1 MiB
	for i := range row {
		row[i] = 1 / float32(3+i)
	}
	v, err := Read(strings.NewReader(textFile([]string{"a", "b"}, [][]float32{row, row}, false)), "f",
		structured.NewAlphabet("a", "b"))
	if err != nil || !slices.Equal(v.Of("a"), row) || !slices.Equal(v.Of("b"), row) {
		t.Errorf("%v", err)
	}
	_, err = Read(strings.NewReader("a 1 2\n"+strings.Repeat("x", longestWord+32*mostDims+1<<20)), "f",
		structured.NewAlphabet("a"))
	if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), "f:2: a line of more than 2162688 bytes, expected") {
		t.Errorf("a word of many MiB: %v", err)
	}
}

func TestErrors(t *testing.T) {
	binaries := binaryFile([]string{"a", "b"}, [][]float32{{1, 2}, {3, 4}}, "\n")
	for content, want := range map[string]string{
		"":                         "f: empty, expected vectors of words",
		"word\n":                   `f:1: "word", expected a word and its vector, or the number of vectors and their length`,
		"a 1 2\nb 1\n":             "f:2: 1 numbers after the word, expected 2",
		"a 1 2\nb 1 2 3\n":         "f:2: 3 numbers after the word, expected 2",
		"a 1 2\nb 1 x\n":           `f:2: number 2 of the word "b" is "x", expected a finite decimal number`,
		"a 1 2\n\nb NaN 1\n":       `f:3: number 1 of the word "b" is "NaN", expected a finite decimal number`,
		"a 1 1e99\n":               `f:1: number 2 of the word "a" is "1e99"`,
		"2 2\na 1 2\n":             "f: ends after 1 vectors, expected 2, as line 1 says",
		"1 2\na 1 2\nb 1 2\n":      "f:3: another vector, expected 1, as line 1 says",
		"0 2\n":                    "f:1: 0 vectors of length 2, expected at least one",
		"2 100000\n":               "f:1: 2 vectors of length 100000",
		binaries[:len(binaries)-2]: "f: ends within vector 2, expected 2 of length 2, as line 1 says",
		binaries[:len(binaries)-9]: "f: ends within vector 2",
		binaries + "c":             "f: goes on after vector 2, expected 2 of length 2",
		binaryFile([]string{"a"}, [][]float32{{1, float32(math.NaN())}},
			""): `f: number 2 of vector 1, of the word "a", is NaN`,
	} {
		if _, err := Read(strings.NewReader(content), "f", structured.NewAlphabet("a", "b")); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", content, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	words, rows := []string{"a", "bc"}, [][]float32{{1, -2.5}, {0.1, 4}}
	f.Add(textFile(words, rows, false))
	f.Add(textFile(words, rows, true))
	f.Add(binaryFile(words, rows, "\n"))
	f.Fuzz(func(t *testing.T, content string) {
		v, err := Read(strings.NewReader(content), "fuzz", structured.NewAlphabet("a", "bc"))
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		if len(v.Rows) != v.Dim*v.Words.Len() || v.Words.Len() > v.Read {
			t.Fatalf("%+v", v)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	const n, dim = 5000, 100
	rng := rand.New(rand.NewPCG(1, 2))
	words, rows, wanted := make([]string, n), make([][]float32, n), structured.NewAlphabet()
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i)
		for range dim {
			rows[i] = append(rows[i], float32(rng.NormFloat64()))
		}
		if i%10 == 0 {
			wanted.Add(words[i])
		}
	}
	for _, file := range []struct{ name, content string }{{"text", textFile(words, rows, false)},
		{"binary", binaryFile(words, rows, "\n")}} {
		b.Run(file.name, func(b *testing.B) {
			b.SetBytes(int64(len(file.content)))
			for b.Loop() {
				if _, err := Read(strings.NewReader(file.content), "f", wanted); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
