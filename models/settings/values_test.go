package settings

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Values are written as they are read, and what is none of them is refused with what was expected.
func TestTextsOfValues(t *testing.T) {
	type value interface {
		Set(text string) error
		Type() string
	}
	for _, c := range []struct {
		new   func() value
		good  string // values, and what they are written as after an arrow
		bad   string // values
		want  string
		kinds string
	}{
		{func() value { return new(Count) }, "auto 1 25 -> auto 1 25", "0 -1 x 1.5", "expected a number of at least 1, or auto", "N|auto"},
		{func() value { return new(ModelBatch) }, "auto 1 all -> auto 1 all", "0 -1 x", "expected a number of at least 1, all, or auto", "N|all|auto"},
		{func() value { return new(Sizes) }, "1 1,2 -3,0 -> 1 1,2 -3,0", "x 1,,2 1,", "expected whole numbers with commas between", "N,..."},
		{func() value { return new(Bounds) }, "0,inf -1,2 -inf,0.5 -> 0,inf -1,2 -inf,0.5", "1 1,1 2,1 nan,1 1,x inf,inf -inf,-inf 1,2,3 1e99,2e99", "expected LOW,HIGH, two numbers of which the first is smaller, such as 0,inf", "LOW,HIGH"},
		{func() value { return new(LabelWeights) }, "b=2,a=0.5 a=b=1 a=0 a=0e9 -> a=0.5,b=2 a=b=1 a=0 a=0", "=1 a", "expected LABEL=COST", "LABEL=COST,..."},
		{func() value { return new(LabelWeights) }, "a=1e300 -> a=1e+300", "a=1e999 a=1e-999 a=0.1e-999", "too large or too small for a number of 64 bits", "LABEL=COST,..."},
		{func() value { return new(LabelWeights) }, "a=-1 -> a=-1", "a=x a=", "expected LABEL=COST with a number for the cost", "LABEL=COST,..."},
		{func() value { return new(Texts) }, "b=2,a=x=y a= -> a=x=y,b=2 a=", "=1 a b=1,c", "expected NAME=VALUE", "NAME=VALUE,..."},
		{func() value { return new(Gap) }, "auto 0 0.25 1e-7 -> auto 0 0.25 1e-07", "-1 nan inf x -0.5", "expected a number of at least 0, or auto", "X|auto"},
	} {
		texts, written, _ := strings.Cut(c.good, " -> ")
		want := strings.Fields(written)
		for k, text := range strings.Fields(texts) {
			v := c.new()
			if err := v.Set(text); err != nil || fmt.Sprint(v) != want[k] || v.Type() != c.kinds {
				t.Errorf("%T of %s: %v (%s), %v", v, text, v, v.Type(), err)
			}
		}
		for text := range strings.FieldsSeq(c.bad) {
			if err := c.new().Set(text); !structured.IsBadInput(err) || !strings.HasSuffix(err.Error(), ": "+c.want) {
				t.Errorf("%T of %s: %v, expected %s", c.new(), text, err, c.want)
			}
		}
	}
	for _, v := range []value{new(Sizes), new(LabelWeights), new(Texts), new(Bounds)} {
		if err := v.Set(""); err != nil || fmt.Sprint(v) != "" {
			t.Errorf("nothing is %v, %v", v, err)
		}
	}
	if low, high, ok := Bounds("-1,inf").Ends(); !ok || low != -1 || high < 1e38 {
		t.Errorf("%v to %v, %v", low, high, ok)
	}
	if _, _, ok := Bounds("").Ends(); ok {
		t.Error("nothing has ends")
	}
}

// distance is how many edits turn one word into another, by its definition: what is left after the last letters are
// kept, replaced, deleted, inserted or swapped.
func distance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	n, m, last := len(a)-1, len(b)-1, 1
	if a[n] == b[m] {
		last = 0
	}
	d := min(distance(a[:n], b[:m])+last, distance(a[:n], b)+1, distance(a, b[:m])+1)
	if n > 0 && m > 0 && a[n] == b[m-1] && a[n-1] == b[m] {
		d = min(d, distance(a[:n-1], b[:m-1])+1)
	}
	return d
}

func TestEdits(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "bca", "aabb", "abab", "cabba", "xyzzy"}
	for _, a := range words {
		for _, b := range words {
			if got := edits(a, b); got != distance(a, b) {
				t.Errorf("%q to %q: %d edits, expected %d", a, b, got, distance(a, b))
			}
		}
	}
}

// The nearest name is the only one that begins so, or the one with the fewest edits, at most one for three letters.
func TestNearestByEdits(t *testing.T) {
	names := []string{"passes", "patience", "method", "mu"}
	for name, want := range map[string]string{"pass": "passes", "pat": "patience", "pa": "", "passs": "passes", "metohd": "method", "mathud": "method", "mathudx": "", "xathudx": "", "m": "mu", "u": "mu", "": "", "methodically": ""} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
	if got := Nearest("met", []string{"method", "metric"}); got != "" {
		t.Errorf("two names begin so, and %q is chosen", got)
	}
}

// own are settings of somebody's own.
type own struct {
	Size int     `yaml:"size" min:"1" max:"5" help:"a size"`
	Kind string  `yaml:"kind" values:"a|b" help:"a kind"`
	Rate float64 `yaml:"rate" max:"1" help:"a rate"`
}

