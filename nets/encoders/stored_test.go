package encoders

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// An encoder of every family that was put into a file is the one that comes out of it.
func TestStoredEncoders(t *testing.T) {
	for _, dir := range folders(t) {
		e, err := Open(dir)
		must(t, err)
		f := &safetensors.File{}
		must(t, e.Save(f))
		got, tensors, err := Stored(f, "m")
		if err != nil || tensors != len(e.layout) || len(f.Tensors) != tensors || !slices.Equal(got.w, e.w) {
			t.Errorf("%s: %d tensors of %d, %v", dir, tensors, len(e.layout), err)
		}
		for name := range f.Tensors {
			if !IsTensor(name) {
				t.Errorf("tensor %s is not known as one of an encoder", name)
			}
		}
		f.Metadata[networkKey] = "{}"
		must(t, e.Save(f)) // a second time changes nothing but the metadata
		if len(f.Tensors) != tensors || f.Metadata[networkKey] == "{}" {
			t.Errorf("%s: saved twice", dir)
		}
	}
	if IsTensor("x") {
		t.Error("any tensor is one of an encoder")
	}
}

// Sizes that no encoder has are refused, and the least and the largest ones are not.
func TestSizesOfStoredEncoders(t *testing.T) {
	plain := config{}
	sizes := []struct {
		name        string
		size        func(c *config) *int
		least, most int
	}{
		{"Width", func(c *config) *int { return &c.Width }, 1, mostSize},
		{"Heads", func(c *config) *int { return &c.Heads }, 1, 1}, {"Layers", func(c *config) *int {
			return &c.Layers
		}, 1, 7},
		{"Inner", func(c *config) *int { return &c.Inner }, 0, mostSize},
		{"Vocab", func(c *config) *int { return &c.Vocab }, 1, mostSize},
		{"Embedding", func(c *config) *int { return &c.Embedding }, 0, mostSize},
		{"Places", func(c *config) *int { return &c.Places }, 0, mostSize},
		{"First", func(c *config) *int { return &c.First }, 0, mostSize},
		{"Types", func(c *config) *int { return &c.Types }, 0, mostSize},
		{"Longest", func(c *config) *int { return &c.Longest }, 1, mostSize},
	}
	for _, s := range sizes {
		*s.size(&plain) = s.least
	}
	for _, s := range sizes {
		for _, value := range []int{s.least - 1, s.least, s.most, s.most + 1} {
			c := plain
			*s.size(&c) = value
			err := c.check(7)
			if good := value >= s.least && value <= s.most; (err == nil) != good || err != nil &&
				(!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), s.name+" is ") && s.name != "Heads") {
				t.Errorf("%s %d: %v", s.name, value, err)
			}
		}
	}
	c := plain
	if c.Layers = mostLayers + 1; c.check(mostLayers+1) == nil || c.check(2000) == nil {
		t.Error("too many layers for any encoder")
	}
	if c.Layers = mostLayers; c.check(mostLayers) != nil {
		t.Error("the most layers are refused")
	}
	c = plain
	c.Width, c.Heads = 9, 2
	if err := c.check(7); err == nil || err.Error() != "Width is 9, which does not divide into 2 heads" {
		t.Error(err)
	}
}

// Sizes of the families' own are checked, too.
func TestOwnSizesOfStoredEncoders(t *testing.T) {
	for _, dir := range folders(t) {
		e, err := Open(dir)
		must(t, err)
		for name, change := range map[string]func(c *config) bool{
			"Buckets": func(c *config) bool {
				if c.MPNet != nil {
					c.MPNet.Buckets = 0
				}
				return c.MPNet != nil
			},
			"Span": func(c *config) bool {
				if c.DeBERTa != nil {
					c.DeBERTa.Span = -1
				}
				return c.DeBERTa != nil
			},
			"Exact": func(c *config) bool {
				if c.DeBERTa != nil {
					c.DeBERTa.Exact = -1
				}
				return c.DeBERTa != nil
			},
			"Longest": func(c *config) bool {
				if c.DeBERTa != nil {
					c.DeBERTa.Longest = -1
				}
				return c.DeBERTa != nil
			},
			"Kernel": func(c *config) bool {
				if c.DeBERTa != nil {
					c.DeBERTa.Kernel = -1
				}
				return c.DeBERTa != nil
			},
			"Window": func(c *config) bool {
				if c.ModernBERT != nil {
					c.ModernBERT.Window = -1
				}
				return c.ModernBERT != nil
			},
		} {
			text, err := json.Marshal(e.config)
			must(t, err)
			c := &config{}
			must(t, json.Unmarshal(text, c))
			if err := c.check(1000); err != nil {
				t.Errorf("%s: %v", dir, err)
			}
			if !change(c) {
				continue
			}
			if err := c.check(1000); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), name+" is ") {
				t.Errorf("%s: %s: %v", dir, name, err)
			}
		}
	}
}

// What is no encoder is refused.
func TestBadStoredEncoders(t *testing.T) {
	e, err := Open(folders(t)[0])
	must(t, err)
	for want, change := range map[string]func(f *safetensors.File){
		`metadata "encoder_network" is not what an encoder has there`: func(f *safetensors.File) {
			f.Metadata[networkKey] = "["
		},
		`an encoder of the family "x"; dsp knows `: func(f *safetensors.File) {
			f.Metadata[networkKey] = `{"Family":"x"}`
		},
		`metadata "encoder_network": Width is 0, expected 1 to `: func(f *safetensors.File) {
			f.Metadata[networkKey] = `{"Family":"bert"}`
		},
		storedPrefix: func(f *safetensors.File) {
			delete(f.Tensors, slices.Min(slices.Collect(maps.Keys(f.Tensors))))
		},
	} {
		f := &safetensors.File{}
		must(t, e.Save(f))
		change(f)
		if _, _, err := Stored(f, "m"); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}
