package alignments_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

func read(t *testing.T, o alignments.Reader, text string) *alignments.Corpus {
	t.Helper()
	c, err := o.Read(strings.NewReader(text), "a.pairs")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sure(i, j int32) alignments.Link     { return alignments.Link{Source: i, Target: j, Sure: true} }
func possible(i, j int32) alignments.Link { return alignments.Link{Source: i, Target: j} }

func TestRead(t *testing.T) {
	c := read(t, alignments.Reader{}, "\xef\xbb\xbfdas haus|||. ||| the house ||| 1-1 0-0 1?0 1p1\r\n"+
		"ja\t# ||| yes ||| \na\x00\xff ||| b ||| 0-0:0.83")
	want := &alignments.Corpus{
		Name: "a.pairs", Words: []string{"das", "haus|||.", "the", "house", "ja", "#", "yes", "a\x00\xff", "b"},
		Offsets: []int{0, 4, 7, 9}, Sources: []int{2, 2, 1}, Lines: []int{1, 2, 3},
		Links: []alignments.Link{sure(0, 0), possible(1, 0), sure(1, 1), sure(0, 0)}, LinksAt: []int{0, 3, 3, 4},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("read %+v\nexpected %+v", c, want)
	}
	if n, m := c.Size(1); n != 2 || m != 1 || c.Source(1)[1] != "#" || c.Target(1)[0] != "yes" ||
		c.Where(2) != "a.pairs:3" {
		t.Errorf("pair 1 has %d by %d words, %v, %v; pair 2 is at %s", n, m, c.Source(1), c.Target(1), c.Where(2))
	}
}

func TestReadFirst(t *testing.T) {
	c := read(t, alignments.Reader{First: 1, Line: 5}, "a b ||| c ||| 2-1\n")
	if got := c.LinksOf(0); !reflect.DeepEqual(got, []alignments.Link{sure(1, 0)}) || c.Lines[0] != 5 {
		t.Errorf("links %v at line %d, expected 1-0 at line 5", got, c.Lines[0])
	}
}

// Reading what was written gives the same corpus.
func TestRoundTrip(t *testing.T) {
	c := read(t, alignments.Reader{}, "a b ||| c d e ||| 0-0 0?2 1-1\nx ||| y |||\n")
	var text, links []byte
	for i := range c.Len() {
		text = append(alignments.AppendPair(text, c.Source(i), c.Target(i)), '\n')
		links = append(alignments.AppendLinks(links, c.LinksOf(i), []float32{0.83, 1.5, -2e-7}[:len(c.LinksOf(i))]), '\n')
	}
	if want := "0-0:0.83 0?2:1.5 1-1:-2e-07\n\n"; string(links) != want {
		t.Errorf("links %q, expected %q", links, want)
	}
	again, err := alignments.Reader{}.ReadWithLinks(bytes.NewReader(text), "a.pairs", bytes.NewReader(links), "a.links")
	if err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("read %+v, %v\nexpected %+v", again, err, c)
	}
	all, err := alignments.Reader{}.ReadLinks(c, bytes.NewReader(links), "a.links")
	if err != nil || !reflect.DeepEqual(all[0], c.LinksOf(0)) || len(all[1]) != 0 {
		t.Errorf("links %v, %v", all, err)
	}
}

func TestUnlabeled(t *testing.T) {
	for text, known := range map[string]bool{"a ||| b ||| 0-0\n": true, "a ||| b\n": false, "a ||| b ||| 0-7\n": false,
		"a ||| b\nc ||| d ||| 0-0\n": false} {
		if c := read(t, alignments.Reader{Unlabeled: true}, text); c.Known() != known || c.LinksOf(0) != nil != known {
			t.Errorf("%q: links known: %v, expected %v", text, c.Known(), known)
		}
	}
}

