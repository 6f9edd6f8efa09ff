package sweep

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

func TestRanges(t *testing.T) {
	for text, want := range map[string]string{
		"reg=.1,1.0,10":             "0.1|1|10",
		"method=bcfw, casimir":      "bcfw|casimir",
		"reg=log:0.01:10:4":         "0.01|0.1|1|10",
		"reg=log:0.01:10:7":         "0.01|0.03162|0.1|0.3162|1|3.162|10",
		"mu=lin:0:1:5":              "0|0.25|0.5|0.75|1",
		"passes=log:1:8:4":          "1|2|4|8",
		"passes=lin:1:3:9":          "1|2|3",
		"hidden=100;300,200":        "100|300,200",
		"k=auto,5":                  "auto|5",
		"loss-by-length=true,false": "true|false",
	} {
		a, err := parseAxis(text)
		if err != nil || strings.Join(a.values, "|") != want {
			t.Errorf("%s: %q, %v; want %s", text, a.values, err, want)
		}
	}
	for text, message := range map[string]string{
		"reg":               "NAME=VALUES",
		"regg=1,2":          `did you mean "reg"`,
		"reg=1,x":           "expected a number",
		"reg=1,1.0":         "twice",
		"passes=1.5":        "a whole number",
		"k=0":               "at least 1",
		"reg=log:0:1:3":     "above 0",
		"reg=log:1:0.1:3":   "LOW below HIGH",
		"reg=log:1:2:1":     "log:LOW:HIGH:COUNT",
		"reg=log:1":         "log:LOW:HIGH:COUNT",
		"reg=log:1:nan:3":   "LOW below HIGH",
		"method=log:1:2:3":  "not a number",
		"hidden=lin:1:2:3":  "not a number",
		"threads=1,2":       "does not change the model",
		"dev=a,b":           "same data",
		"loss-by-length=si": "true or false",
	} {
		if _, err := parseAxis(text); !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v; want %q", text, err, message)
		}
	}
	for _, twice := range []settings.Ranges{
		{"reg=1,2", "reg=3"}, {"cell=16,24", "cell-pixels=32"}, {"cell-pixels=16,24", "cell=32"}, {"crop=16", "crop=32"},
	} {
		if _, err := parseAxes(twice); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "is given twice") {
			t.Errorf("%s: %v, expected that it is given twice", twice, err)
		}
	}
}

// Numbers are drawn from their whole range, with the stated distribution.
func TestDraws(t *testing.T) {
	log, lin := axis{name: "reg", between: between{0.01, 100, true}}, axis{name: "passes", between: between{1, 10, false}}
	below, low, high := 0, false, false
	for k, c := range draw([]axis{log, {name: "seed", between: between{0, 1e6, false}}}, 1000, 1) {
		x, err := strconv.ParseFloat(c[0], 64)
		if err != nil || x < 0.01 || x > 100 {
			t.Fatal(x, err)
		}
		if x < 1 {
			below++
		}
		n, err := strconv.Atoi(lin.pick((float64(k) + 0.5) / 1000))
		if err != nil || n < 1 || n > 10 {
			t.Fatal(n, err)
		}
		low, high = low || n == 1, high || n == 10
	}
	if below < 490 || below > 510 || !low || !high {
		t.Errorf("%d of 1000 below the middle; %v, %v", below, low, high)
	}
	// Few draws leave no large gap: of 16, at least 7 of 8 equal parts have one.
	for seed := range uint64(20) {
		parts := map[int]bool{}
		for _, c := range draw([]axis{log, lin}, 16, seed) {
			x, _ := strconv.ParseFloat(c[0], 64)
			parts[int(8*math.Log(x/0.01)/math.Log(100/0.01))] = true
		}
		if len(parts) < 7 {
			t.Errorf("seed %d: 16 draws fall into %d of 8 parts", seed, len(parts))
		}
	}
	choice := axis{name: "loss", values: []string{"hinge", "crf"}}
	all := draw([]axis{choice, lin}, 12, 3)
	for k, c := range all {
		if slices.ContainsFunc(all[:k], func(b []string) bool { return slices.Equal(b, c) }) {
			t.Errorf("%v is drawn twice", c)
		}
	}
	if len(all) != 12 || len(draw([]axis{choice}, 5, 3)) != 2 ||
		!slices.EqualFunc(all, draw([]axis{choice, lin}, 12, 3), slices.Equal) {
		t.Errorf("got %v", all)
	}
}
