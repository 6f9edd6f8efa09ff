package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/remarks"
)

// fourColumns is text with the usual columns, and sep between them.
func fourColumns(sep string) string {
	text := "-DOCSTART- -X- -X- O\n\n" + strings.Repeat("EU NNP B-NP B-ORG\nrejects VBZ B-VP O\nGerman JJ B-NP B-MISC\n"+
		"call NN I-NP O\n. . O O\n\n", 3)
	return strings.ReplaceAll(text, " ", sep)
}

// Parts of speech are recognised by what a column holds, where labels are entity tags, and nothing else is.
func TestRecognise(t *testing.T) {
	keep := func(columns ...int) string {
		var out strings.Builder
		for line := range strings.Lines(fourColumns(" ")) {
			fields := strings.Fields(line)
			var kept []string
			for _, k := range columns {
				if k < len(fields) {
					kept = append(kept, fields[k])
				}
			}
			out.WriteString(strings.Join(kept, "\t") + "\n")
		}
		return out.String()
	}
	const pos1, pos2 = "word=0,pos=1,label=-1", "word=0,pos=2,label=-1"
	for _, test := range []struct{ name, text, want string }{
		{"blanks", fourColumns(" "), pos1},
		{"tabs", fourColumns("\t"), pos1},
		{"a header", "word\tpos\tchunk\tner\n" + strings.TrimPrefix(fourColumns("\t"), "-DOCSTART-\t-X-\t-X-\tO\n\n"), pos1},
		{"word pos tag", keep(0, 1, 3), pos1},
		{"word chunk pos tag", keep(0, 2, 1, 3), pos2},
		{"word chunk tag", keep(0, 2, 3), ""},
		{"word lemma tag", keep(0, 0, 3), ""},
		{"word tag", keep(0, 3), ""},
		{"labels are parts of speech", keep(0, 1, 1), ""},
		{"Universal Dependencies", "Le\tDET\tO\nchat\tNOUN\tO\nde\tADP\tO\nZoé\tPROPN\tB-PER\n.\tPUNCT\tO\n", pos1},
		{"with morphology", "Le\tDET|m\tO\nchat\tNOUN|m\tO\ndort\tVERB|3\tO\nZoé\tPROPN|f\tB-PER\n.\t.\tO\n", pos1},
		{"a class that nobody knows", strings.Repeat("a Da O\nb Nc O\nc Vm B-X\nd Sp O\ne Rg O\nf Aq O\ng Pp O\nh Cc O\n"+
			"\n", 40), pos1},
		{"capitals or not", strings.Repeat("a Upper O\nb Lower O\nc Mixed B-X\n\n", 40), ""},
		{"comments", "# text = a\n" + fourColumns(" "), pos1},
		{"nothing", "", ""},
	} {
		if got := (Conll{}).Recognise(strings.NewReader(test.text), "x"); got != test.want {
			t.Errorf("%s: columns %q, expected %q", test.name, got, test.want)
		}
	}
}

// A first line that names the columns is no token, and stays in the layout.
func TestHeader(t *testing.T) {
	for _, test := range []struct {
		header, sep, comments string
		skipped               bool
	}{
		{"word pos chunk ner", " ", "", true},
		{"Token\tPOS_tag\tchunk-tag\tNER tag", "\t", "", true},
		{"WORD\tPOS\tCHUNK\tLABEL\n", "\t", "", true},
		{"word pos chunk ner", " ", NoComments, false},
		{"word NN B-NP O", " ", "", false},
		{"word tag tag tag", " ", "", false},
	} {
		body := strings.ReplaceAll("EU NNP B-NP B-ORG\nword NN B-NP O\n", " ", test.sep)
		say := remarks.New(false)
		d, err := Conll{Comments: test.comments, Remarks: say}.Read(strings.NewReader(test.header+"\n"+body), "x")
		if err != nil {
			t.Fatal(err)
		}
		want := 3
		if test.skipped {
			want = 2
		}
		if d.Positions() != want ||
			slices.ContainsFunc(say.Made(), func(r remarks.Remark) bool { return r.What == remarks.Header }) != test.skipped {
			t.Errorf("%q: %d tokens and the remarks %+v, expected %d tokens", test.header, d.Positions(), say.Made(), want)
		}
		if before := d.LinesBefore(0, true); test.skipped && before != test.header+"\n" {
			t.Errorf("%q: the layout begins with %q", test.header, before)
		}
	}
}