func TestBadPairs(t *testing.T) {
	for _, c := range []struct{ text, message string }{
		{"", "a.pairs: no tokens, expected lines of source words ||| target words"},
		{"a ||| b ||| 0-0\n\nc ||| d |||\n", "a.pairs:2: an empty line"},
		{"a b\n", "a.pairs:1: no |||, expected source words ||| target words"},
		{"a||||b\n", "a.pairs:1: no |||, expected source words"},
		{"a b ||| 0-0 1-0\n", `a.pairs:1: the target words "0-0 1-0" look like links, expected source words ||| target words`},
		{"a b ||| 0-0 1?0\n", `a.pairs:1: the target words "0-0 1?0" look like links`},
		{"a b|||0-0|||0-0\n", `a.pairs:1: the target words "0-0" look like links`},
		{" ||| b ||| \n", "a.pairs:1: no source words before |||"},
		{"|||\n", "a.pairs:1: no source words before |||"},
		{"a ||| ||| 0-0\n", "a.pairs:1: no target words after |||"},
		{"a ||| b ||| 0-0 ||| 1\n", "a.pairs:1: 4 fields, expected source words"},
		{"a ||| b\n", "a.pairs: no links, expected lines of source words ||| target words ||| links"},
		{"a ||| b ||| 0-0\na ||| b\n", "a.pairs:2: no links, expected a third field as in the lines before"},
		{"a ||| b\na ||| b ||| 0-0\n", "a.pairs:2: links, but the lines before have none"},
		{"a ||| b ||| 0-0\na ||| b c ||| 0-1 0-2\n", "a.pairs:2: link 0-2: target word 2, expected 0 to 1; " +
			"words are numbered from 0"},
		{"a b ||| b ||| 5?0\n", "a.pairs:1: link 5?0: source word 5, expected 0 to 1"},
		{"a b ||| b ||| 99999999999999999999-0\n", "a.pairs:1: link 2147483647-0: source word 2147483647, expected 0 to 1"},
		{"a ||| b ||| 0-x\n", `a.pairs:1: link "0-x", expected source-target such as 0-1`},
		{"a ||| b ||| 0--1\n", `a.pairs:1: link "0--1"`},
		{"a ||| b ||| +0-0\n", `a.pairs:1: link "+0-0"`},
		{"a ||| b ||| -0\n", `a.pairs:1: link "-0"`},
		{"a ||| b ||| 00\n", `a.pairs:1: link "00"`},
		{"a ||| b ||| 0-0:high\n", `a.pairs:1: link "0-0:high"`},
	} {
		_, err := alignments.Reader{}.Read(strings.NewReader(c.text), "a.pairs")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.message) {
			t.Errorf("%q: error %v, expected %s", c.text, err, c.message)
		}
	}
	if _, err := (alignments.Reader{First: 1}).Read(strings.NewReader("a ||| b ||| 0-1"), "a.pairs"); err == nil ||
		err.Error() != "a.pairs:1: link 0-1: source word 0, expected 1 to 1" {
		t.Errorf("error %v", err)
	}
}

