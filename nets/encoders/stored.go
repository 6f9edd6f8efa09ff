package encoders

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// networkKey is the metadata of a file with an encoder in it that says what its network is, and storedPrefix begins the
// names of its tensors.
const (
	networkKey   = "encoder_network"
	storedPrefix = Prefix // so that a network that trains the encoder has put its weights into the file already
)

// IsTensor reports whether Save may put a tensor of that name into a file.
func IsTensor(name string) bool { return strings.HasPrefix(name, storedPrefix) }

// Save puts the encoder into a file, beside what is in it: its network as metadata, its parameters as tensors.
// Parameters of a network that trains it (Tuned) stay as they are in the file.
func (e *Encoder) Save(f *safetensors.File) error {
	text, err := json.Marshal(e.config)
	if err != nil {
		return err
	}
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata[networkKey] = string(text)
	for _, a := range e.layout {
		if _, there := f.Tensors[storedPrefix+a.Name]; !there {
			safetensors.Add(f, storedPrefix+a.Name, a.Of(e.w), a.Shape...)
		}
	}
	return nil
}

// check refuses sizes that no encoder of a file with that many tensors has.
func (c *config) check(tensors int) error {
	type size struct {
		name        string
		value, from int
	}
	sizes := []size{{"Width", c.Width, 1}, {"Heads", c.Heads, 1}, {"Layers", c.Layers, 1}, {"Inner", c.Inner, 0},
		{"Vocab", c.Vocab, 1}, {"Embedding", c.Embedding, 0},
		{"Places", c.Places, 0}, {"First", c.First, 0}, {"Types", c.Types, 0}, {"Longest", c.Longest, 1}}
	if m := c.MPNet; m != nil {
		sizes = append(sizes, size{"Buckets", m.Buckets, 1})
	}
	if d := c.DeBERTa; d != nil {
		sizes = append(sizes, size{"Span", d.Span, 0}, size{"Exact", d.Exact, 0}, size{"Longest", d.Longest, 0},
			size{"Kernel", d.Kernel, 0})
	}
	if m := c.ModernBERT; m != nil {
		sizes = append(sizes, size{"Window", m.Window, 0})
	}
	for _, s := range sizes {
		if s.value < s.from || s.value > mostSize {
			return structured.BadInput("%s is %d, expected %d to %d", s.name, s.value, s.from, mostSize)
		}
	}
	switch {
	case c.Layers > min(mostLayers, tensors):
		return structured.BadInput("Layers is %d, expected at most %d for %d tensors", c.Layers, min(mostLayers, tensors),
			tensors)
	case c.Width%c.Heads != 0:
		return structured.BadInput("Width is %d, which does not divide into %d heads", c.Width, c.Heads)
	}
	return nil
}

// Stored returns the encoder that Save put into a file, and the number of its tensors. name is for messages.
func Stored(f *safetensors.File, name string) (e *Encoder, tensors int, err error) {
	c := &config{}
	if err := json.Unmarshal([]byte(f.Metadata[networkKey]), c); err != nil {
		return nil, 0, structured.BadInput("metadata %q is not what an encoder has there: %w", networkKey, err)
	}
	fam := families[c.Family]
	if fam == nil {
		return nil, 0, structured.BadInput("an encoder of the family %q; dsp knows %s", c.Family,
			strings.Join(familyNames(), ", "))
	}
	if err := c.check(len(f.Tensors)); err != nil {
		return nil, 0, structured.BadInput("metadata %q: %w", networkKey, err)
	}
	d := &declaration{config: c}
	var layout graph.Layout
	err = host.Guard(func() (err error) { // sizes that any program may have written
		fam.params(d)
		layout, err = graph.NewLayout(d.list)
		return err
	})
	if err != nil {
		return nil, 0, structured.BadInput("metadata %q: %w", networkKey, err)
	}
	size := 0
	for _, a := range layout { // before memory is allocated for sizes that no tensor has
		values, err := safetensors.Values[float32](f, storedPrefix+a.Name, a.Shape...)
		if err != nil {
			return nil, 0, err
		}
		size += len(values)
	}
	w := make([]float32, size)
	for _, a := range layout {
		values, err := safetensors.Values[float32](f, storedPrefix+a.Name, a.Shape...)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		copy(a.Of(w), values)
	}
	return newEncoder(name, c, fam, layout, w), len(layout), nil
}
