package text

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// attributesOf returns the attributes of each row by name.
func attributesOf(d *structured.Dataset) []string {
	rows := make([]string, d.Positions())
	for t := range rows {
		index, value := d.Attributes.Row(t)
		for k, a := range index {
			if k > 0 {
				rows[t] += " "
			}
			if d.Dictionary.Node != nil {
				rows[t] += d.Dictionary.Node.Name(a)
			} else {
				rows[t] += strconv.Itoa(int(a))
			}
			if value != nil {
				rows[t] += fmt.Sprintf("=%g", value[k])
			}
		}
	}
	return rows
}

func TestCRFsuite(t *testing.T) {
	text := "\xef\xbb\xbfB\tw=a\tb\\:c:2.5\t\tb\\\\\r\nO\tw=a\tw=a\n\n \n@weight:3\nO\n:\t\\n:\t#\\::-1e2"
	d, err := CRFsuite{}.Read(strings.NewReader(text), "a.crf")
	if err != nil {
		t.Fatal(err)
	}
	want := &structured.Dataset{
		Name: "a.crf", Offsets: []int{0, 2, 4}, Labels: []int32{1, 2, 2, 0}, Alphabet: structured.NewAlphabet(":", "B", "O"),
		Columns: [][]string{{"B", "O", "O", ":"}}, ColumnNames: []string{"label"},
		Lines: []int{1, 6}, Weights: []float64{1, 3},
		Dictionary: &structured.Dictionary{Node: structured.NewAlphabet("w=a", "b:c", `b\`, `\n`, "#:")},
		Attributes: &structured.Sparse{
			Offsets: []int{0, 3, 5, 5, 7}, Index: []int32{0, 1, 2, 0, 0, 3, 4}, Value: []float32{1, 2.5, 1, 1, 1, 1, -100},
		},
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v %+v %+v\nwant %+v", d, d.Attributes, d.Dictionary.Node, want)
	}
	if d, err := (CRFsuite{}).Read(strings.NewReader("New York\t\nO\ta b\n"), "x"); err != nil ||
		d.Alphabet.Name(0) != "New York" {
		t.Errorf("a label that has a blank: %+v, %v", d, err)
	}
	if d, _ := (CRFsuite{}).Read(strings.NewReader("O\ta:1\tb\n"), "x"); d.Attributes.Value != nil || d.Weights != nil {
		t.Errorf("%+v: values that are all 1", d)
	}
}

func TestCRFsuiteKnownAttributes(t *testing.T) {
	text := "B\ta\tb:2\tc\nI\tb\n\nB\tc:2\ta:3\n"
	for _, test := range []struct {
		c    CRFsuite
		want string
	}{
		{CRFsuite{Dictionary: &structured.Dictionary{Node: structured.NewAlphabet("z", "c", "b")}}, "b=2 c=1|b=1|c=2"},
		{CRFsuite{Dictionary: &structured.Dictionary{Node: structured.NewAlphabet("z")}}, "||"},
		{CRFsuite{MinCount: 2}, "a=1 b=2 c=1|b=1|c=2 a=3"},
		{CRFsuite{MinCount: 3}, "||"},
		{CRFsuite{HashBits: 8}, "a b|b|c"},
		{CRFsuite{Dictionary: &structured.Dictionary{HashBits: 8}}, "a b|b|c"},
	} {
		d, err := test.c.Read(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(attributesOf(d), "|")
		if d.Dictionary.Node == nil {
			h := func(s string) int32 { return structured.HashAttribute([]byte(s), 8) }
			test.want = fmt.Sprintf("%d=1 %d=2 %d=1|%d=1|%d=2 %d=3", h("a"), h("b"), h("c"), h("b"), h("c"), h("a"))
		}
		if got != test.want && got != "" || d.Attributes.Offsets[3] != len(d.Attributes.Index) {
			t.Errorf("%+v: got %s, want %s", test.c, got, test.want)
		}
		if test.c.Dictionary != nil && d.Dictionary != test.c.Dictionary {
			t.Error("another dictionary")
		}
	}
	// Removing rare attributes leaves no gap in the numbers.
	d, _ := CRFsuite{MinCount: 2}.Read(strings.NewReader("B\trare\ta\nO\ta\n"), "x")
	if got := d.Dictionary.Node.Names(); !reflect.DeepEqual(got, []string{"a"}) ||
		!reflect.DeepEqual(d.Attributes.Index, []int32{0, 0}) {
		t.Errorf("%q, %v", got, d.Attributes.Index)
	}
}

func TestCRFsuiteWithoutLabels(t *testing.T) {
	known := structured.NewAlphabet("B")
	for text, want := range map[string][][]string{"\ta\n\tb\n": nil, "X\ta\n\tb\n": {{"X", ""}}} {
		d, err := CRFsuite{Unlabeled: true, Alphabet: known}.Read(strings.NewReader(text), "x")
		if err != nil || d.Labels != nil || d.Alphabet != known || !reflect.DeepEqual(d.Columns, want) || d.Positions() != 2 {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
}

func TestCRFsuiteErrors(t *testing.T) {
	for _, test := range []struct {
		c          CRFsuite
		text, want string
	}{
		{CRFsuite{}, "", "x: no tokens, expected lines of label<TAB>"},
		{CRFsuite{}, "\n \n", "x: no tokens"},
		{CRFsuite{}, "O\ta\n\n\ta\n", "x:3: no label before the first tab, expected label<TAB>"},
		{CRFsuite{}, "O\n\nO\tw=http://a\n",
			`x:3: attribute "w=http://a": "//a" is not a finite decimal number, expected name:value`},
		{CRFsuite{}, "O\ta:NaN", `x:1: attribute "a:NaN": "NaN" is not a finite decimal number`},
		{CRFsuite{}, "O\ta:1_000", `x:1: attribute "a:1_000": "1_000" is not`},
		{CRFsuite{}, "O\ta:0x1p4", `x:1: attribute "a:0x1p4": "0x1p4" is not`},
		{CRFsuite{}, "O\ta\n\nB-PER w=Ada up\n", `x:3: "B-PER w=Ada up" has blanks and no tab, expected label<TAB>attribute`},
		{CRFsuite{Unlabeled: true}, "w=Ada up\n", `x:1: "w=Ada up" has blanks and no tab`},
		{CRFsuite{}, "@weight:1_0\nO\n", "x:1: @weight:1_0, expected 0, or a number"},
		{CRFsuite{}, "O\ta:-inf", `x:1: attribute "a:-inf": "-inf" is not`},
		{CRFsuite{}, "O\ta:1e39", `x:1: attribute "a:1e39": "1e39" is not`},
		{CRFsuite{}, "O\ta:1:2", `x:1: attribute "a:1:2" has two colons`},
		{CRFsuite{}, "O\t:1", `x:1: attribute ":1" has no name`},
		{CRFsuite{}, "@weight:x\nO\n", "x:1: @weight:x, expected 0, or a number from 1e-30 to 1e+30"},
		{CRFsuite{}, "@weight:1e-200\nO\n", "x:1: @weight:1e-200, expected 0, or a number from 1e-30 to 1e+30"},
		{CRFsuite{}, "@weight:-1\nO\n", "x:1: @weight:-1, expected"},
		{CRFsuite{}, "@weight:Inf\nO\n", "x:1: @weight:Inf, expected"},
		{CRFsuite{}, "@weight:1\nO\n@weight:1\n", "x:3: a second @weight in this sequence"},
		{CRFsuite{}, "O\n\n@weight\t2\nO\n", "x:3: @weight without a number, expected @weight:NUMBER"},
		{CRFsuite{}, "O\n\n@weight:1\n\nO\n", "x:4: @weight of no sequence"},
		{CRFsuite{Alphabet: structured.NewAlphabet("B", "O")}, "O\n\nI\n",
			`x:3: label "I" is not one of the known ones: B, O`},
		{CRFsuite{HashBits: 32}, "O\n", "x: attributes hashed to 32 bits"},
		{CRFsuite{HashBits: 3, MinCount: 2}, "O\n", "x: hashed attributes are not counted"},
	} {
		for _, size := range []int{1, 1 << 20} {
			withBlocks(size, func() {
				_, err := test.c.Read(strings.NewReader(test.text), "x")
				if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("%q: got %v\nwant %s", test.text, err, test.want)
				}
			})
		}
	}
}

func TestCRFsuiteHugeLine(t *testing.T) {
	withBlocks(100, func() {
		long := strings.Repeat("w", 100_000)
		d, err := CRFsuite{Threads: 2}.Read(strings.NewReader("O\n\nO\t"+long+"\ta\nB\n\nO"), "x")
		if err != nil || d.Len() != 3 || d.Dictionary.Node.Name(0) != long || !reflect.DeepEqual(d.Lines, []int{1, 3, 6}) {
			t.Errorf("%v", err)
		}
	})
}

// The result depends neither on the number of threads nor on the blocks.
func TestCRFsuiteThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attribute := rapid.StringMatching(`[a-c]{1,2}(:[0-3])?`)
		var text strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "sequences") {
			if rapid.IntRange(0, 3).Draw(t, "weighted") == 0 {
				text.WriteString("@weight:0.5\n")
			}
			for range rapid.IntRange(1, 3).Draw(t, "items") {
				fields := append([]string{rapid.StringMatching(`[A-C]`).Draw(t, "label")},
					rapid.SliceOfN(attribute, 0, 4).Draw(t, "row")...)
				text.WriteString(strings.Join(fields, "\t") + rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end"))
			}
			text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", " \n\n"}).Draw(t, "end"))
		}
		c := CRFsuite{MinCount: rapid.IntRange(0, 2).Draw(t, "min count"), Threads: 1}
		if rapid.IntRange(0, 3).Draw(t, "hash") == 0 {
			c = CRFsuite{HashBits: 4, Threads: 1}
		}
		want, err := c.Read(strings.NewReader(text.String()), "x")
		if err != nil {
			t.Fatal(err)
		}
		c.Threads = 3
		withBlocks(rapid.IntRange(1, 40).Draw(t, "block"), func() {
			got, err := c.Read(strings.NewReader(text.String()), "x")
			if err != nil {
				t.Fatal(err)
			}
			sameDataset(t, got, want)
		})
	})
}

func FuzzCRFsuite(f *testing.F) {
	f.Add("B\ta:2\tb\\:c\n\n@weight:2\nO\ta\n", false, 0, 5)
	f.Add("\ta\n", true, 3, 100)
	f.Fuzz(func(t *testing.T, text string, unlabeled bool, bits, size int) {
		c := CRFsuite{Unlabeled: unlabeled, HashBits: bits, Threads: 2}
		d := readTwice(t, c, text, size)
		if d == nil {
			return
		}
		if len(d.Lines) != d.Len() || (d.Labels == nil) != unlabeled || len(d.Attributes.Offsets) != d.Positions()+1 {
			t.Fatalf("inconsistent: %+v", d)
		}
		for _, v := range d.Attributes.Value {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("value %v", v)
			}
		}
		for i := range d.Len() {
			if w := d.Weight(i); d.Length(i) == 0 || !(w >= 0) || math.IsInf(w, 0) {
				t.Fatalf("sequence %d: length %d, weight %v", i, d.Length(i), w)
			}
		}
		for _, k := range d.Attributes.Index {
			if k < 0 || int(k) >= d.Dictionary.Nodes() {
				t.Fatalf("attribute %d of %d", k, d.Dictionary.Nodes())
			}
		}
	})
}

// attributeFile generates a file like those for entity tagging: 20 attributes per item, words by Zipf's law.
func attributeFile(items int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 3, 100_000)
	word := func() string { return strconv.FormatUint(zipf.Uint64()*7919+1000, 36) }
	var text bytes.Buffer
	here, after := word(), word()
	for t := range items {
		before := here
		here, after = after, word()
		fmt.Fprintf(&text, "%s", []string{"O", "O", "O", "B-person", "I-person"}[rng.IntN(5)])
		for k := range 4 {
			fmt.Fprintf(&text, "\tw[-1]=%s%d\tw[0]=%s%d\tw[1]=%s%d\tw[-1]|w[0]=%s|%s\tsuffix=%s", before, k, here, k, after, k,
				before, here, here[len(here)/2:])
		}
		text.WriteByte('\n')
		if t%20 == 19 {
			text.WriteByte('\n')
		}
	}
	return text.Bytes()
}

func BenchmarkCRFsuite(b *testing.B) {
	const items = 200_000
	file := attributeFile(items)
	run := func(name string, c CRFsuite) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Read(bytes.NewReader(file), "x"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(items*b.N)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
	d, err := CRFsuite{}.Read(bytes.NewReader(file), "x")
	if err != nil {
		b.Fatal(err)
	}
	run("threads=1", CRFsuite{Threads: 1})
	run("threads=2", CRFsuite{Threads: 2})
	run("known", CRFsuite{Threads: 2, Dictionary: d.Dictionary})
	run("hashed", CRFsuite{Threads: 2, HashBits: 20})
	b.Run("chunk", func(b *testing.B) { // as dsp predict reads a file, and a server requests
		chunk := attributeFile(2_000)
		b.SetBytes(int64(len(chunk)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := (CRFsuite{Threads: 1, Dictionary: d.Dictionary, Unlabeled: true}).Read(InMemory(chunk), "x"); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(2_000*b.N)/b.Elapsed().Seconds(), "tokens/s")
	})
}

// appendFields appends what strings.FieldsFunc returns, also where tabs touch each other, a neighbouring byte value or
// an end of eight bytes.
func TestAppendFields(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, text string) {
		want := append([]string{"before"}, strings.FieldsFunc(text, func(r rune) bool { return r == '\t' })...)
		if got := appendFields([]string{"before"}, text); !slices.Equal(got, want) {
			t.Fatalf("appendFields(%q) appends %q, expected %q", text, got[1:], want[1:])
		}
	}
	for n := range 20 {
		for at := range n {
			text := []byte(strings.Repeat("\b", n))
			text[at] = '\t'
			check(t, string(text))
			check(t, strings.ReplaceAll(string(text), "\b", "\n"))
			check(t, strings.ReplaceAll(string(text), "\b", "\x89"))
		}
		check(t, strings.Repeat("\t", n))
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOf(rapid.StringMatching("[\\x00\\x08-\\x0aa-c\\x89é]{0,9}")).Draw(t, "pieces"),
			"\t"))
	})
}
