package reproduce

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// runOf is a run with these objectives and dev F1, one per pass, of 10 examples and 10 oracle calls a pass.
func runOf(objectives []float64, f1 ...float64) *Run {
	r := &Run{Examples: 10}
	for k, x := range objectives {
		at := record.Record{Pass: k + 1, OracleCalls: 10 * (k + 1), Objective: record.Number(x),
			Dual: record.Number(math.NaN())}
		if f1 != nil {
			at.Dev = &structured.Metrics{Measures: []structured.Measure{{Name: "f1", Value: f1[k]}}}
		}
		r.Records = append(r.Records, at)
	}
	return r
}

func TestMeasure(t *testing.T) {
	r := runOf([]float64{4, 1, 2}, 0.5, 0.7, 0.6)
	diverged := runOf([]float64{4}, 0.5)
	diverged.Diverged = "NaN"
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		text         string
		is, diverged float64
	}{
		{"final objective", 2, inf},
		{"best objective", 1, 4},
		{"mean objective", 7. / 3, inf},
		{"final dev f1", 0.6, -inf},
		{"best dev f1", 0.7, 0.5},
		{"calls to objective 2", 2, inf},
		{"calls to objective 0.5", inf, inf},
		{"calls to dev f1 0.6", 2, inf},
		{"calls to dev f1 0.5", 1, 1},
		{"calls to suboptimality 1", nan, nan},
		{"final dual", nan, -inf},
		{"failed", 0, 1},
	} {
		m, err := parseMeasure(c.text)
		if err != nil {
			t.Fatal(err)
		}
		for run, want := range map[*Run]float64{r: c.is, diverged: c.diverged} {
			if got := m.of(run); got != want && !(math.IsNaN(got) && math.IsNaN(want)) && math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of %s: got %v, expected %v", c.text, run.Diverged, got, want)
			}
		}
	}
	for _, text := range []string{"", "objective", "last objective", "final objectiv", "calls to objective",
		"calls to objective x", "mean calls"} {
		if _, err := parseMeasure(text); !structured.IsBadInput(err) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestCheck(t *testing.T) {
	values := map[string]float64{"a": 1, "b": 2, "c-d": 4, "K = 5": 8, "nan": math.NaN(), "never": math.Inf(1)}
	of := func(name string) float64 { return values[name] }
	sd := func(name string) float64 { return values[name] / 10 }
	for text, want := range map[string]bool{
		"a < b":                       true,
		"b < a":                       false,
		"a <= 1":                      true,
		"a < 1":                       false,
		"b >= 2 * a":                  true,
		"b > 2 * a":                   false,
		"a + b <= 3":                  true,
		"b - a - a >= 0":              true,
		"min(a, b,c-d) >= 1":          true,
		"max( a, c-d ) - 1 <= 3":      true,
		`"K = 5" > 2 * max(a, b)`:     true,
		"b - a <= sd(a, \"K = 5\")":   false,
		"b - 1.5 <= sd(a, \"K = 5\")": true,
		"a < never":                   true,
		"0 <= 0.5 * a - 0.5 * a":      true,
	} {
		c, err := parseCheck("final objective: " + text)
		if err != nil {
			t.Fatal(text, err)
		}
		if got, decided := c.holds(of, sd); got != want || !decided {
			t.Errorf("%s: got %v, decided %v", text, got, decided)
		}
	}
	for _, text := range []string{"a < nan", "never < never"} {
		c, err := parseCheck("final objective: " + text)
		if err != nil {
			t.Fatal(err)
		}
		if got, decided := c.holds(of, sd); got || decided {
			t.Errorf("%s is decided", text)
		}
	}
	for _, text := range []string{"a", "a <", "< a", "a < b c", "a < mean(a)", "a < min(a", "a < min(a b)", "a < 2 *",
		`a < "b`, "a < b <= c", "a + < b", "a < ()"} {
		if c, err := parseCheck("final objective: " + text); !structured.IsBadInput(err) {
			t.Errorf("%s: got %+v %v", text, c, err)
		}
	}
	if c, _ := parseCheck(`final objective: max("x y", b) <= 2 * b - a`); strings.Join(c.curves(), "|") != "x y|b|a" {
		t.Errorf("curves %q", c.curves())
	}
}

// A verdict needs the medians and most of the seeds.
func TestJudge(t *testing.T) {
	p := &partResults{Part: &Part{}}
	curve := func(name string, finals ...float64) {
		c := curveResults{name: name}
		for _, x := range finals {
			c.runs = append(c.runs, runOf([]float64{x}))
		}
		p.curves = append(p.curves, c)
	}
	curve("low", 1, 2, 3, 4, 5)
	curve("high", 2, 3, 4, 5, 6)
	curve("crossing", 2, 3, 4, 3, 4)
	curve("unknown", math.NaN(), 1, 1, 1, 1)
	for text, want := range map[string]string{
		"low < high":       agrees,
		"high < low":       disagrees,
		"low < crossing":   mixed,
		"low < unknown":    notMeasured,
		"high - low <= 1":  agrees,
		"low - high <= -2": disagrees,
		"low < 5":          agrees,
		"low < 4":          mixed, // three of five seeds
		"sd(low) < 1.6":    agrees,
		"sd(low) < 1.5":    disagrees,
	} {
		c, err := parseCheck("final objective: " + text)
		if err != nil {
			t.Fatal(err)
		}
		if r := p.judge(Claim{Check: c}); r.Verdict != want {
			t.Errorf("%s: %+v, expected %s", text, r, want)
		}
	}
	c, _ := parseCheck("final objective: low < high")
	if r := p.judge(Claim{Check: c}); r.Values[0] != "low 3 [2, 4]" || r.Holds != 5 || r.Decided != 5 {
		t.Errorf("%+v", r)
	}
}

// Tuned values are compared by the objective, among those with nearly the best metric.
func TestChoice(t *testing.T) {
	diverged := runOf([]float64{0.1}, 0.99)
	diverged.Diverged = "NaN"
	runs := []*Run{runOf([]float64{3, 2}, 0.9, 0.1), runOf([]float64{1, 5}, 0.8, 0.8), diverged,
		runOf([]float64{2.5, 2.5}, 0.896, 0.5)}
	for text, want := range map[string]int{"objective": 1, "objective within 1% of dev f1": 0,
		"objective within 20 % of dev f1": 1} {
		c, err := parseChoice(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.best(runs); got != want {
			t.Errorf("%s: run %d, expected %d", text, got, want)
		}
		if got := c.best([]*Run{diverged}); got != -1 {
			t.Errorf("%s: a run that diverged is chosen", text)
		}
	}
	for _, text := range []string{"", "f1", "objective within x% of dev f1", "objective within 1% of test f1",
		"objective within 200% of dev f1"} {
		if _, err := parseChoice(text); !structured.IsBadInput(err) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestQuantile(t *testing.T) {
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 2.5, 1: 4} {
		if got := quantile([]float64{4, 1, 3, 2}, q); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v: got %v, expected %v", q, got, want)
		}
	}
	if x := quantile(nil, 0.5); !math.IsNaN(x) {
		t.Errorf("median of nothing is %v", x)
	}
}
