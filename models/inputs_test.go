package models

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// attributeModel is a linear net of attributes with random weights, on the data that c names.
func attributeModel(t *testing.T, c config.Config) (*Model, *Data) {
	t.Helper()
	d, err := ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModel(c, d)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range m.W {
		m.W[i] = float32(rng.NormFloat64())
	}
	return m, d
}

func textConfig(train string) config.Config {
	c := tagConfig(train)
	c.Net, c.MinCount = "auto", 0
	return c
}

func TestInputsByDefault(t *testing.T) {
	for _, want := range []struct {
		features, columns, text string
	}{
		{"ner", "word=0,pos=1,label=-1", trainConll}, // the labels decide, and not the columns
		{"chunk", "word=0,pos=1,label=-1", strings.ReplaceAll(trainConll, "-X", "-NP")},
		{"chunk", "word=0,tag=1,label=-1", strings.ReplaceAll(trainConll, "-X", "-NP")},
		{"ner", "word=0,tag=1,label=-1", trainConll},
		{"pos", "word=0,label=1", trainConll},
	} {
		c := textConfig(file(t, "train.conll", want.text))
		c.Columns = want.columns
		m, d := attributeModel(t, c)
		if m.Config.Task != "tag" || m.Config.Net != "linear" || m.Config.Loss != "crf" || m.Config.Features != want.features ||
			d.Train.Attributes == nil || m.Net.Dim() < m.Dictionary.Nodes()*m.Labels.Len() {
			t.Errorf("%s: task %s, net %s, loss %s, features %s", want.columns, m.Config.Task, m.Config.Net, m.Config.Loss, m.Config.Features)
		}
	}
	c := textConfig(file(t, "train.conll", trainConll))
	c.Method = "bcfw"
	if m, _ := attributeModel(t, c); m.Config.Loss != "hinge" {
		t.Errorf("bcfw: loss %s", m.Config.Loss)
	}
	c = textConfig(file(t, "train.conll", trainConll))
	c.Features = "none"
	if m, _ := attributeModel(t, c); m.Config.Net != "embed" || m.Config.Loss != "hinge" || m.Config.Features != "none" {
		t.Errorf("no features: net %s, loss %s, features %s", m.Config.Net, m.Config.Loss, m.Config.Features)
	}
}

// A model of attributes predicts the same from its file, in which templates, dictionaries and hashing survive.
func TestAttributeModelRoundTrip(t *testing.T) {
	template := file(t, "my.template", "U1=%x[0,word]\nU2=%x[-1,word]\nB\nB1=%x[0,pos]\nB2=%x[-1,pos?]\n")
	for name, change := range map[string]func(*config.Config){
		"built-in":  func(c *config.Config) {},
		"template":  func(c *config.Config) { c.Template = template },
		"hashed":    func(c *config.Config) { c.HashBits = 7 },
		"min-count": func(c *config.Config) { c.MinCount = 2 },
		"no edges":  func(c *config.Config) { c.Edges = "none" },
		"deep":      func(c *config.Config) { c.Net, c.CharChannels = "deep", 4 },
		"deep, hashed": func(c *config.Config) {
			c.Net, c.HashBits, c.MinCount, c.Channels, c.AttributeUnits = "deep", 7, 1, settings.Sizes{5}, 3
		},
	} {
		c := textConfig(file(t, "train.conll", trainConll))
		change(&c)
		m, d := attributeModel(t, c)
		path := filepath.Join(t.TempDir(), ModelFile)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got.Config, m.Config.ForModel().WithNames()) || !slices.Equal(got.W, m.W) || got.Template.String() != m.Template.String() ||
			got.Dictionary.Nodes() != m.Dictionary.Nodes() || got.Dictionary.Edges() != m.Dictionary.Edges() {
			t.Errorf("%s: got %+v, want %+v", name, got, m)
		}
		read, err := got.ReadData(Request{Path: c.Train, Labels: true})
		if err != nil {
			t.Fatal(err)
		}
		want, err1 := m.Potentials(context.Background(), d.Train, 1)
		have, err2 := got.Potentials(context.Background(), read, 1)
		if err := cmp.Or(err1, err2); err != nil || !reflect.DeepEqual(have.Parts, want.Parts) {
			t.Errorf("%s: other potentials from the file, %v", name, err)
		}
	}
}

func TestInputErrors(t *testing.T) {
	text := file(t, "train.conll", trainConll)
	for want, change := range map[string]func(*config.Config){
		"--net linear reads attributes":          func(c *config.Config) { c.Features, c.Net = "none", "linear" },
		"--features ner makes attributes":        func(c *config.Config) { c.Features, c.Net = "ner", "embed" },
		"both say what the attributes are":       func(c *config.Config) { c.Features, c.Template = "ner", text },
		"no-such-file":                           func(c *config.Config) { c.Template = "no-such-file" },
		"x.template:1:":                          func(c *config.Config) { c.Template = file(t, "x.template", "U%x[0,word\n") },
		"column lemma":                           func(c *config.Config) { c.Template = file(t, "x.template", "U%x[0,lemma]\n") },
		"--net mlp does not read attributes":     func(c *config.Config) { c.Net, c.Features = "mlp", "pos" },
		"--window 3 is for dense features":       func(c *config.Config) { c.Window = 3 },
		"--hash-bits 60: expected at most":       func(c *config.Config) { c.HashBits = 60 },
		"--features ner has no effect with --fo": func(c *config.Config) { c.Train, c.Features, c.Columns = file(t, "x.crfsuite", "O\ta=b\n"), "ner", "" },
	} {
		c := textConfig(text)
		change(&c)
		d, err := ReadData(&c)
		if err == nil {
			_, err = NewModel(c, d)
		}
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}

// Files older than attributes load, with today's defaults for newer settings.
func TestLoadOlderModel(t *testing.T) {
	c := config.Default()
	c.Net, c.Hidden = "mlp", settings.Sizes{4}
	m, err := NewModel(c, &Data{Train: toyData(1)})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), ModelFile)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	content, _ := os.ReadFile(path)
	older := string(content)
	for _, key := range []string{"scheme", "features", "template", "label"} {
		older = strings.Replace(older, `\"`+key+`\"`, `\"`+strings.Repeat("x", len(key))+`\"`, 1)
	}
	older = strings.Replace(older, `\"min-count\":0`, `\"min-count\":2`, 1)
	if err := os.WriteFile(path, []byte(older), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(path); err != nil || got.Config.Scheme != "keep" {
		t.Errorf("%+v, %v", got, err)
	}
}
