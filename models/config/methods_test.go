package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Settings of other methods have no effect on the one that is chosen, unless it leaves part of its work to them.
func TestSettingsOfMethods(t *testing.T) {
	for _, c := range []struct {
		method, inner, setting string
		takes                  bool
	}{
		{"auto", "auto", "planes", true}, {"bcfw", "auto", "planes", false}, {"cutting-plane", "auto", "planes", true}, {"sgd", "auto", "eta", false}, {"prox-linear", "auto", "eta", true},
		{"bcfw", "auto", "window", true}, {"bcfw", "auto", "no-such", true}, {"prox-linear", "bcfw", "average", true}, {"prox-linear", "casimir", "average", false},
	} {
		x := Default()
		x.Method, x.Inner = c.method, c.inner
		if got := MethodTakes(c.setting, &x); got != c.takes {
			t.Errorf("--method %s --inner %s takes --%s: %v", c.method, c.inner, c.setting, got)
		}
	}
	x := Default()
	x.Method, x.Inner = "prox-linear", "casimir"
	give(t, &x, "average", "ema")
	err := CheckSetting(x.must("average"), &x)
	if want := "--average ema has no effect with --method prox-linear --inner casimir; it is for --method "; !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, expected %s", err, want)
	}
}

// What a method cannot do is refused by its name, before there are data.
func TestCheckMethod(t *testing.T) {
	for _, c := range []struct {
		change func(c *Config)
		want   string
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.Method = "bcfw" }, ""},
		{func(c *Config) { c.Method, c.Path = "sgd", true }, "--path needs a certificate, which --method sgd does not give"},
		{func(c *Config) { c.Method, c.Path = "bcfw", true }, ""},
		{func(c *Config) { c.Method, c.Loss = "counts", "hinge" }, "--method counts gives probabilities, of which the loss hinge knows nothing"},
		{func(c *Config) { c.Method, c.Loss = "counts", "crf" }, ""},
		{func(c *Config) { c.Method, c.Loss = "sdca", "hinge" }, ""}, // when the data are known
		{func(c *Config) { c.Method, c.Gap = "sgd", 0.1 }, "--gap 0.1 needs a certificate, which --method sgd does not give"},
	} {
		x := Default()
		c.change(&x)
		err := x.CheckMethod()
		if (err == nil) != (c.want == "") || err != nil && (!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v, expected %q", err, c.want)
		}
	}
	x := Default()
	x.Init, x.Dropout = "m", 0.5
	if r := x.Run(); !r.Continues || r.Dropout != 0.5 {
		t.Errorf("%+v", r)
	}
	if d, ok := x.Optimiser(); ok || d != nil {
		t.Errorf("an open choice is %v", d)
	}
}

// A setting awaits what it has no effect without and what is still open.
func TestAwaits(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(c *Config)
		want   string
	}{
		{"k", func(c *Config) {}, "loss"}, {"k", func(c *Config) { c.Loss = "hinge" }, "smoothing"}, {"planes", func(c *Config) {}, "method"}, {"planes", func(c *Config) { c.Method = "bcfw" }, ""},
		{"passes", func(c *Config) {}, ""}, {"window", func(c *Config) {}, ""},
	} {
		x := Default()
		c.change(&x)
		if got := Awaits(x.must(c.name), &x); got != c.want {
			t.Errorf("--%s awaits %q, expected %q", c.name, got, c.want)
		}
	}
}

// Models have names of files, released ones those of settings, and runs take back the paths.
func TestPathsOfConfigs(t *testing.T) {
	c := Default()
	c.Train, c.Vectors, c.Template, c.Dev = "a/b.conll,c/d.conll", "v/w.txt", "", "builtin"
	names, without := c.WithNames(), c.WithoutFiles()
	if names.Train != "b.conll,d.conll" || names.Vectors != "w.txt" || names.Template != "" || names.Dev != "builtin" {
		t.Errorf("%q, %q, %q, %q", names.Train, names.Vectors, names.Template, names.Dev)
	}
	if without.Train != "train" || without.Vectors != "vectors" || without.Template != "" || without.Dev != "builtin" {
		t.Errorf("%q, %q, %q, %q", without.Train, without.Vectors, without.Template, without.Dev)
	}
	names.TakePaths(c)
	if names.Train != c.Train || names.Vectors != c.Vectors {
		t.Errorf("%q, %q", names.Train, names.Vectors)
	}
	for paths, want := range map[string]string{"": "", "a/b": "b", "a/b,c,": "b,c,", ",x/y": ",y"} {
		if got := FileNames(paths); got != want {
			t.Errorf("%q: %q, expected %q", paths, got, want)
		}
	}
}

// A model keeps none of the settings that only say how a run goes, and of what was given that it draws the default
// examples.
func TestForModel(t *testing.T) {
	c := Default()
	c.Threads, c.Out, c.Window = 3, "runs/x", 5
	give(t, &c, "examples", fmt.Sprint(c.Examples))
	give(t, &c, "window", "5")
	m := c.ForModel()
	if def := Default(); m.Threads != def.Threads || m.Out != def.Out || m.Window != 5 || !m.Given.Has("examples") || m.Given.Has("window") {
		t.Errorf("%+v", m)
	}
	c.Examples = slices.Clone(c.Examples)
	c.Examples[0]++
	if c.ForModel().Given.Has("examples") {
		t.Error("other numbers of examples show that they were given")
	}
}
