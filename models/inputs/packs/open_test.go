package packs_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/packs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/packed"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// resolved returns the settings and the data that training would have.
func resolved(t *testing.T, set func(c *config.Config)) (config.Config, *models.Data) {
	t.Helper()
	c := config.Default()
	set(&c)
	r, err := models.Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.Data()
	if err != nil {
		t.Fatal(err)
	}
	return r.Config(), data
}

// A pack that is opened has the data that were packed, with the names of all that is numbered.
func TestOpenedPackIsTheData(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := file("x.conll", strings.Repeat("the DT O\nred JJ B-X\nold JJ I-X\nfox NN I-X\nruns VB O\n\n", 5))
	trees := file("x.conllu",
		strings.Repeat("1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tfox\tfox\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"+
			"3\truns\trun\tVERB\t_\t_\t0\troot\t_\t_\n\n", 4))
	vectors := file("x.vec", "the 1 2\nfox 3 4\n")
	for name, set := range map[string]func(c *config.Config){
		"template": func(c *config.Config) { c.Train, c.Template = text, file("t", "U%x[0,0]\nB%x[0,1]\n") },
		"set":      func(c *config.Config) { c.Train, c.Columns = text, "word=0,pos=1,label=-1" },
		"words": func(c *config.Config) {
			c.Train, c.Columns, c.Net, c.Features, c.MinCount = text, "word=0,pos=1,label=-1", "embed", "none", 1
		},
		"letters": func(c *config.Config) {
			c.Train, c.Columns, c.Net, c.CharChannels, c.MinCount = text, "word=0,label=-1", "deep", 4, 1
		},
		"converted": func(c *config.Config) { c.Train, c.Columns, c.Scheme = text, "word=0,pos=1,label=-1", "bioes" },
		"vectors": func(c *config.Config) {
			c.Train, c.Columns, c.Vectors, c.Net = text, "word=0,pos=1,label=-1", vectors, "linear"
		},
		"trees": func(c *config.Config) { c.Task, c.Train = "parse", trees },
	} {
		t.Run(name, func(t *testing.T) {
			c, data := resolved(t, set)
			path := filepath.Join(t.TempDir(), "pack")
			summary, err := data.Pack(path, &c)
			if err != nil {
				t.Fatal(err)
			}
			if summary.Examples != data.Train.Len() || summary.Positions != data.Train.Positions() ||
				summary.Labels != data.Train.Alphabet.Len() {
				t.Errorf("%+v of %d examples", summary, data.Train.Len())
			}
			given := config.Default()
			given.Train = path
			r, err := models.Resolve(given)
			if err != nil {
				t.Fatal(err)
			}
			again := r.Config()
			got, in, notation, err := packs.Open(&again)
			if err != nil {
				t.Fatal(err)
			}
			want := data.Train
			if (notation.Scheme != "") != (name == "converted") || in.Dictionary != got.Dictionary {
				t.Errorf("notation %+v, dictionary %v", notation, in.Dictionary)
			}
			for part, pair := range map[string][2]any{
				"offsets": {got.Offsets, want.Offsets}, "outputs": {got.Outputs, want.Outputs}, "labels": {got.Labels, want.Labels},
				"ids": {got.Ids, want.Ids}, "names of labels": {got.Alphabet.Names(), want.Alphabet.Names()},
				"characters": {letters(got), letters(want)}, "vocabularies": {vocabularies(got), vocabularies(want)},
				"attributes": {got.Attributes, want.Attributes}, "dictionary": {dictionary(got), dictionary(want)},
				"task": {again.Task, c.Task}, "scheme": {again.Scheme, c.Scheme},
				"features": {again.Features, c.Features},
			} {
				if !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("%s: %v, expected %v", part, pair[0], pair[1])
				}
			}
		})
	}
}

func letters(d *structured.Dataset) any {
	if d.Characters == nil {
		return nil
	}
	return []any{d.Characters.Offsets, d.Characters.Ids, d.Characters.Vocab.Names()}
}

func vocabularies(d *structured.Dataset) (all [][]string) {
	for _, v := range d.Vocab {
		all = append(all, v.Names())
	}
	return all
}

func dictionary(d *structured.Dataset) any {
	if d.Dictionary == nil {
		return nil
	}
	var all [][]string
	for _, a := range []*structured.Alphabet{d.Dictionary.Node, d.Dictionary.Edge, d.Dictionary.Segment} {
		if a != nil {
			all = append(all, a.Names())
		}
	}
	return []any{d.Dictionary.HashBits, all}
}

