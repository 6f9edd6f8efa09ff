package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// recorded has settings that record what was given.
type recorded struct {
	Given Given `json:"given"`

	Kind  string  `yaml:"kind" values:"auto|small|large"`
	Size  int     `yaml:"size"`
	Rate  float64 `yaml:"rate"`
	Count Count   `yaml:"count"`
	Last  string  `yaml:"last"`
}

func plain() recorded { return recorded{Kind: "auto", Size: 5, Rate: 0.5} }

func given(s *recorded) string {
	var names []string
	def := plain()
	for k, x := range Of(s) {
		if x.GivenBeside(Of(&def)[k]) {
			names = append(names, x.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestGivenIsRecorded(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"size: 5":                           "size",      // the default
		"rate: 0.5\nsize: 7":                "size rate", //
		"kind: auto\nlast: ''":              "",          // leave the choice open
		"size: 7\nrate: 0.5\ngiven: []":     "size",      // a value of its own
		"size: 5\nrate: 0.5\ngiven: [rate]": "rate",      // as a run writes it
		"kind: auto\nsize: 5\nrate: 0.25\ncount: auto\nlast: ''": "rate", // as a run of an older version writes it
	} {
		s := plain()
		if err := Parse("x.yaml", []byte(text), Of(&s)); err != nil || given(&s) != want {
			t.Errorf("%q gives %q, %v; want %q", text, given(&s), err, want)
		}
	}
	for text, message := range map[string]string{
		"given: [sise]":    `x.yaml:1: given: unknown setting "sise"; did you mean "size"?`,
		"\ngiven: 3":       "x.yaml:2: given: expected a list of names of settings, found 3",
		"given: {size: 1}": "expected a list",
	} {
		s := plain()
		if err := Parse("x.yaml", []byte(text), Of(&s)); !structured.IsBadInput(err) || !strings.Contains(fmt.Sprint(err), message) {
			t.Errorf("%q: %v, want %q", text, err, message)
		}
	}
}

// Copies of a struct record apart, a reset forgets, and a refused value is not given.
func TestGivenOfCopies(t *testing.T) {
	a := plain()
	size, _ := Named(Of(&a), "size")
	if err := size.Set("5"); err != nil || given(&a) != "size" {
		t.Fatal(given(&a), err)
	}
	b := a
	rate, _ := Named(Of(&b), "rate")
	if err := rate.Set("x"); err == nil || b.Given.Has("rate") {
		t.Errorf("%v: %v", err, b.Given)
	}
	if err := rate.Set("0.5"); err != nil || given(&b) != "size rate" || given(&a) != "size" {
		t.Errorf("%v: %q and %q", err, given(&a), given(&b))
	}
	def := plain()
	other, _ := Named(Of(&b), "size")
	other.Reset(Of(&def)[1])
	if given(&b) != "rate" || given(&a) != "size" {
		t.Errorf("%q and %q", given(&a), given(&b))
	}
}

func TestGivenIsWritten(t *testing.T) {
	want := plain()
	for _, name := range []string{"size", "rate"} {
		s, _ := Named(Of(&want), name)
		s.Give(s.Value)
	}
	want.Kind = "large" // that a run chose
	var text bytes.Buffer
	if err := Write(&text, Of(&want)); err != nil {
		t.Fatal(err)
	}
	got := plain()
	if err := Parse("x.yaml", text.Bytes(), Of(&got)); err != nil || !slices.Equal(got.Given, Given{"rate", "size"}) {
		t.Errorf("%v, %v from\n%s", got.Given, err, text.String())
	}
}
