package inputs

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// The tensors of a model file that hold names: bytes, each name followed by a line feed, in the order of their numbers.
const (
	attributeNames     = "attribute_names"
	edgeAttributeNames = "edge_attribute_names"

	segmentAttributeNames = "segment_attribute_names"
)

// AddDictionary puts the names that a dictionary numbers into f. Hashed attributes have no names.
func AddDictionary(f *safetensors.File, d *structured.Dictionary) error {
	if d == nil {
		return nil
	}
	for _, part := range []struct {
		name  string
		names *structured.Alphabet
	}{{attributeNames, d.Node}, {edgeAttributeNames, d.Edge}, {segmentAttributeNames, d.Segment}} {
		if part.names == nil {
			continue
		}
		size := 0
		for _, name := range part.names.Names() {
			size += len(name) + 1
		}
		text := make([]byte, 0, size)
		for _, name := range part.names.Names() {
			if strings.IndexByte(name, '\n') >= 0 {
				return structured.BadInput("attribute %q has a line feed in it, which a model file cannot hold", name)
			}
			text = append(append(text, name...), '\n')
		}
		safetensors.Add(f, part.name, text)
	}
	return nil
}

// dictionary returns the dictionary that AddDictionary put into f, and how many tensors hold it. hashBits is 0 where
// attributes are not hashed; a file without names and hashing has no dictionary.
func dictionary(f *safetensors.File, hashBits int) (d *structured.Dictionary, tensors int, err error) {
	d = &structured.Dictionary{HashBits: hashBits}
	for _, part := range []struct {
		name string
		to   **structured.Alphabet
	}{{attributeNames, &d.Node}, {edgeAttributeNames, &d.Edge}, {segmentAttributeNames, &d.Segment}} {
		if _, ok := f.Tensors[part.name]; !ok {
			continue
		}
		text, err := safetensors.Values[uint8](f, part.name, -1)
		if err != nil {
			return nil, 0, err
		}
		if *part.to, err = splitNames(part.name, string(text)); err != nil {
			return nil, 0, err
		}
		tensors++
	}
	switch {
	case hashBits < 0 || hashBits > config.MaxHashBits || hashBits > 0 && d.Node != nil:
		return nil, 0, fmt.Errorf("attributes hashed to %d bits and %d names make no dictionary", hashBits, d.Node.Len())
	case hashBits == 0 && d.Node == nil:
		return nil, tensors, nil
	}
	return d, tensors, nil
}

// splitNames returns the alphabet of names that each end with a line feed; they share the text's memory.
func splitNames(what, text string) (*structured.Alphabet, error) {
	names := make([]string, 0, strings.Count(text, "\n"))
	for len(text) > 0 {
		name, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return nil, fmt.Errorf("tensor %q does not end with a line feed", what)
		}
		names, text = append(names, name), rest
	}
	a := structured.NewAlphabet(names...)
	if a.Len() != len(names) {
		return nil, fmt.Errorf("tensor %q has %d names, of which %d differ", what, len(names), a.Len())
	}
	return a, nil
}
