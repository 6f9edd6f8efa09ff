package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// Bad sentences are left out, in blocks of any size; the others, and the lines around them, are those of the file.
func TestSentencesLeftOut(t *testing.T) {
	word := func(id, form, head string) string {
		return id + "\t" + form + "\t_\tX\t_\t_\t" + head + "\tdep\t_\t_\n"
	}
	check := func(heads, _ []string) (int, error) {
		if k := slices.Index(heads, "9"); k >= 0 {
			return k, fmt.Errorf("head 9")
		}
		return 0, nil
	}
	for name, c := range map[string]struct {
		text    string
		lines   []int // of the good sentences
		reasons []string
		kept    bool // the lines of bad ones are in the layout
		read    func(text string, say *remarks.Remarks) (*structured.Dataset, error)
	}{
		"conll": {"x\n\na O\nb B\n\nc O\nd\n\ne O O\n\nf O\n\n\ng O\n-DOCSTART- O\nh\n\ni B\n", []int{3, 11, 18},
			[]string{"x:1: 1 column", "x:7: 1 column", "x:9: 3 columns", "x:16: 1 column"}, true,
			func(text string, say *remarks.Remarks) (*structured.Dataset, error) {
				return Conll{Remarks: say, Threads: 2}.Read(strings.NewReader(text), "x")
			}},
		"conllu": {"# sent_id = a\n" + word("1", "a", "0") + "\n# sent_id = b\n" + word("1", "b", "0") + word("3", "b", "1") +
			"\n# sent_id = c\n" + word("1", "c", "0") + word("2", "c", "9") + "\n" + word("1", "d", "0"),
			[]int{2, 12}, []string{"x:6: id 3, expected 2", "x:10: head 9"}, true,
			func(text string, say *remarks.Remarks) (*structured.Dataset, error) {
				return Conllu{Remarks: say, CheckTree: check, Threads: 2}.Read(strings.NewReader(text), "x")
			}},
		"crfsuite": {"O\ta\n\nB\tb:x\nB\tc\n\n@weight:-1\nO\td\n\n@weight:2\n\nO\te\n", []int{1, 11},
			[]string{"x:3: attribute", "x:6: @weight:-1", "x:10: @weight of no sequence"}, false,
			func(text string, say *remarks.Remarks) (*structured.Dataset, error) {
				return CRFsuite{Remarks: say, Threads: 2}.Read(strings.NewReader(text), "x")
			}},
	} {
		for _, size := range []int{1, 20, 1 << 20} {
			withBlocks(size, func() {
				say := remarks.New(true)
				d, err := c.read(c.text, say)
				if err != nil || !slices.Equal(d.Lines, c.lines) {
					t.Fatalf("%s, blocks of %d: %v, sentences of lines %v, expected %v", name, size, err, d, c.lines)
				}
				left := say.Reasons()
				if !slices.EqualFunc(left, c.reasons, strings.HasPrefix) {
					t.Errorf("%s, blocks of %d: left out %q, expected %q", name, size, left, c.reasons)
				}
				if _, err := c.read(c.text, nil); !structured.IsBadInput(err) {
					t.Errorf("%s without leave to skip: %v", name, err)
				}
				if !c.kept {
					return
				}
				var all strings.Builder
				for at := range d.Positions() + 1 {
					all.WriteString(d.LinesBefore(at, slices.Contains(d.Offsets, at)))
					if at < d.Positions() {
						for k := range d.Columns {
							if all.WriteString(d.Columns[k][at]); k < len(d.Columns)-1 {
								all.WriteByte(d.Layout.Separator)
							}
						}
						all.WriteByte('\n')
					}
				}
				if got := all.String(); got != c.text {
					t.Errorf("%s, blocks of %d: the lines are\n%s\nexpected\n%s", name, size, got, c.text)
				}
			})
		}
		if _, err := c.read("\n \n", remarks.New(true)); !structured.IsBadInput(err) {
			t.Errorf("%s: nothing: %v", name, err)
		}
	}
}

// A piece falls into halves between sequences; all halves of halves are the piece.
func TestHalves(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\nb\n\nc\n\nd\n": "a\n\nb\n\n", "longer\nsentence\n\na\n\nb\n": "longer\nsentence\n\n",
	} {
		if first, _, _ := (Chunk{[]byte(text), 1}).Halves(false); string(first.Text) != want {
			t.Errorf("the first half of %q is %q, expected %q", text, first.Text, want)
		}
	}
	var cut func(p Chunk, lines bool) []Chunk
	cut = func(p Chunk, lines bool) []Chunk {
		first, second, several := p.Halves(lines)
		if !several {
			return []Chunk{p}
		}
		return append(cut(first, lines), cut(second, lines)...)
	}
	for text, want := range map[string][2]string{
		"a\nb\n\nc\n\n\nd": {"a\nb\n\n|c\n\n\n|d", "a\n|b\n|\n|c\n|\n|\n|d"}, "\n\na\n\n": {"\n\na\n\n", "\n|\n|a\n|\n"},
		"a": {"a", "a"}, "a\n \nb\n": {"a\n \n|b\n", "a\n| \n|b\n"},
	} {
		for k, lines := range []bool{false, true} {
			var got []string
			line := 3
			for _, p := range cut(Chunk{[]byte(text), 3}, lines) {
				if got = append(got, string(p.Text)); p.Line != line {
					t.Errorf("%q begins in line %d, expected %d", p.Text, p.Line, line)
				}
				line += strings.Count(string(p.Text), "\n")
			}
			if strings.Join(got, "|") != want[k] {
				t.Errorf("%q, lines %v: %q, expected %q", text, lines, got, want[k])
			}
		}
	}
}
