package models

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

// A model predicts the same after a file, which leaves out attributes without weights. A released one predicts the
// same, too, to the bit, and its file has none of the names of attributes, words and files.
func TestRelease(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"built-in": func(c *config.Config) {},
		"template": func(c *config.Config) {
			c.Template = file(t, "secret.template", "U1=%x[0,word]\nU2=%x[0,known]\nB\nB1=%x[0,pos]\n")
		},
		"segments": func(c *config.Config) {
			c.Structure, c.Template = "segments", file(t, "secret.template", "U1=%x[0,word]\nS1=%x[first,word]\n")
		},
		"pruned": func(c *config.Config) { c.Method, c.Reg, c.L1 = "svrg", 1, 0.1 },
		"pruned segments": func(c *config.Config) {
			c.Structure, c.SegmentEnds, c.Method, c.Reg, c.L1 = "segments", true, "svrg", 1, 0.1
			c.Template = file(t, "secret.template", "U1=%x[0,word]\nS1=%x[first,word]\n")
		},
		"hashed": func(c *config.Config) { c.HashBits = 7 },
		"words":  func(c *config.Config) { c.Net, c.Features, c.MinCount = "embed", "none", 1 },
		"deep":   func(c *config.Config) { c.Net, c.CharChannels, c.AttributeUnits = "deep", 4, 3 },
		"vectors": func(c *config.Config) {
			c.Vectors = file(t, "secret.vectors", "alpha 1 2\nbravo 3 4\n")
			c.Net = "linear"
		},
	} {
		text := strings.NewReplacer("the ", "alpha ", "dog ", "bravo ").Replace(trainConll)
		c := textConfig(file(t, "secret.conll", text))
		change(&c)
		m, _ := attributeModel(t, c)
		for k := range m.W { // some attributes have no weight
			if k%7 > 1 && c.L1 > 0 {
				m.W[k] = 0
			}
		}
		dir := t.TempDir()
		whole, path := filepath.Join(dir, "whole.safetensors"), filepath.Join(dir, "released.safetensors")
		if err := m.Save(whole); err != nil {
			t.Fatal(err)
		}
		was, err := Load(whole)
		if err != nil {
			t.Fatal(err)
		}
		released, err1 := Load(whole)
		r, err2 := released.Release()
		err3 := cmp.Or(err1, err2)
		if err3 == nil {
			err3 = released.Save(path)
		}
		if err3 != nil {
			t.Fatalf("%s: %v", name, err3)
		}
		if (r.Hashed > 0) != (c.HashBits == 0) {
			t.Errorf("%s: %d names hashed", name, r.Hashed)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		potentials := func(m *Model) any {
			d, err := m.ReadData(Request{Path: c.Train, Labels: true})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all, err := m.Potentials(context.Background(), d, 1)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return all.Parts
		}
		if !reflect.DeepEqual(potentials(was), potentials(m)) {
			t.Errorf("%s: the model has other potentials after a file", name)
		}
		if pruned := was.Net.Dim() < m.Net.Dim(); pruned != (c.L1 > 0) {
			t.Errorf("%s: %d weights of %d are in the file", name, was.Net.Dim(), m.Net.Dim())
		}
		if !reflect.DeepEqual(potentials(got), potentials(was)) {
			t.Errorf("%s: the released model has other potentials", name)
		}
		bytes1, err1 := os.ReadFile(whole)
		bytes2, err2 := os.ReadFile(path)
		if err := cmp.Or(err1, err2); err != nil {
			t.Fatal(err)
		}
		for _, told := range []string{"secret", "alpha", "bravo"} {
			if bytes.Contains(bytes2, []byte(told)) {
				t.Errorf("%s: the released file says %s", name, told)
			}
		}
		if r.Hashed > 0 && !bytes.Contains(bytes1, []byte("alpha")) {
			t.Errorf("%s: the model has no names", name)
		}
		if _, err := got.Release(); !structured.IsBadInput(err) {
			t.Errorf("%s: released twice: %v", name, err)
		}
	}
}
