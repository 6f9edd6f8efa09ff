package models

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

// A model with clusters and a gazetteer needs neither file after training.
func TestListsStayInTheModel(t *testing.T) {
	c := textConfig(file(t, "train.conll", trainConll))
	c.Features = "ner"
	c.Clusters = file(t, "paths", "0110\tdog\t4\n0110\tcat\t1\n10\tthe\t9\n")
	places := file(t, "places.txt", "big dog\nDog\tanimal\n")
	c.Gazetteer = places + "," + file(t, "more", "cat\tanimal\n")
	m, d := attributeModel(t, c)
	names := m.Dictionary.Node.Names()
	for _, want := range []string{"Uc4=0110", "Uc20-1=10", "Ug=B-animal", "Ug=B-places", "Ug=I-places", "Ug+1=B-animal"} {
		if !slices.Contains(names, want) {
			t.Errorf("no attribute %s", want)
		}
	}
	path := filepath.Join(t.TempDir(), ModelFile)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(os.Remove(c.Clusters), os.Remove(places)); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := got.ReadData(Request{Path: c.Train, Labels: true})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read.Attributes, d.Train.Attributes) {
		t.Error("other attributes after loading")
	}
	// The word cat is new; its cluster and its type are not.
	other, err := got.ReadData(Request{Path: file(t, "other.conll", "cat NN O\n")})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	index, _ := other.Attributes.Row(0)
	for _, i := range index {
		found = append(found, got.Dictionary.Node.Name(i))
	}
	if !slices.Contains(found, "Ug=B-animal") || !slices.Contains(found, "Uc4=0110") {
		t.Errorf("attributes of a new word: %q", found)
	}
}

func TestListErrors(t *testing.T) {
	paths := file(t, "paths", "0\tdog\t1\n")
	for want, change := range map[string]func(*config.Config){
		"no-such-file":      func(c *config.Config) { c.Clusters = "no-such-file" },
		"bad:1: path \"x\"": func(c *config.Config) { c.Clusters = file(t, "bad", "x\tdog\t1\n") },
		"the file of clusters has no effect: no line of":       func(c *config.Config) { c.Clusters, c.Template = paths, file(t, "x.template", "U%x[0,word]\n") },
		"column cluster, but":                                  func(c *config.Config) { c.Template = file(t, "x.template", "U%x[0,cluster]\n") },
		"empty.txt: no names":                                  func(c *config.Config) { c.Gazetteer = file(t, "empty.txt", "") },
		"--clusters " + paths + " has no effect with":          func(c *config.Config) { c.Clusters, c.Net = paths, "embed" },
		"the gazetteer has no effect: no line of built-in pos": func(c *config.Config) { c.Gazetteer, c.Features = file(t, "names.txt", "dog\n"), "pos" },
	} {
		c := textConfig(file(t, "train.conll", trainConll))
		change(&c)
		_, err := ReadData(&c)
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}

func vectorConfig(t *testing.T, vectors string) config.Config {
	c := tagConfig(file(t, "train.conll", "the DT O\nBig JJ B-X\ndog NN I-X\n\na DT O\ndog NN B-X\n"))
	c.Dev = file(t, "dev.conll", "The DT O\nCat NN B-X\nBIG JJ O\nemu NN B-X\nB2 NN B-X\n")
	c.Vectors = vectors
	return c
}

const gloveText = "the 1 2 3\nBig 4 5 6\nbig 7 8 9\ncat -1 0 1\nunseen 5 5 5\nb2 9 9 9\n"

// Words get their vector as they are written, or else in lower case; words of the development data get one, too.
func TestVectors(t *testing.T) {
	for _, freeze := range []bool{false, true} {
		c := vectorConfig(t, file(t, "glove.txt", gloveText))
		c.Freeze = freeze
		m, d := attributeModel(t, c)
		if v := *d.Vectors; v.InFile != 6 || v.Kept != 5 || v.Dim != 3 || v.Tokens != 10 || v.Found != 6 || v.Bytes != 4*len(m.Vectors.Rows) {
			t.Errorf("%+v", v)
		}
		fields := len(m.Vocab)
		row := func(d *structured.Dataset, at int) []float32 {
			id := int(d.Ids[at*fields])
			return m.Vectors.Rows[3*id : 3*id+3]
		}
		for _, test := range []struct {
			set  *structured.Dataset
			at   int
			want []float32
		}{
			{d.Train, 0, []float32{1, 2, 3}}, {d.Train, 1, []float32{4, 5, 6}}, {d.Train, 2, []float32{0, 0, 0}},
			{d.Dev, 0, []float32{1, 2, 3}}, {d.Dev, 1, []float32{-1, 0, 1}}, {d.Dev, 2, []float32{7, 8, 9}}, {d.Dev, 3, []float32{0, 0, 0}}, {d.Dev, 4, []float32{9, 9, 9}},
		} {
			if got := row(test.set, test.at); !slices.Equal(got, test.want) {
				t.Errorf("token %d of %s has vector %v, want %v", test.at, test.set.Name, got, test.want)
			}
		}
		if unknown := d.Dev.Ids[3*fields]; unknown != 0 {
			t.Errorf("a word without a vector that training did not see has number %d", unknown)
		}
		path := filepath.Join(t.TempDir(), ModelFile)
		if err := cmp.Or(m.Save(path), os.Remove(c.Vectors)); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		read, err := got.ReadData(Request{Path: c.Dev, Labels: true})
		if err != nil {
			t.Fatal(err)
		}
		want, err1 := m.Potentials(context.Background(), d.Dev, 1)
		have, err2 := got.Potentials(context.Background(), read, 1)
		if err := cmp.Or(err1, err2); err != nil || !reflect.DeepEqual(have.Parts, want.Parts) {
			t.Errorf("freeze %v: other potentials from the file, %v", freeze, err)
		}
	}
}

func TestVectorErrors(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		"glove.txt:2: 2 numbers after the word, expected 3": func(c *config.Config) { c.Vectors = file(t, "glove.txt", "the 1 2 3\nbig 1 2\n") },
		"none of the words of its 1 vectors occurs":         func(c *config.Config) { c.Vectors = file(t, "glove.txt", "zebra 1 2 3\n") },
		"no-such-file": func(c *config.Config) { c.Vectors = "no-such-file" },
		"--freeze-vectors has no effect without --vectors": func(c *config.Config) { c.Vectors, c.Freeze = "", true },
		"--freeze-vectors true has no effect with --net l": func(c *config.Config) { c.Net, c.MinCount, c.Freeze = "linear", 0, true },
		"of size 8 cannot be added to vectors of size 3":   func(c *config.Config) { c.Embed = []int{8} },
	} {
		c := vectorConfig(t, file(t, "glove.txt", gloveText))
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
