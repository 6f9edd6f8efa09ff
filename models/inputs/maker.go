package inputs

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// A Maker makes inputs that only one task has, such as attributes of arcs. A network reads them in place of words and
// attributes of positions.
type Maker interface {
	// Apply makes the inputs of a data set; 0 threads: all cores.
	Apply(d *structured.Dataset, threads int) error
	// Extractor returns an Apply for many small data sets, one after the other.
	Extractor() func(d *structured.Dataset) error
	// Missing names the inputs that d has to have and lacks; empty if it has them all.
	Missing(d *structured.Dataset) string
	// Network returns the network that reads the inputs, and dim dense features of each position beside them, linear in
	// its weights.
	Network(form structured.Form, dim int) (nets.Network, error)
	// Names returns the alphabets of attributes and words that the inputs are made by.
	Names() []*structured.Alphabet
	// Save puts what Load needs into a model file. The template is empty for inputs without one; hashBits is 0 where
	// nothing is hashed.
	Save(f *safetensors.File) (template string, hashBits int)
}
