package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// A range begins after the first blank line that begins at or after a place, or where the file begins or ends.
func TestAfterBlank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := strings.Repeat("x", 1<<16)
		content := strings.Join(
			rapid.SliceOf(rapid.SampledFrom([]string{"a O\n", "\n", " \r\n", "b O\r\n", long + "\n", strings.Repeat(" ", 1<<16) +
				"\n"})).Draw(t, "lines"), "")
		content += rapid.SampledFrom([]string{"", "c O", " "}).Draw(t, "end")
		at := rapid.IntRange(0, len(content)).Draw(t, "at")
		want, begin := int64(len(content)), 0
		if at == 0 {
			want = 0
		}
		for line := range strings.Lines(content) {
			if at > 0 && begin >= at && strings.HasSuffix(line, "\n") && strings.TrimSpace(line) == "" {
				want = int64(begin + len(line))
				break
			}
			begin += len(line)
		}
		if got, err := AfterBlank(strings.NewReader(content), int64(len(content)), int64(at)); err != nil || got != want {
			t.Errorf("at %d: %d and %v, expected %d", at, got, err, want)
		}
	})
}

// The first lines of a text have as many bytes as they have, and lines without an end do not count.
func TestBytesOfLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"\n", "a\n", strings.Repeat("b", 1<<15) + "\n"})).Draw(t, "lines")
		content := strings.Join(lines, "") + rapid.SampledFrom([]string{"", "c"}).Draw(t, "end")
		read := func() *bufio.Reader {
			return bufio.NewReaderSize(bytes.NewReader([]byte(content)), rapid.IntRange(16, 1<<17).Draw(t, "pieces"))
		}
		if n, err := CountLines(read()); err != nil || n != len(lines) {
			t.Errorf("%d lines and %v, expected %d", n, err, len(lines))
		}
		first := rapid.IntRange(0, len(lines)+1).Draw(t, "first")
		want := len(content)
		if first <= len(lines) {
			want = len(strings.Join(lines[:first], ""))
		}
		if n, err := BytesOf(read(), first); err != nil || n != int64(want) {
			t.Errorf("%d bytes in %d lines and %v, expected %d", n, first, err, want)
		}
	})
}

// readers read the formats whose ranges can be read, from a range that begins in a line of that number; start is the
// file from its beginning, where a later range is read.
var readers = []func(r, start io.Reader, survey *Survey, line int, unlabeled bool,
	each func(*structured.Dataset) error) (*structured.Dataset, error){
	func(r, start io.Reader, survey *Survey, line int, unlabeled bool,
		each func(*structured.Dataset) error) (*structured.Dataset, error) {
		return Conll{Line: line, Start: start, Survey: survey, Unlabeled: unlabeled, Each: each, Threads: 1}.Read(r, "x")
	},
	func(r, _ io.Reader, _ *Survey, line int, unlabeled bool,
		each func(*structured.Dataset) error) (*structured.Dataset, error) {
		return Conllu{Line: line, Unlabeled: unlabeled, Each: each, Threads: 1}.Read(r, "x")
	},
	func(r, _ io.Reader, _ *Survey, line int, unlabeled bool,
		each func(*structured.Dataset) error) (*structured.Dataset, error) {
		return CRFsuite{Line: line, Unlabeled: unlabeled, Each: each, Threads: 1, HashBits: 4}.Read(r, "x")
	},
}

// sentencesIn lists what the sentences of data are: their places, weights and columns, and their attributes.
func sentencesIn(d *structured.Dataset) (all []string) {
	for i := range d.Len() {
		s := fmt.Sprint(d.Lines[i], d.Weight(i))
		for t := d.Offsets[i]; t < d.Offsets[i+1]; t++ {
			s += " " + d.WhereToken(i, t-d.Offsets[i])
			for c := range d.Columns {
				if d.Columns[c][t] == "" { // blocks of CRFsuite's attributes without any label have no column of labels
					continue
				}
				s += fmt.Sprintf(" %s=%q", d.ColumnNames[c], d.Columns[c][t])
			}
			if d.Attributes != nil {
				index, value := d.Attributes.Row(t)
				for k, a := range index {
					weight := float32(1)
					if value != nil {
						weight = value[k]
					}
					s += fmt.Sprint(" ", a, ":", weight)
				}
			}
		}
		all = append(all, s)
	}
	return all
}

