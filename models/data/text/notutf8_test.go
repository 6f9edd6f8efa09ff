package text

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Words in another encoding are counted over all data sets, and the first is named.
func TestNotUTF8(t *testing.T) {
	read := func(lines string) *structured.Dataset {
		t.Helper()
		d, err := Conll{}.Read(strings.NewReader(lines), "x.conll")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	var n NotUTF8
	for _, d := range []*structured.Dataset{read("good O\n\ncaf\xe9 O\n\xe9t\xe9 O\n"),
		read("\xff O\n"), {Offsets: []int{0, 2}}} {
		n.Add(d)
	}
	if n.Times != 3 || !strings.Contains(n.First, "x.conll:3") {
		t.Errorf("%+v, want 3 words, the first in x.conll:3", n)
	}
}
