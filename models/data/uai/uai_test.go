package uai

import (
	"bufio"
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/structured"
)

const small = `MARKOV
3
2 3 1
3
1 0
2 1 0
0

2
 0.25 0.75
6
 1 2
 3 4
 5 0
1 2.5
`

func TestReadModel(t *testing.T) {
	m, err := ReadModel(strings.NewReader(small), "small.uai")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		states []int
		want   float64
	}{{[]int{0, 0, 0}, 0.25 * 1 * 2.5}, {[]int{1, 0, 0}, 0.75 * 2 * 2.5}, {[]int{0, 2, 0}, 0.25 * 5 * 2.5},
		{[]int{1, 2, 0}, 0}} {
		if got := math.Exp(m.Value(test.states)); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v has value %v, want %v", test.states, got, test.want)
		}
	}
}

func TestReadModelRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "m.uai:1: the file ends here, expected MARKOV or BAYES"},
		{"MARKOF", `m.uai:1: "MARKOF", expected MARKOV or BAYES`},
		{"MARKOV\n-1", `m.uai:2: "-1", expected the number of variables`},
		{"MARKOV\n2\n2 0", `m.uai:3: "0", expected a variable's number of states`},
		{"MARKOV\n2\n2 2\n1\n3 0 1 1", `m.uai:5: "3", expected a factor's number of variables: a whole number from 0 to 2`},
		{"MARKOV\n2\n2 2\n1\n2 0 2", `m.uai:5: "2", expected a variable: a whole number from 0 to 1`},
		{"MARKOV\n2\n2 2\n1\n2 1 1", "m.uai:5: variable 1 is twice in the same factor"},
		{"MARKOV\n2\n2 2\n1\n2 0 1\n5 1 1 1 1 1", "m.uai:6: 5 entries, expected 4"},
		{"MARKOV\n2\n2 2\n1\n2 0 1\n4 1 1 1", "m.uai:6: the file ends here, expected an entry of a factor"},
		{"MARKOV\n1\n2\n1\n1 0\n2\n1 -1", `m.uai:7: "-1", expected an entry of a factor: a finite number of at least 0`},
		{"MARKOV\n1\n2\n1\n1 0\n2\n1 nan", `m.uai:7: "nan", expected an entry`},
		{"MARKOV\n1\n2\n1\n1 0\n2\n1 1\n1", `m.uai:8: "1" after the last table`},
		{"MARKOV\n5\n9999999 9999999 9999999 9999999 9999999\n1\n5 0 1 2 3 4\n", "m.uai:5: a factor with 1e+14 entries"},
		{"MARKOV\n1\n\xff", "m.uai:3: "},
	} {
		_, err := ReadModel(strings.NewReader(test.text), "m.uai")
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %s", test.text, err, test.want)
		}
	}
}

// Entries that float64 rounds to few digits, to 0 or to infinity have the logarithms of what the file says.
func TestReadModelTakesEveryPositiveNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"5e-324": -324*math.Ln10 + math.Log(5), "1e-320": -320 * math.Ln10, "3e-320": -320*math.Ln10 + math.Log(3),
		"1e-400": -400 * math.Ln10, "2.5E-400": -400*math.Ln10 + math.Log(2.5), "0.00125e-310": -313*math.Ln10 +
			math.Log(1.25), "1e400": 400 * math.Ln10,
		"+12.5e+999": 1000*math.Ln10 + math.Log(1.25), "0." + strings.Repeat("0", 500) + "2": -501*math.Ln10 + math.Log(2),
		"7" + strings.Repeat("0", 600): 600*math.Ln10 +
			math.Log(7),
		strings.Repeat("0", 400) + "1e-500": -500 * math.Ln10, "1e-99999999": -99999999 * math.Ln10,
		"2.2250738585072014e-308": -1022 * math.Ln2, "1": 0, "0": math.Inf(-1), "-0": math.Inf(-1),
		"0.000e-999": math.Inf(-1), "0e99999999999": math.Inf(-1),
	} {
		m, err := ReadModel(strings.NewReader("MARKOV 1 2 1 1 0 2 "+text+" 1"), "m.uai")
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Factors[0].Table[0]; got != want && !(math.Abs(got-want) <= 1e-14*math.Abs(want)) {
			t.Errorf("%.20s: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"-1e-400", "-1e400", "inf", "nan", "1e-400x", "0x1p-2000",
		"0x1p4", "1_0", "1e", "-5e-324"} {
		if _, err := ReadModel(strings.NewReader("MARKOV 1 2 1 1 0 2 "+text+" 1"), "m.uai"); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestReadEvidence(t *testing.T) {
	m := &factors.Model{States: []int{2, 3, 2}}
	for _, test := range []struct {
		text string
		want string // the states, or a part of the error
	}{
		{"", "-1 -1 -1"}, {"0", "-1 -1 -1"}, {"2 1 2 0 1\n", "1 2 -1"}, {"1\n2 1 2 0 1\n", "1 2 -1"}, {"1 2 1", "-1 -1 1"},
		{"1\n1 2 1", "-1 -1 1"},
		{"2\n1 2 1", "e:1: 2 sets of evidence, expected 1"},
		{"1 3 0", "e:1: variable 3, expected one from 0 to 2"},
		{"1\n2 2", "e:2: state 2 of variable 2"},
		{"2 1 2 1 1", "e:1: variable 1 is observed in state 2 and in state 1"},
		{"3 1 2 1 2", "e:1: 4 numbers follow, expected 6"},
		{"1 a 1", `e:1: "a", expected`},
		{"1 0 1 0 1 0 1 0 1 0 1", "more evidence than the model has variables"},
	} {
		states, err := ReadEvidence(strings.NewReader(test.text), "e", m)
		got := strings.Trim(strings.Join(strings.Fields(strings.Trim(sprint(states), "[]")), " "), " ")
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
}

func sprint(states []int) string {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	WriteMAP(w, states)
	w.Flush()
	_, list, _ := strings.Cut(strings.TrimPrefix(b.String(), "MAP\n"), " ")
	return list
}

func TestAnswers(t *testing.T) {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	WritePR(w, math.Log(1000))
	WritePR(w, math.Inf(-1))
	WriteMAR(w, [][]float64{{0.25, 0.75}, {1}})
	WriteMAP(w, []int{1, 0})
	w.Flush()
	if want := "PR\n3\nPR\n-inf\nMAR\n2 2 0.25 0.75 1 1\nMAP\n2 1 0\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func FuzzReadModel(f *testing.F) {
	f.Add(small)
	f.Add("BAYES\n1\n2\n1\n1 0\n2 0.5 0.5")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadModel(strings.NewReader(text), "fuzz")
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatalf("not a bad-input error: %v", err)
			}
			return
		}
		for _, f := range m.Factors {
			if n := factors.Entries(sizes(m, f.Scope)); n != len(f.Table) {
				t.Fatalf("a table of %d entries, want %d", len(f.Table), n)
			}
		}
	})
}

func sizes(m *factors.Model, scope []int) []int {
	var s []int
	for _, v := range scope {
		s = append(s, m.States[v])
	}
	return s
}