// checkRanges cuts a file where the ranges of processes may begin, at or after some places, and reads range after
// range. That gives the sentences of the whole file, with their places, and the first mistake in it.
func checkRanges(t testing.TB, format int, content string, unlabeled bool, places ...int) {
	t.Helper()
	read := readers[format]
	survey, err := Conll{Unlabeled: unlabeled}.LookThrough(opened(content), "x")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	whole, wantErr := read(strings.NewReader(content), nil, survey, 0, unlabeled, nil)
	if wantErr == nil {
		want = sentencesIn(whole)
	}
	f, size := strings.NewReader(content), int64(len(content))
	var got []string
	var gotErr error
	from, line := int64(0), 1
	for _, at := range append(places, len(content)) {
		to, err := size, error(nil)
		if at < len(content) {
			to, err = AfterBlank(f, size, int64(at))
		}
		if err != nil {
			t.Fatal(err)
		}
		var start io.Reader
		if from > 0 {
			start = io.NewSectionReader(f, 0, to)
		}
		_, err = read(io.NewSectionReader(f, from, to-from), start, survey, line,
			unlabeled, func(d *structured.Dataset) error {
				got = append(got, sentencesIn(d)...)
				return nil
			})
		if err != nil && !errors.Is(err, host.ErrNoTokens) {
			gotErr = err
			break
		}
		n, err := CountLines(io.NewSectionReader(f, from, to-from))
		if err != nil {
			t.Fatal(err)
		}
		from, line = to, line+n
	}
	if len(got) == 0 && gotErr == nil {
		gotErr = wantErr // of a file without tokens, whose reader says so
	}
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || wantErr == nil && !slices.Equal(got, want) {
		t.Errorf("format %d, %q from %v:\n%q, %v\nexpected\n%q, %v", format, content, places, got, gotErr, want, wantErr)
	}
}

// Small files, and where sentences may begin in them: with marks of byte order, ends of lines of both kinds, and
// mistakes.
var smallFiles = [][]string{
	{"a O\nb B\n\nc O\n\n\nd B\n", "a O\n\n\xef\xbb\xbfb O\n\n\xef\xbb\xbf\n\nc B",
		"\xef\xbb\xbfa O\r\n\r\n\xef\xbb\xbfb B\r\n \r\nc O", "\xef\xbb\xbf\n\na\tO\n\nb\tO",
		"-DOCSTART- O\n\na O\n-DOCSTART- O\nb B\n\n\n-DOCSTART- O\n", "a O\n\nb\n\nc O\n\nd", "\n\na b O\n\nc O\n", "\n\n",
		"a O", "a O\n\n", "\xef\xbb\xbf", "# 1\na O\n# x y z\n\n# 2\n# O\nb O\n\n#\n", "# id x\td=1\na\tO\n\n#b\tO\n# c\n\n"},
	{"# x\n1\ta\t_\tO\t_\t_\t_\t_\t_\t_\n\n# sent_id = b\n1\tb\t_\tB\t_\t_\t_\t_\t_\t_\n\n\n",
		"1\ta\t_\tO\t_\t_\t_\t_\t_\t_\n\n\xef\xbb\xbf1\ta\t_\tO\t_\t_\t_\t_\t_\t_\n",
		"\xef\xbb\xbf1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\r\n1\ta\t_\tO\t_\t_\t_\t_\t_\t_\r\n2\tb\t_\tO\t_\t_\t_\t_\t_\t_\r\n" +
			"\r\n# c\r\n\r\n1\tb\t_\tB\t_\t_\t_\t_\t_\t_"},
	{"O\ta\nB\tb:2\n\n@weight:2\nO\tc\n\n\nO\td\n", "O\ta\n\n\xef\xbb\xbfB\tb\n\n\xef\xbb\xbf@weight:2\nO\tb\n",
		"\xef\xbb\xbf@weight:2\r\nO\ta\r\n\r\nO\tb:3\r\n\r\n@weight:0.5\r\nO\tc", "O\ta\n\nO\tb:c\n\nO\t:2\n",
		"O\ta\n\n@weight:2\n\nO\tb\n\n@weight:2\n",
		"O\ta\n\nO\tb\n\n@weight:1\n@weight:2\nO\tc"},
}

// Ranges that begin at any two bytes of small files hold their sentences.
func TestRangesAtEveryByte(t *testing.T) {
	defer func(was int) { blockSize = was }(blockSize)
	blockSize = 1 << 6
	for format, files := range smallFiles {
		for _, content := range files {
			for first := range len(content) + 1 {
				for second := first; second <= len(content); second++ {
					checkRanges(t, format, content, second%2 > 0, first, second)
				}
			}
		}
	}
}

func FuzzRanges(f *testing.F) {
	for format, files := range smallFiles {
		for _, content := range files {
			f.Add(format, content, false, len(content)/3, len(content)/2)
		}
	}
	blockSize = 1 << 6
	f.Fuzz(func(t *testing.T, format int, content string, unlabeled bool, first, second int) {
		if format < 0 || format >= len(readers) || first < 0 || second < first || second > len(content) {
			return
		}
		checkRanges(t, format, content, unlabeled, first, second)
	})
}
