package encoders

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// config is what an encoder's config.json says about the network, under one name for all families.
type config struct {
	Family     string
	Width      int // of hidden states
	Layers     int
	Heads      int
	Inner      int // width between the two dense layers of a block
	Vocab      int
	Activation graph.Activation
	Floor      float64 // of layer norms

	Embedding int // width of embeddings, which are projected if it is not Width
	Places    int // rows of the table of positions, 0: none
	First     int // the row of that table that belongs to the first piece
	Types     int // rows of the table of segments, of which row 0 is used
	Longest   int // pieces in a sequence

	MPNet      *mpnetConfig      `json:",omitempty"`
	DeBERTa    *debertaConfig    `json:",omitempty"`
	ModernBERT *modernbertConfig `json:",omitempty"`

	// While training: the rates of dropout behind the embeddings and the second dense layer of blocks, behind the
	// output of attention, and of the probabilities of attention.
	Dropout, OutDropout, AttentionDropout float64 `json:",omitempty"`
}

// fields are the entries of config.json, as text.
type fields struct {
	path   string
	values map[string]json.RawMessage
	err    error // the first mistake
}

func readFields(path string) (*fields, error) {
	text, err := host.ReadRegular(path, mostConfig)
	if _, e := os.Stat(filepath.Dir(path)); os.IsNotExist(e) {
		return nil, structured.BadInput("%s: no such folder; an encoder is a folder as Hugging Face lays it out, with "+
			"config.json, tokenizer.json and model.safetensors; dsp downloads none",
			filepath.Dir(path))
	}
	if about, e := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) || e == nil && !about.IsDir() {
		return nil, structured.BadInput("%s: no config.json; an encoder is a folder as Hugging Face lays it out, with "+
			"config.json, tokenizer.json and model.safetensors",
			filepath.Dir(path))
	}
	if err != nil {
		return nil, err
	}
	f := &fields{path: path}
	if err := json.Unmarshal(text, &f.values); err != nil {
		return nil, structured.BadInput("%s: %w", path, err)
	}
	return f, nil
}

// get reads the first of the named entries that there is into to. It reports whether there is one.
func (f *fields) get(to any, names ...string) bool {
	for _, name := range names {
		if v, ok := f.values[name]; ok && string(v) != "null" {
			if err := json.Unmarshal(v, to); err != nil && f.err == nil {
				f.err = structured.BadInput("%s: %s is %s, which is not what the family has there", f.path, name, v)
			}
			return true
		}
	}
	return false
}

func (f *fields) refuse(format string, args ...any) {
	if f.err == nil {
		f.err = structured.BadInput("%s: "+format, append([]any{f.path}, args...)...)
	}
}

// size reads a whole number of at least 1; without a default it has to be there.
func (f *fields) size(orElse int, names ...string) int {
	n := orElse
	if !f.get(&n, names...) && orElse == 0 {
		f.refuse("no %s, expected a whole number", names[0])
	}
	if f.err == nil && (n < 1 || n > mostSize) {
		f.refuse("%s is %d, expected 1 to %d", names[0], n, mostSize)
	}
	return n
}

// The largest sizes of an encoder, far above those of any: a number of config.json or of a model file, and its layers.
const (
	mostSize   = 1 << 26
	mostLayers = 1000
)

// layers reads the number of layers.
func (f *fields) layers(names ...string) int {
	n := f.size(0, names...)
	if f.err == nil && n > mostLayers {
		f.refuse("%s is %d, expected 1 to %d", names[0], n, mostLayers)
	}
	return n
}

// count is size for a number that may be 0.
func (f *fields) count(orElse int, name string) int {
	n := orElse
	if f.get(&n, name); n < 0 || n > mostSize {
		f.refuse("%s is %d, expected 0 to %d", name, n, mostSize)
	}
	return n
}

func (f *fields) number(orElse float64, names ...string) float64 {
	x := orElse
	f.get(&x, names...)
	return x
}

func (f *fields) flag(orElse bool, name string) bool {
	x := orElse
	f.get(&x, name)
	return x
}

func (f *fields) word(orElse, name string) string {
	x := orElse
	f.get(&x, name)
	return x
}

// rate reads a rate of dropout.
func (f *fields) rate(names ...string) float64 {
	x := f.number(0.1, names...)
	if !(x >= 0 && x < 1) {
		f.refuse("%s is %g, expected a rate from 0 to less than 1", names[0], x)
	}
	return x
}

// must refuses a setting whose value this package does not know.
func (f *fields) must(name, value string, expected ...string) {
	if !slices.Contains(expected, value) {
		f.refuse("%s is %q; dsp knows %s", name, value, strings.Join(expected, ", "))
	}
}

var activations = map[string]graph.Activation{
	"gelu": graph.NormalGELU, "gelu_python": graph.NormalGELU,
	"gelu_new": graph.GELU, "gelu_fast": graph.GELU, "gelu_pytorch_tanh": graph.GELU,
	"relu": graph.ReLU, "silu": graph.SiLU, "swish": graph.SiLU, "tanh": graph.Tanh,
}

func (f *fields) activation(names ...string) graph.Activation {
	name := "gelu"
	f.get(&name, names...)
	a, ok := activations[name]
	if !ok {
		f.refuse("%s is %q; dsp knows gelu, gelu_new, relu, silu and tanh", names[0], name)
	}
	return a
}

func readConfig(dir string) (*config, *family, error) {
	f, err := readFields(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, nil, err
	}
	name := ""
	f.get(&name, "model_type")
	fam := families[name]
	if f.err == nil && fam == nil {
		return nil, nil, structured.BadInput("%s: model_type is %q; dsp knows encoders of the families %s", f.path, name,
			strings.Join(familyNames(), ", "))
	}
	if f.err != nil {
		return nil, nil, f.err
	}
	if f.flag(false, "is_decoder") || f.flag(false, "add_cross_attention") || f.flag(false, "is_encoder_decoder") {
		f.refuse("the network is a decoder; expected an encoder")
	}
	c := &config{Family: name}
	fam.read(c, f)
	if f.err == nil && c.Width%c.Heads != 0 {
		f.refuse("a width of %d does not divide into %d heads", c.Width, c.Heads)
	}
	return c, fam, f.err
}
