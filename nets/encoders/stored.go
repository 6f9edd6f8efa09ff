package encoders

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
	"github.com/dsp-go/dsp/structured/machine/safetensors"
)

// networkKey is the metadata of a file with an encoder in it that says what its network is, and storedPrefix begins the names of its tensors.
const (
	networkKey   = "encoder_network"
	storedPrefix = Prefix // so that a network that trains the encoder has put its weights into the file already
)

// IsTensor reports whether Save may put a tensor of that name into a file.
func IsTensor(name string) bool { return strings.HasPrefix(name, storedPrefix) }

// Save puts the encoder into a file, beside what is in it: its network as metadata, its parameters as tensors. Parameters of a network that
// trains it (Tuned) stay as they are in the file.
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

// Stored returns the encoder that Save put into a file, and the number of its tensors. name is for messages.
func Stored(f *safetensors.File, name string) (e *Encoder, tensors int, err error) {
	c := &config{}
	if err := json.Unmarshal([]byte(f.Metadata[networkKey]), c); err != nil {
		return nil, 0, structured.BadInput("metadata %q is not what an encoder has there: %w", networkKey, err)
	}
	fam := families[c.Family]
	if fam == nil {
		return nil, 0, structured.BadInput("an encoder of the family %q; dsp knows %s", c.Family, strings.Join(familyNames(), ", "))
	}
	if c.Width < 1 || c.Heads < 1 || c.Width%c.Heads != 0 || c.Layers < 1 || c.Layers > len(f.Tensors) || c.Vocab < 1 || c.Longest < 1 {
		return nil, 0, structured.BadInput("metadata %q: no encoder has these sizes: %s", networkKey, f.Metadata[networkKey])
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
	e = &Encoder{dir: name, config: c, family: fam, layout: layout, w: w, programs: map[programKey]*graph.Program{}}
	e.fingerprint = sync.OnceValue(e.hash)
	return e, len(layout), nil
}
