package templates

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// name is a macro of letters.
type name string

func (n name) String() string { return "%" + string(n) + ";" }

// Literals reads what Join writes, whatever the literals are.
func TestLiterals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literals := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune("%a;é["))), 1, 5).Draw(t, "literals")
		var macros, read []name
		for range len(literals) - 1 {
			macros = append(macros, name(rapid.StringMatching("[a-z]{1,3}").Draw(t, "macro")))
		}
		var l *Line
		for l = range Lines(Join(literals, macros), "x") {
		}
		got, err := l.Literals(func() error {
			from := l.At
			for l.Text[l.At] != ';' {
				l.At++
			}
			read = append(read, name(l.Text[from:l.At]))
			l.At++
			return nil
		})
		if err != nil || !slices.Equal(got, literals) || !slices.Equal(read, macros) {
			t.Fatalf("%q, %q, %v", got, read, err)
		}
	})
}

// Errors name the file, the line and, in characters, the place in it.
func TestBad(t *testing.T) {
	for l := range Lines("\ufeff# a\né%x[b\n", "x.template") {
		if l.Comment() {
			continue
		}
		l.At = len("é%")
		if _, _, err := (Language{Cell: "[row,column]"}).Read(l, len("é%x")); err == nil ||
			err.Error() != `x.template:2:4: "[b" without ], expected [row,column]` {
			t.Error(err)
		}
	}
}
