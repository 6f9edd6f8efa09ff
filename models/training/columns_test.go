package training

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// Columns that a template does not read are listed, but for the label and those without names.
func TestUnreadColumns(t *testing.T) {
	read, err := features.Parse("Uw=%x[0,word]\nUp=%x[0,pos?]\n", "a.template")
	if err != nil {
		t.Fatal(err)
	}
	d := &structured.Dataset{ColumnNames: []string{"word", "pos", "chunk", "", "label", "tag"}}
	if got := unreadColumns(d, read); !slices.Equal(got, []string{"chunk", "tag"}) {
		t.Errorf("unread columns %v, expected chunk and tag", got)
	}
	if got := unreadColumns(d, nil); got != nil {
		t.Errorf("without a template: %v", got)
	}
}

func TestUnnamedColumns(t *testing.T) {
	for given, want := range map[string][2]string{
		"word=0,label=-1":       {"1", "word=0,pos=1,label=-1"},
		"word=0,pos=1,label=-1": {"", ""},
		"word=1,label=0":        {"2", "label=0,word=1,column2=2"},
	} {
		columns, err := text.ParseColumns(given)
		if err != nil {
			t.Fatal(err)
		}
		d, err := text.Conll{Columns: columns}.Read(strings.NewReader("a b c\n"), "x")
		if err != nil {
			t.Fatal(err)
		}
		if unnamed, named := unnamedColumns(d); unnamed != want[0] || named != want[1] {
			t.Errorf("%s: columns %q, for example %q, want %q", given, unnamed, named, want)
		}
	}
	if _, named := unnamedColumns(&structured.Dataset{ColumnNames: []string{"word", "", "pos"}}); named != "word=0,column1=1,pos=2" {
		t.Errorf("beside pos: for example %q", named)
	}
	if unnamed, _ := unnamedColumns(&structured.Dataset{}); unnamed != "" {
		t.Errorf("data without columns has unnamed columns %q", unnamed)
	}
}