func TestFill(t *testing.T) {
	plain := own{2, "a", 0.5}
	filled, err := Fill(plain, Texts{"size": "3", "kind": "b"}, "method-settings", "x")
	if err != nil || !reflect.DeepEqual(filled, &own{3, "b", 0.5}) || plain.Size != 2 {
		t.Errorf("%+v, %v", filled, err)
	}
	for want, given := range map[string]Texts{
		`--method-settings sze=3: x has no setting "sze"; it has size, kind, rate`: {"sze": "3"}, `--method-settings size: "z": expected a whole number`: {"size": "z"},
		"--method-settings size 0: expected 1 to 5": {"size": "0"}, "--method-settings size 6: expected 1 to 5": {"size": "6"}, "--method-settings rate 2: expected at most 1": {"rate": "2"},
		`--method-settings kind "c" is not known`: {"kind": "c"}, "--method-settings rate NaN: expected a finite number": {"rate": "nan"}, "--method-settings rate -Inf: expected a finite number": {"rate": "-inf"},
	} {
		if _, err := Fill(plain, given, "method-settings", "x"); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v, expected %s", given, err, want)
		}
	}
	if _, err := Fill(nil, Texts{"a": "1"}, "f", "x"); err == nil || err.Error() != `--f a=1: x has no setting "a"` {
		t.Error(err)
	}
	for want, plain := range map[string]any{
		"": own{}, " ": nil, "its settings are a int; expected a struct": 3, "its setting a needs a tag help": struct {
			A int `yaml:"a"`
		}{},
	} {
		if err := CheckOwn(plain); (err == nil) != (strings.TrimSpace(want) == "") || err != nil && err.Error() != want {
			t.Errorf("%T: %v, expected %q", plain, err, want)
		}
	}
}

// What dsp has comes first, in the order of the names, and then what was added, in that order; the first error stays.
func TestRegistry(t *testing.T) {
	var r Registry[string]
	for _, name := range []string{"b", "c", "a"} {
		if r.Builtin(name, "the "+name) != "the "+name {
			t.Error(name)
		}
	}
	r.Add("z", nil)
	r.Add("bad", fmt.Errorf("first"))
	r.Add("worse", fmt.Errorf("second"))
	r.Add("y", nil)
	all := r.All()
	if want := []string{"the a", "the b", "the c", "z", "y"}; !reflect.DeepEqual(all, want) || r.Failed() == nil || r.Failed().Error() != "first" {
		t.Errorf("%q, %v", all, r.Failed())
	}
	all[0] = "changed"
	var seen []string
	r.Each(func(d *string) { seen = append(seen, *d) })
	if seen[0] != "the a" || len(seen) != 5 {
		t.Errorf("%q", seen)
	}
	if r.Put([]string{"x"}); r.Failed() != nil || len(r.All()) != 1 {
		t.Errorf("%q, %v", r.All(), r.Failed())
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a name is taken twice")
			}
		}()
		r.Builtin("b", "")
	}()
	for name, good := range map[string]bool{"x": true, "a-b": true, "": false, "a b": false, "a,b": false, "a=b": false, "a|b": false, "taken": false, "auto": false} {
		if err := CheckName(name, []string{"taken"}); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Files of settings are refused with their line and what was expected.
func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"size: 2\nsiez: 3\n": `x:2: unknown setting "siez"; did you mean "size"?`,
		"zzz: 3\n":           `x:1: unknown setting "zzz"; the settings are the flags of dsp train --help`,
		"size: 2\nsize: 3\n": `x:2:1: mapping key "size" already defined at [1:1]`,
		"size: 2.5\n":        "x:1: size: expected a whole number, found 2.5",
		"size: [1]\n":        "x:1: size: expected a whole number, found [1]",
		"rate: x\n":          "x:1: rate: expected a number, found x",
		"name: [a]\n":        "x:1: name: expected text, found [a]",
		"count: 0\n":         "x:1: count: expected a number of at least 1, or auto, found 0",
		"gap: x\n":           "x:1: gap: expected a number of at least 0, or auto, found x",
		"sizes: {a: 1}\n":    "x:1: sizes: expected a list of whole numbers, as in [300, 200], found ",
		"ranges: {a: 1}\n":   `x:1: ranges: expected a list of ranges, as in ["reg=0.1,1,10"], found `,
		"texts: [1]\n":       "x:1: texts: expected a mapping from names to values, found ",
		"weights: [1]\n":     "x:1: weights: expected a mapping from labels to numbers, found ",
		"given: [siez]\n":    `x:1: given: unknown setting "siez"; did you mean "size"?`,
		"given: {a: b}\n":    "x:1: given: expected a list of names of settings, found ",
		"just text\n":        `x:1: expected settings, one "name: value" per line`,
		"- a\n- b\n":         `x:1: expected settings, one "name: value" per line`,
	} {
		var got sample
		if err := Parse("x", []byte(text), Of(&got)); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "{}\n", "size:\n"} {
		got := sample{Size: 4}
		if err := Parse("x", []byte(text), Of(&got)); err != nil || (got.Size == 0) != (text == "size:\n") {
			t.Errorf("%q: %v, %+v", text, err, got)
		}
	}
}

// Values of a file that is no UTF-8 are refused, and names say whether they leave the choice open.
func TestChecksOfText(t *testing.T) {
	s, _ := Get(&sample{Name: "a\xff"}, "name")
	if err := s.Check(); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), `--name "a\xff": not UTF-8`) {
		t.Error(err)
	}
	c := sample{Size: 7}
	n, _ := Get(&c, "size")
	if n.CheckRange() != nil || n.AtMost(7).CheckRange() != nil {
		t.Error("7 is at most 7")
	}
	if err := n.AtMost(6).CheckRange(); err == nil || err.Error() != "--size 7: expected 1 to 6" {
		t.Error(err)
	}
	for value, want := range map[string]bool{"": true, "auto": true, "none": false} {
		if Undecided(value) != want {
			t.Errorf("%q leaves the choice open: %v", value, !want)
		}
	}
}
