package uai

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/query"
	"github.com/dsp-go/dsp/structured"
)

// The example of toulbar2's manual: all different, by one function that others share; and a constant.
const different = `different 4 4 7 10
4 4 4 4
-2 0 1 0 4
0 0 1
1 1 1
2 2 1
3 3 10
2 0 2 0 -1
2 0 3 0 -1
2 1 2 0 -1
2 1 3 0 -1
2 2 3 0 -1
0 3 0
`

func TestReadWCSP(t *testing.T) {
	n, err := ReadWCSP(strings.NewReader(different), "d.wcsp")
	if err != nil || n.Upper != 10 || n.Least != 0 || n.Error != 0 || len(n.Model.Factors) != 7 ||
		!reflect.DeepEqual(n.Model.States, []int{4, 4, 4, 4}) {
		t.Fatalf("%+v, %v", n, err)
	}
	m := n.Model
	for _, c := range []struct {
		states []int
		want   float64
	}{{[]int{0, 1, 2, 3}, -3}, {[]int{0, 0, 0, 1}, -6}, {[]int{3, 3, 0, 1}, math.Inf(-1)}} {
		if got := m.Value(c.states); got != c.want {
			t.Errorf("%v costs %v, want %v", c.states, -got, -c.want)
		}
	}
	// the last variable changes fastest
	ordered, err := ReadWCSP(strings.NewReader("o 2 3 1 9 2 3 2 0 1 5 1 1 2 0"), "o.wcsp")
	if want := []float64{-5, -5, -5, -5, -5, 0}; err != nil ||
		!reflect.DeepEqual(ordered.Model.Factors, []factors.Factor{{Scope: []int{0, 1}, Table: want}}) {
		t.Errorf("%+v, %v", ordered, err)
	}
	for name, want := range map[string]bool{"a.wcsp": true, "b/A.WCSP.xz": true, "a.wcsp.gz": true,
		"a.uai": false, "wcsp": false} {
		if IsWCSP(name) != want {
			t.Errorf("IsWCSP(%q) is %v", name, !want)
		}
	}
}

// Costs that float64 has no room for count by what they are above the least one of their function. Where that is no
// help, answers are not exact.
func TestLargeCosts(t *testing.T) {
	n, err := ReadWCSP(strings.NewReader("large 2 2 3 9223372036854775807 2 2 1 0 9007199254740993 1 1 9007199254740992 "+
		"2 0 1 7 1 0 1 9223372036854775807 "+
		"1 1 4611686018427387905 1 1 4611686018427387904"), "l.wcsp")
	if err != nil {
		t.Fatal(err)
	}
	if n.Least != 1<<53+1<<62+7 || n.Error != 0 || n.Model.Value([]int{0, 0}) != -2 ||
		!math.IsInf(n.Model.Value([]int{0, 1}), -1) || n.Model.Value([]int{1, 1}) != 0 {
		t.Errorf("%+v", n)
	}
	a := &query.Answer{Exact: true, States: []int{0, 0}, Value: -2, Bound: -2}
	if cost, ok := n.Cost(a); !ok || cost != 1<<53+1<<62+9 {
		t.Errorf("%d, %v", cost, ok)
	}
	if n.Restore(a); !a.Exact || a.Value != -(1<<53+1<<62+9) || a.Bound != a.Value {
		t.Errorf("%+v", a)
	}
	a = &query.Answer{States: []int{0, 0}, Value: -2, Bound: -1.5}
	if n.Restore(a); a.Exact || !(a.Bound > -(1<<53 + 1<<62 + 8)) || !(a.Value < a.Bound) {
		t.Errorf("a bound: %+v", a)
	}
	wide, err := ReadWCSP(strings.NewReader("wide 1 2 1 9223372036854775807 2 1 0 0 1 1 9007199254740993"), "w.wcsp")
	if err != nil || !(wide.Error > 0) {
		t.Fatalf("%+v, %v", wide, err)
	}
	a = &query.Answer{Exact: true, States: []int{1}, Value: -1 << 53, Bound: -1 << 53}
	if _, ok := wide.Cost(a); ok {
		t.Error("a cost that is rounded")
	}
	if wide.Restore(a); a.Exact || a.Value > -(1<<53+1) || a.Bound < -(1<<53+1) {
		t.Errorf("%+v", a)
	}
	a = &query.Answer{Exact: true, States: []int{1}, Rounding: 2}
	if n.Restore(a); a.Exact {
		t.Error("exact, though rounding may hide a cost")
	}
	full, err := ReadWCSP(strings.NewReader("full 1 1 3 9223372036854775807 1 1 0 9223372036854775806 0 1 0 "+
		"9223372036854775806 0 1 0 9223372036854775806 0"), "f.wcsp")
	if err != nil || full.Least != full.Upper {
		t.Errorf("%+v, %v", full, err)
	}
}

func TestReadWCSPRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "the name of the problem",
		"a 1 2 1 9\n2\n1 1":                  "d.wcsp:3: \"1\", expected a variable: a whole number from 0 to 0",
		"a 1 2 1 9\n3":                       "number of states: a whole number from 1 to 2",
		"a 1 2 1 9\n-2":                      "number of states",
		"a 2 2 1 9\n2 2\n2 0 0":              "variable 0 is twice",
		"a 2 2 1 9\n2 2\n2 0 1 -1 >= 0 0":    "intension",
		"a 1 2 1 9\n2\n1 0 0 -1":             "the number of tuples: a whole number from 0 to 2",
		"a 2 3 2 9\n2 3\n-1 0 0 0\n1 1 0 -1": "other numbers of states",
		"a 1 2 1 9\n2\n1 0 0 1 2":            "a state: a whole number from 0 to 1",
		"a 1 2 1 9\n2\n1 0 0 1 0 x":          "the cost of a tuple",
		"a 1 2 0 9\n2\n1":                    "after the last cost function",
		"a 30 2 1 9\n" + strings.Repeat("2 ", 30) + "29 " +
			strings.Repeat("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 ", 1) +
			"0 0": "entries",
	} {
		if _, err := ReadWCSP(strings.NewReader(text), "d.wcsp"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A file whose decompression fails is refused with the line where it does, even after the last word.
func TestReadersReportDamage(t *testing.T) {
	damaged := func(text string) io.Reader {
		return io.MultiReader(strings.NewReader(text), iotest.ErrReader(errors.New("checksum is wrong")))
	}
	errs := map[string]error{}
	for _, end := range []int{len(different) - 1, len(different)} {
		_, errs[fmt.Sprintf("d.wcsp:%d: ", 14+end-len(different))] = ReadWCSP(damaged(different[:end]), "d.wcsp")
	}
	_, errs["d.wcsp:5: "] = ReadWCSP(damaged(different[:strings.Index(different, "1 1 1")]), "d.wcsp")
	_, errs["small.uai:16: "] = ReadModel(damaged(small), "small.uai")
	_, errs["e:2: "] = ReadEvidence(damaged("1 0 1\n"), "e", &factors.Model{States: []int{2}})
	for place, err := range errs {
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), place) ||
			!strings.Contains(err.Error(), "checksum is wrong") {
			t.Errorf("%v, want bad input at %s", err, place)
		}
	}
}

func FuzzReadWCSP(f *testing.F) {
	f.Add(different)
	f.Add("o 2 3 1 9 2 3 2 0 1 5 1 1 2 0")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ReadWCSP(strings.NewReader(text), "f")
		if err != nil {
			if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("%v does not name the file and line", err)
			}
			return
		}
		m := n.Model
		m.Value(make([]int, len(m.States))) // scopes and tables fit
		for _, f := range m.Factors {
			for _, x := range f.Table {
				if math.IsNaN(x) || x > 0 {
					t.Fatalf("entry %v", x)
				}
			}
		}
	})
}