// The names of words, characters and attributes of a pack are those of the data, whatever the inputs beside them have.
func TestPackHasTheNamesOfItsData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.conll")
	if err := os.WriteFile(path, []byte(strings.Repeat("the O\nfox B-X\n\n", 4)), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]func(c *config.Config){
		"words": func(c *config.Config) {
			c.Train, c.Columns, c.Net, c.CharChannels, c.MinCount, c.Features = path, "word=0,label=-1", "deep", 4, 1, "none"
		},
		"attributes": func(c *config.Config) { c.Train, c.Columns = path, "word=0,label=-1" },
	} {
		c, data := resolved(t, set)
		pack := filepath.Join(t.TempDir(), "pack")
		others := inputs.Inputs{Vocab: []*structured.Alphabet{structured.NewAlphabet("other")},
			Characters: structured.NewAlphabet("o")}
		for _, in := range []inputs.Inputs{{}, others} {
			if name == "attributes" {
				in = inputs.Inputs{} // the data have no words to replace others by
			}
			if _, err := packs.Write(pack, &c, data.Train, in, chains.Notation{}); err != nil {
				t.Fatal(err)
			}
			again := c
			again.Train = pack
			got, _, notation, err := packs.Open(&again)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(vocabularies(got), vocabularies(data.Train)) ||
				!reflect.DeepEqual(letters(got), letters(data.Train)) ||
				!reflect.DeepEqual(dictionary(got), dictionary(data.Train)) || notation.Scheme != "" {
				t.Errorf("%s: words %v, letters %v, attributes %v", name, vocabularies(got), letters(got), dictionary(got))
			}
		}
	}
}

// endless are dense features that no memory holds.
type endless struct{ structured.FeatureSource }

// Dense inputs that do not fit into memory are not packed, and neither are features that stay in files.
func TestPacksOfDenseInputsNeedMemory(t *testing.T) {
	c, pack := config.Default(), filepath.Join(t.TempDir(), "pack")
	d := &structured.Dataset{Name: "x", Offsets: []int{0, 1 << 21}, Dim: 1 << 21, Source: endless{}}
	if _, err := packs.Write(pack, &c, d, inputs.Inputs{WordRows: &inputs.WordRows{}}, chains.Notation{}); err == nil ||
		!strings.HasPrefix(err.Error(), "packing 2097152 dense inputs of 2097152 words would take about 16384.0 GiB") {
		t.Errorf("%v", err)
	}
	c.Task = "localise"
	if _, err := packs.Write(pack, &c, d, inputs.Inputs{}, chains.Notation{}); !structured.IsBadInput(err) ||
		!strings.HasPrefix(err.Error(), "--task localise cannot be packed") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(pack); err == nil {
		t.Error("a pack is left")
	}
}

// A pack that lacks what the data need is refused, with its name.
func TestDamagedPacks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.conll")
	if err := os.WriteFile(path, []byte(strings.Repeat("the O\nfox B-X\n\n", 4)), 0o666); err != nil {
		t.Fatal(err)
	}
	c, data := resolved(t, func(c *config.Config) {
		c.Train, c.Columns, c.Net, c.CharChannels, c.MinCount, c.Scheme = path, "word=0,label=-1", "deep", 4, 1, "bioes"
	})
	pack := filepath.Join(t.TempDir(), "pack")
	if _, err := data.Pack(pack, &c); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(f *safetensors.File){
		`metadata "features": `: func(f *safetensors.File) { f.Metadata["features"] = "[" },
		`metadata "notation": `: func(f *safetensors.File) { f.Metadata["notation"] = "[" },
	} {
		f, err := safetensors.Read(pack)
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		bad := filepath.Join(t.TempDir(), "bad")
		if err := packed.Write(bad, f); err != nil {
			t.Fatal(err)
		}
		c.Train = bad
		if _, _, _, err := packs.Open(&c); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), bad) {
			t.Errorf("%v, expected %s: %s", err, bad, want)
		}
	}
}

// Data with files of their own are not packed, and the message names the task.
func TestTreesOfConstituentsAreNotPacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mrg")
	if err := os.WriteFile(path, []byte(strings.Repeat("(S (NP (DT the) (NN fox)) (VP (VB runs)))\n", 4)),
		0o666); err != nil {
		t.Fatal(err)
	}
	c, data := resolved(t, func(c *config.Config) { c.Task, c.Train = "constituency", path })
	pack := filepath.Join(t.TempDir(), "pack")
	if _, err := data.Pack(pack, &c); !structured.IsBadInput(err) ||
		!strings.HasPrefix(err.Error(), "--task constituency cannot be packed") {
		t.Error(err)
	}
	if _, err := os.Stat(pack); err == nil {
		t.Error("a pack is left")
	}
}
