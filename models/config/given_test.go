package config

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// give sets a setting as a flag does.
func give(t *testing.T, c *Config, name, value string) {
	t.Helper()
	s := c.must(name)
	if err := s.Set(value); err != nil {
		t.Fatal(err)
	}
}

func TestGives(t *testing.T) {
	c := Default()
	if c.Gives("k") || c.Gives("edges") {
		t.Error("the defaults give nothing")
	}
	give(t, &c, "k", "5")
	give(t, &c, "smoothing", "auto")
	c.Window = 3
	if !c.Gives("k") || c.Gives("smoothing") || !c.Gives("window") || c.Gives("edges") {
		t.Errorf("%v", c.Given)
	}
}

// A setting that has no effect is refused if it was given, whatever its value is. One that asks for nothing is not.
func TestGivenWithoutEffectIsRefused(t *testing.T) {
	for _, value := range []string{"5", "7"} {
		c := Default()
		c.Loss = "crf"
		give(t, &c, "k", value)
		s := c.must("k")
		if err := CheckSetting(s, &c); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "--k "+value+" has no effect with --loss crf") {
			t.Errorf("--k %s: %v", value, err)
		}
	}
	c := Default()
	c.Net = "linear"
	give(t, &c, "dropout", "0")
	s := c.must("dropout")
	if err := CheckSetting(s, &c); err != nil {
		t.Error(err)
	}
}

// A run that continues a model keeps what it was given, and must not contradict what the model reads, even by a
// default.
func TestInheritAsksWhatWasGiven(t *testing.T) {
	base := Default()
	base.Scheme, base.Search, base.Net = "bioes", "windows", "linear"
	c := Default()
	if err := c.Inherit(base, "init", "runs/first", true); err != nil || c.Scheme != "bioes" || c.Search != "windows" {
		t.Fatal(err, c.Scheme, c.Search)
	}
	c = Default()
	give(t, &c, "scheme", "keep")
	if err := c.Inherit(base, "init", "runs/first", true); err != nil || c.Scheme != "keep" {
		t.Error(err, c.Scheme)
	}
	give(t, &c, "search", "candidates")
	if err := c.Inherit(base, "init", "runs/first", true); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "--search candidates") {
		t.Error(err)
	}
}

// A model records of what was given only what its values cannot say.
func TestModelRecordsGivenDefaults(t *testing.T) {
	c := Default()
	for _, s := range []string{"examples", "k", "threads"} {
		x := c.must(s)
		x.Give(x.Value)
	}
	text, err := json.Marshal(c.ForModel())
	if err != nil {
		t.Fatal(err)
	}
	var got Config
	if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(got.Given, settings.Given{"examples"}) {
		t.Errorf("%v, %v", got.Given, err)
	}
	c.Examples[0]++
	if left := c.ForModel().Given; len(left) > 0 {
		t.Errorf("%v", left)
	}
}
