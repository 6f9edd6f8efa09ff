package settings

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// sample has a setting of each kind of value, and a field that is not a setting.
type sample struct {
	Name    string       `yaml:"name" group:"Text" values:"|long|short" help:"a text"`
	Size    int          `yaml:"size" group:"Numbers" min:"1" help:"a number"`
	Rate    float64      `yaml:"rate" group:"Numbers" min:"0" help:"a rate"`
	Count   Count        `yaml:"count" group:"Numbers" help:"a count"`
	Gap     Gap          `yaml:"gap" group:"Numbers" help:"a gap"`
	Sizes   Sizes        `yaml:"sizes" group:"Lists" min:"1" help:"sizes"`
	Weights LabelWeights `yaml:"weights" group:"Lists" help:"weights"`
	Ranges  Ranges       `yaml:"ranges" group:"Lists" help:"ranges"`
	Force   Strength     `yaml:"force" group:"Numbers" help:"a strength"`
	Batch   ModelBatch   `yaml:"batch" group:"Numbers" help:"a batch"`
	Bounds  Bounds       `yaml:"bounds" group:"Numbers" help:"bounds"`
	Texts   Texts        `yaml:"texts" group:"Lists" help:"texts"`

	Hidden int
}

func TestParseReadsWhatWriteWrites(t *testing.T) {
	for _, want := range []sample{
		{Size: 1},
		{"long", 3, 0.1, 7, AutoGap, Sizes{3, 2}, LabelWeights{"B-a b": 2, "O": 0.5}, Ranges{"reg=1,2", "k=lin:1:2:3"}, AutoStrength, AllExamples, "-1,2", Texts{"a": "b c", "d": "1"}, 0},
		{Size: 1, Gap: 0.25, Force: 1e-7, Batch: 3},
	} {
		var text bytes.Buffer
		if err := Write(&text, Of(&want)); err != nil {
			t.Fatal(err)
		}
		var got sample
		if err := Parse("x.yaml", text.Bytes(), Of(&got)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v from\n%s", got, err, want, text.String())
		}
		packed, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got = sample{}
		if err := json.Unmarshal(packed, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v from %s", got, err, want, packed)
		}
	}
}

// One setting by its name is the one among all, and sets the same field.
func TestGet(t *testing.T) {
	var c sample
	for _, want := range Of(&c) {
		got, ok := Get(&c, want.Name)
		if !ok || got.Value.Addr().Pointer() != want.Value.Addr().Pointer() || got.Help != want.Help {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if s, ok := Get(&c, "hidden"); ok {
		t.Errorf("found %+v", s)
	}
}

func TestCheck(t *testing.T) {
	for want, s := range map[string]sample{
		`--name "lang" is not known (did you mean long?)`: {Name: "lang", Size: 1},
		"--size 0: expected at least 1":                   {Size: 0},
		"--rate -1: expected at least 0":                  {Size: 1, Rate: -1},
		"--sizes 0: expected at least 1":                  {Size: 1, Sizes: Sizes{2, 0}},
		"":                                                {Size: 1, Gap: AutoGap, Sizes: Sizes{2}},
	} {
		message := ""
		for _, setting := range Of(&s) {
			if err := setting.Check(); err != nil {
				if !structured.IsBadInput(err) {
					t.Errorf("%v is not bad input", err)
				}
				message += err.Error()
			}
		}
		if (want == "") != (message == "") || !strings.Contains(message, want) {
			t.Errorf("got %q, want %q", message, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"los": "loss", "windwo": "window", "win": "window", "zzzz": "", "init": "", "lr": "", "rge": "reg",
	} {
		if got := Nearest(name, []string{"loss", "window", "reg", "net", "method", "metric"}); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// An interval has two ends in order, which may be infinite.
func TestBoundsSetting(t *testing.T) {
	for text, want := range map[string][2]float64{"0,inf": {0, math.Inf(1)}, "-1, 2.5": {-1, 2.5}, "-inf,-3": {math.Inf(-1), -3}} {
		var b Bounds
		err := b.Set(text)
		if low, high, ok := b.Ends(); err != nil || !ok || float64(low) != want[0] || float64(high) != want[1] || b.String() != text {
			t.Errorf("%q: %g to %g, %v, %v", text, low, high, ok, err)
		}
	}
	for _, text := range []string{"1", "1,0", "0,0", "nan,1", "0,x", "inf,inf", "0,1,2", "1e60,1e70"} {
		var b Bounds
		if err := b.Set(text); !structured.IsBadInput(err) || b != "" {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, _, ok := Bounds("").Ends(); ok {
		t.Error("there are bounds by default")
	}
}

// A setting is found by the name that it had, in files too, and shown behind the one that it belongs beside.
func TestNamesThatSettingsHad(t *testing.T) {
	var c struct {
		Side  int    `yaml:"side" was:"edge" group:"A" help:"a side"`
		Kind  string `yaml:"kind" group:"B" help:"a kind"`
		Whose string `yaml:"whose" group:"B" beside:"side" help:"whose side"`
		Given Given
	}
	if err := Parse("x.yaml", []byte("edge: 3\ngiven: [edge]\n"), Of(&c)); err != nil || c.Side != 3 || !c.Given.Has("side") || c.Given.Has("edge") {
		t.Errorf("%+v, %v", c, err)
	}
	if err := Parse("x.yaml", []byte("edge: 3\nside: 4\n"), Of(&c)); err == nil || !strings.Contains(err.Error(), "x.yaml:2: setting \"side\" is given twice") {
		t.Errorf("both names: %v", err)
	}
	var shown []string
	for _, s := range Displayed(Of(&c)) {
		shown = append(shown, s.Heading+" "+s.Name+" "+s.Stored())
	}
	if want := []string{"A side edge", "A whose whose", "B kind kind"}; !reflect.DeepEqual(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
}

// Costs that no float64 has are refused, and do not become 0 or the largest number; names in lists can be told apart.
func TestLabelWeightsBeyondFloats(t *testing.T) {
	for text, cost := range map[string]float64{"A=0": 0, "A=0e5": 0, "A=-0.0": 0, "A=1e-200": 1e-200, "A=5e-324": 5e-324} {
		var l LabelWeights
		if err := l.Set(text); err != nil || l["A"] != cost {
			t.Errorf("%s: %v, %v", text, l, err)
		}
	}
	for _, text := range []string{"A=1e400", "A=-1e400", "A=1e-400", "A=0.0003E-330", "B=1,A=2e-324"} {
		if err := new(LabelWeights).Set(text); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "too large or too small") {
			t.Errorf("%s: %v", text, err)
		}
	}
	err := OneOf("label", "ladybird beetles", []string{"ladybird beetle", "cat"})
	if want := `label "ladybird beetles" is not known (did you mean ladybird beetle?); use "ladybird beetle", cat`; err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}
