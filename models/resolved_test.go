package models

import (
	"os"
	"path/filepath"
	"testing"
)

// A model that runs continue is loaded once, when their settings are resolved: its file may then be gone.
func TestContinuedModelsAreLoadedOnce(t *testing.T) {
	c := textConfig(file(t, "train.conll", trainConll))
	m, _ := attributeModel(t, c)
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	var library Library
	for _, set := range []func(){func() { c.Init = path }, func() { c.Prior = path }, func() { c.Init, c.Reg = "", 3 }} {
		set()
		r, err := library.Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		d, err := r.Data()
		if err != nil {
			t.Fatal(err)
		}
		if more, err := NewModel(r.Config(), d); err != nil || more.Started == nil || more.W[0] != m.W[0] {
			t.Errorf("init %q, prior %q: %v", c.Init, c.Prior, err)
		}
	}
	if _, err := Resolve(c); err == nil {
		t.Error("a model that is not there was loaded")
	}
}