func TestBadLinks(t *testing.T) {
	const text = "a ||| b\nc ||| d\n"
	for _, c := range []struct{ text, links, message string }{
		{text, "0-0\n", "a.links: ends after line 1, expected 2 lines, one per pair of a.pairs"},
		{text, "0-0\n\n0-0\n", "a.links:3: a line more than expected: a.pairs has 2 pairs"},
		{text, "0-0\n0-1\n", "a.links:2: link 0-1: target word 1, expected 0 to 0"},
		{"a ||| b ||| 0-0\n", "0-0\n", "a.pairs:1: links here and in a.links, expected one of them"},
	} {
		_, err := alignments.Reader{}.ReadWithLinks(strings.NewReader(c.text), "a.pairs", strings.NewReader(c.links),
			"a.links")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.message) {
			t.Errorf("%q: error %v, expected %s", c.links, err, c.message)
		}
		if strings.Contains(c.message, "links here") {
			continue
		}
		got, err := alignments.Reader{Unlabeled: true}.ReadWithLinks(strings.NewReader(c.text), "a.pairs",
			strings.NewReader(c.links), "a.links")
		if err != nil || got.Known() {
			t.Errorf("%q, unlabeled: %v, links known: %v", c.links, err, got.Known())
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a b ||| c ||| 0-0 1?0\n", "0-0:1\n")
	f.Add("||| |||", ":")
	f.Fuzz(func(t *testing.T, text, links string) {
		for _, o := range []alignments.Reader{{}, {Unlabeled: true, First: 1}} {
			c, err := o.Read(strings.NewReader(text), "f")
			if err != nil && !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			if err == nil {
				c.Dataset()
			}
			c, err = o.ReadWithLinks(strings.NewReader(text), "f", strings.NewReader(links), "l")
			if err != nil && !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			if err == nil {
				c.Dataset()
			}
		}
	})
}

// Separators need no blanks. A word may hold bars: four, or three where fields have blanks around them.
func TestSeparators(t *testing.T) {
	want := read(t, alignments.Reader{}, "a b ||| c d ||| 0-0\n")
	for _, line := range []string{"a b |||c d ||| 0-0", "a b||| c d |||0-0", "a b|||c d|||0-0", "a b\t|||\tc d\t|||\t0-0",
		"a b||| c d|||0-0 "} {
		if c := read(t, alignments.Reader{}, line+"\n"); !reflect.DeepEqual(c, want) {
			t.Errorf("%q: %+v, expected %+v", line, c, want)
		}
		if !alignments.IsPair(line) {
			t.Errorf("%q is no pair", line)
		}
	}
	if c := read(t, alignments.Reader{Unlabeled: true},
		"it ended 2-1 ||| 2-1\n2-1|||3-1\na |||| b ||| c\n"); c.Len() != 3 || c.Target(2)[0] != "c" {
		t.Errorf("scores are words: %+v", c)
	}
	for _, line := range []string{"||| SYM", "a b", "", "a ||| ", "a |||| b"} {
		if alignments.IsPair(line) {
			t.Errorf("%q is a pair", line)
		}
	}
}

// Where bad pairs are left out, so are their links in a file beside them, and pairs whose links are bad.
func TestPairsLeftOut(t *testing.T) {
	say := remarks.New(true)
	const text = "a ||| b ||| 0-0\n\nc\nd ||| e ||| 0-1\nf ||| g\nh i ||| j ||| 1-0\nk ||| 0-0\n"
	c := read(t, alignments.Reader{Remarks: say}, text)
	if left := say.Reasons(); c.Len() != 2 || !reflect.DeepEqual(c.Lines, []int{1, 6}) ||
		len(c.Links) != 2 || len(left) != 5 ||
		!strings.HasPrefix(left[0], "a.pairs:2: an empty line") ||
		!strings.HasPrefix(left[2], "a.pairs:4: link 0-1: target word 1") ||
		!strings.HasPrefix(left[3], "a.pairs:5: no links") {
		t.Errorf("%+v, %q", c, left)
	}
	say = remarks.New(true)
	c, err := alignments.Reader{Remarks: say}.ReadWithLinks(strings.NewReader("a ||| b\nc\nd e ||| f\ng ||| h\n"), "p",
		strings.NewReader("0-0\n9-9\n1-0\n0-7\n"), "l")
	if left := say.Reasons(); err != nil || c.Len() != 2 || c.LinksOf(1)[0].Source != 1 ||
		!reflect.DeepEqual(c.Lines, []int{1, 3}) || len(left) != 2 || !strings.HasPrefix(left[1], "l:4: link 0-7") {
		t.Errorf("%+v, %v, %q", c, err, left)
	}
	for _, bad := range []string{"x\ny\n", "a ||| b ||| 0-9\n"} {
		if _, err := (alignments.Reader{Remarks: remarks.New(true)}).Read(strings.NewReader(bad),
			"p"); !structured.IsBadInput(err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
