package models

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

func nan() float64 { return math.NaN() }

func TestDefaultIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsAreDocumented(t *testing.T) {
	c := Default()
	seen := map[string]bool{}
	for _, s := range Settings(&c) {
		if s.Name == "" || s.Group == "" || s.Help == "" || seen[s.Name] {
			t.Errorf("%+v: a setting needs a name of its own, a group and a help text", s)
		}
		seen[s.Name] = true
	}
}

// --format takes the built-in data, every registered format, and nothing else.
func TestFormatSettingListsTheRegistry(t *testing.T) {
	c := Default()
	s, _ := setting(&c, "format")
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
		case *settings.Count:
			*v = 0
		case *settings.ModelBatch:
			*v = settings.AllExamples
		case *settings.Sizes:
			*v = settings.Sizes{3, 2, 1}
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

func TestValidateRefuses(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`--loss "hing" is not known (did you mean hinge?)`:            func(c *Config) { c.Loss = "hing" },
		`--mu -1: expected at least 0`:                                func(c *Config) { c.Mu = -1 },
		`--lr NaN: expected a finite number`:                          func(c *Config) { c.LR = nan() },
		`--eta 0.1 has no effect with --method sgd`:                   func(c *Config) { c.Method, c.Eta = "sgd", 0.1 },
		`--lr 1 has no effect with --method prox-linear --inner bcfw`: func(c *Config) { c.Method, c.Inner, c.LR = "prox-linear", "bcfw", 1 },
		`--lr 1 and --lipschitz 2`:                                    func(c *Config) { c.LR, c.Lipschitz = 1, 2 },
		`--mu 1 has no effect with --loss crf`:                        func(c *Config) { c.Loss, c.Mu = "crf", 1 },
		`--k auto has no effect with --smoothing entropy`:             func(c *Config) { c.Smoothing, c.K = "entropy", 0 },
		`--gap 0.1 needs a certificate`:                               func(c *Config) { c.Method, c.Gap = "sgd", 0.1 },
		`--mu 1 has no effect with --method bcfw`:                     func(c *Config) { c.Method, c.Mu = "bcfw", 1 },
		`--hidden 3 has no effect with --net linear`:                  func(c *Config) { c.Net, c.Hidden = "linear", settings.Sizes{3} },
		`--hidden 0: expected at least 1`:                             func(c *Config) { c.Hidden = settings.Sizes{0} },
		`--device cuda:99: `:                                          func(c *Config) { c.Device = "cuda:99" },
		`--device cuda:x: expected the number of a device`:            func(c *Config) { c.Device = "cuda:x" },
		`--device "gpu" is not known`:                                 func(c *Config) { c.Device = "gpu" },
		`--tf32 is for matrix products on a GPU`:                      func(c *Config) { c.Device, c.TF32 = "cpu", true },
		`--task tag needs training data`:                              func(c *Config) { c.Task = "tag" },
		`--dev and --test need --train`:                               func(c *Config) { c.Dev = "x" },
		`--format conll needs training data`:                          func(c *Config) { c.Format = "conll" },
		`--format builtin draws its own data`:                         func(c *Config) { c.Format, c.Train = "builtin", "x" },
		`--examples 5: expected three numbers`:                        func(c *Config) { c.Examples = settings.Sizes{5} },
		`--dropout 1: expected a probability below 1`:                 func(c *Config) { c.Dropout = 1 },
		`--fold 3 and --test both say`:                                func(c *Config) { c.Train, c.Test, c.Fold = "a", "b", 3 },
		`--label-weights a=2 has no effect with --loss crf`:           func(c *Config) { c.Loss, c.LabelWeights = "crf", settings.LabelWeights{"a": 2} },
		`--examples 1,1,1 has no effect with --format conll; it is f`: func(c *Config) { c.Train, c.Format, c.Examples = "x", "conll", settings.Sizes{1, 1, 1} },
		`--format conll has no trees`:                                 func(c *Config) { c.Task, c.Train, c.Format = "parse", "x", "conll" },
		`--features pos makes attributes of tokens`:                   func(c *Config) { c.Task, c.Features = "parse", "pos" },
		`--features parse makes attributes of arcs`:                   func(c *Config) { c.Task, c.Train, c.Features = "tag", "x", "parse" },
		`--tree nonprojective has no effect with --task tag`:          func(c *Config) { c.Task, c.Train, c.Tree = "tag", "x", "nonprojective" },
		`--crossing refuse has no effect with --tree nonprojective`:   func(c *Config) { c.Task, c.Tree, c.Crossing = "parse", "nonprojective", "refuse" },
		`--edges none has no effect with --task parse`:                func(c *Config) { c.Task, c.Edges = "parse", "none" },
	} {
		c := Default()
		change(&c)
		err := c.Validate()
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
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
