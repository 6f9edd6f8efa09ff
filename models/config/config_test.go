package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

func TestSettingsAreDescribed(t *testing.T) {
	c := Default()
	seen := map[string]bool{}
	for _, s := range Settings(&c) {
		if len([]rune(s.Help)) > 100 {
			t.Errorf("the help of --%s is %d characters long; expected at most 100, and the rest in docs/reference/settings.txt", s.Name, len([]rune(s.Help)))
		}
		if s.Name == "" || s.Group == "" || s.Help == "" || seen[s.Name] {
			t.Errorf("%+v: a setting needs a name of its own, a group and a help text", s)
		}
		seen[s.Name] = true
	}
}

// A name that a setting had is that of no other one, and models store the setting under it.
func TestNamesThatSettingsHadStay(t *testing.T) {
	c := Default()
	var tags []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		tags = append(tags, f.Tag.Get("json"))
	}
	names := map[string]bool{}
	for _, s := range Settings(&c) {
		for _, name := range []string{s.Name, s.Was} {
			if name != "" && names[name] {
				t.Errorf("%s names two settings", name)
			}
			names[name] = true
		}
		if s.Was != "" && !slices.Contains(tags, s.Was) {
			t.Errorf("models of earlier versions have %s, and no field is read from it", s.Was)
		}
		if s.Beside != "" && !names[s.Beside] {
			t.Errorf("--%s belongs beside %s, which is not before it", s.Name, s.Beside)
		}
	}
}

func TestTagsNameWhatIsThere(t *testing.T) {
	c := Default()
	for _, s := range Settings(&c) {
		if s.Needs != "" {
			c.must(s.Needs)
		}
		for _, condition := range strings.Fields(s.Only) {
			name, _, _ := strings.Cut(condition, "=")
			c.must(name)
		}
		for _, in := range s.Reads {
			readers := nets.PresetsThat(func(p *nets.Preset) bool { return p.CanRead(nets.Inputs(in)) })
			if len(readers) == 0 && in != "layers" {
				t.Errorf("--%s is about %s, which no network reads", s.Name, in)
			}
		}
	}
}

// --format takes the built-in data, every registered format, and nothing else.
func TestFormatSettingListsTheRegistry(t *testing.T) {
	c := Default()
	s, _ := settings.Named(Settings(&c), "format")
	if want := append([]string{"", formats.Builtin}, formats.Names()...); !slices.Equal(s.Values, want) {
		t.Errorf("--format takes %q, want %q", s.Values, want)
	}
}

// other is Default with every setting changed.
func other(t *testing.T) Config {
	c := Default()
	for _, s := range Settings(&c) {
		switch v := s.Value.Addr().Interface().(type) {
		case *string:
			*v = "yes: #\"1\""
			if s.Values != nil {
				*v = s.Values[len(s.Values)-1]
			}
		case *bool:
			*v = true
		case *int:
			*v += 7
		case *uint64:
			*v = 1<<63 + 1
		case *float64:
			*v += 0.1
		case *settings.Gap:
			*v = 0.01
		case *settings.Strength:
			*v = 0.3
		case *settings.Count:
			*v = 0
		case *settings.ModelBatch:
			*v = settings.AllExamples
		case *settings.Bounds:
			*v = "-1,inf"
		case *settings.Sizes:
			*v = settings.Sizes{3, 2, 1}
		case *settings.Texts:
			*v = settings.Texts{"a": "3"}
		case *settings.LabelWeights:
			*v = settings.LabelWeights{"O": 0.5, "B-a b": 2}
		default:
			t.Fatalf("%s has a type the test does not know: %T", s.Name, v)
		}
	}
	c.Resume, c.Quiet, c.JSON = "", false, false
	return c
}

func TestConfigRoundTrips(t *testing.T) {
	for _, want := range []Config{Default(), other(t)} {
		var text bytes.Buffer
		if err := want.Write(&text); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if strings.HasPrefix(line, "# ") && strings.Count("\n"+text.String(), "\n"+line) != 1 {
				t.Errorf("the heading %q stands more than once", line)
			}
		}
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := ReadConfig(path)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v\nfrom\n%s", got, want, text.String())
		}
		asJSON, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got = Config{}
		if err := json.Unmarshal(asJSON, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("JSON: got\n%+v\nwant\n%+v", got, want)
		}
	}
}

func TestConfigFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"task: ocr\nlos: crf\n":       `:2: unknown setting "los"; did you mean "loss"?`,
		"lambda_regulariser: 1":       `:1: unknown setting "lambda_regulariser"; the settings are`,
		"label_weights: {O: 1}":       `did you mean "label-weights"?`,
		"mu: soft":                    `:1: mu: expected a number, found soft`,
		"passes: 1.5":                 `:1: passes: expected a whole number, found 1.5`,
		"k: 0":                        `:1: k: expected a number of at least 1, or auto, found 0`,
		"hidden: wide":                `:1: hidden: expected a list of whole numbers`,
		"label-weights: [1]":          `:1: label-weights: expected a mapping`,
		"quiet: 3":                    `:1: quiet: expected true or false`,
		"reg: 1\nloss: crf\nreg: 2":   `already defined`,
		"- a\n- b":                    `expected settings`,
		"just text":                   `expected settings`,
		"task: [unclosed\nloss: 'crf": ``,
	} {
		c := Default()
		err := settings.Parse("c.yaml", []byte(text), Settings(&c))
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want bad input with %q", text, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		c := Default()
		if err := settings.Parse("c.yaml", []byte(text), Settings(&c)); err != nil || !reflect.DeepEqual(c, Default()) {
			t.Errorf("%q: got %v, want the defaults", text, err)
		}
	}
	if _, err := ReadConfig(filepath.Join(t.TempDir(), "missing.yaml")); !structured.IsBadInput(err) {
		t.Errorf("a missing file: got %v, want bad input", err)
	}
}

func TestParseDevice(t *testing.T) {
	for name, want := range map[string]struct {
		kind    string
		ordinal int
	}{"auto": {"auto", 0}, "cpu": {"cpu", 0}, "cuda": {"cuda", 0}, "cuda:0": {"cuda", 0}, "cuda:12": {"cuda", 12}} {
		kind, ordinal, err := ParseDevice(name)
		if err != nil || kind != want.kind || ordinal != want.ordinal {
			t.Errorf("%s is %s, number %d: %v", name, kind, ordinal, err)
		}
	}
	for _, name := range []string{"", "gpu", "cpu:0", "auto:1", "cuda:", "cuda:-1", "cuda:+1", "cuda:01", "cuda:a", "cuda:1:2"} {
		if _, _, err := ParseDevice(name); !structured.IsBadInput(err) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A run that continues a model takes its loss where the method minimises it.
func TestInheritedLossSuitsTheMethod(t *testing.T) {
	for method, want := range map[string]string{"auto": "hinge", "svrg": "hinge", "bcpfw": "hinge", "sdca": "auto", "lbfgs": "auto", "owl-qn": "auto"} {
		c, base := Default(), Default()
		c.Method, base.Loss = method, "hinge"
		if err := c.Inherit(base, "init", "m", true); err != nil || c.Loss != want {
			t.Errorf("%s takes loss %s, want %s: %v", method, c.Loss, want, err)
		}
	}
}
