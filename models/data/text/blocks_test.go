package text

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// withBlocks runs the test with blocks of about size bytes.
func withBlocks(size int, test func()) {
	defer func(size int) { blockSize = size }(blockSize)
	blockSize = size
	test()
}

// sameDataset compares everything except the hash tables of alphabets.
func sameDataset(t interface{ Fatalf(string, ...any) }, got, want *structured.Dataset) {
	strip := func(d *structured.Dataset) (structured.Dataset, []string, []string, int) {
		s, names, attributes, bits := *d, []string(nil), []string(nil), 0
		if d.Alphabet != nil {
			names = d.Alphabet.Names()
		}
		if d.Dictionary != nil {
			bits = d.Dictionary.HashBits
			if d.Dictionary.Node != nil {
				attributes = append([]string{}, d.Dictionary.Node.Names()...)
			}
		}
		s.Alphabet, s.Dictionary = nil, nil
		return s, names, attributes, bits
	}
	g, gNames, gAttributes, gBits := strip(got)
	w, wNames, wAttributes, wBits := strip(want)
	if !reflect.DeepEqual(g, w) || !reflect.DeepEqual(gNames, wNames) || !reflect.DeepEqual(gAttributes, wAttributes) ||
		gBits != wBits {
		t.Fatalf("got  %+v %+v %q %q\nwant %+v %+v %q %q", g, g.Attributes, gNames, gAttributes, w,
			w.Attributes, wNames, wAttributes)
	}
}

// readTwice reads text at once, from memory, and in blocks of about size bytes, and checks that the results agree. It
// returns nil for bad input.
func readTwice(t *testing.T, c interface {
	Read(io.Reader, string) (*structured.Dataset, error)
}, text string, size int) *structured.Dataset {
	d, err := c.Read(strings.NewReader(text), "x")
	check := func(how string, in io.Reader) {
		again, other := c.Read(in, "x")
		switch {
		case err == nil && other == nil:
			sameDataset(t, again, d)
		case err == nil || other == nil || err.Error() != other.Error() || !structured.IsBadInput(err):
			t.Fatalf("%v, and %s: %v", err, how, other)
		}
	}
	check("from memory", InMemory([]byte(text)))
	withBlocks(min(max(1, size), 1<<20), func() {
		check(fmt.Sprintf("in blocks of %d bytes", size), strings.NewReader(text))
	})
	return d
}

func TestBlocksEndAtBlankLines(t *testing.T) {
	text := "a\n\nb\nc\n \t\r\n\n\nd\ne\nf"
	check := func(size int, r io.Reader, want string) {
		withBlocks(size, func() {
			in, got := newBlocks(r, "x"), []string{}
			for {
				b, ok, err := in.next()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				lines := string(rune('0' + b.line))
				for _, line := range b.lines() {
					if IsBlank(line) {
						line = "_"
					}
					lines += line
				}
				got = append(got, lines)
			}
			if strings.Join(got, "|") != want {
				t.Errorf("%d: got %s, want %s", size, strings.Join(got, "|"), want)
			}
		})
	}
	for size, want := range map[int]string{1: "1a_|3bc_|6_|7_|8def", 4: "1a_|3bc_|6__|8def", 1 << 20: "1a_bc___def"} {
		check(size, strings.NewReader("\xef\xbb\xbf"+text), want)
		check(size, InMemory([]byte("\xef\xbb\xbf"+text)), want)
	}
}

func TestBlocksErrors(t *testing.T) {
	for _, threads := range []int{1, 3} {
		withBlocks(1, func() {
			in := newBlocks(io.MultiReader(strings.NewReader("a\n\nb\n\n"), iotest.ErrReader(errors.New("broken"))), "x")
			merged := ""
			err := parseBlocks(in, threads, nil, func() func(block) (string, error) {
				return func(b block) (string, error) { return b.text, nil }
			}, func(text string) error { merged += text; return nil })
			if !structured.IsBadInput(err) || err.Error() != "x: after line 4: broken" {
				t.Error(err)
			}
			// The first error in the file is reported, and no block after it is merged.
			merged = ""
			err = parseBlocks(newBlocks(strings.NewReader(strings.Repeat("a\n\n", 9)), "x"), threads, nil,
				func() func(block) (string, error) {
					return func(b block) (string, error) {
						switch {
						case b.line == 5:
							panic("five")
						case b.line > 5:
							return "", errors.New("after five")
						}
						return b.text, nil
					}
				}, func(text string) error { merged += text; return nil })
			var p *host.PanicError
			if !errors.As(err, &p) || p.Value != "five" || merged != "a\n\na\n\n" {
				t.Errorf("%q, %v", merged, err)
			}
		})
	}
}
