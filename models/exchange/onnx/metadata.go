package onnx

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/structured"
)

// part describes an output of potentials.
type part struct {
	Name  string `json:"name"`
	Rows  string `json:"rows"`
	Width int    `json:"width"`
}

// metadata says how to read the outputs and how to make the inputs. Lists are arrays of JSON:
//
//	labels           the names of the labels
//	structure        chain, tree, …
//	outputs          "labels", or "potentials" if the graph does not decode
//	parts            of potentials: what each output holds
//	vocabularies     an array for each column of words; number 0 is the unknown name
//	characters       number 0 is an unknown character
//	attributes       the names of the attributes of positions, and edge_attributes of steps,
//	hash_bits        or how many bits of a hash number them
//	encoder          how words are cut into pieces (encoderUse), and tokenizer, its tokenizer.json
func metadata(m *models.Model, s Summary) ([]*format.Entry, error) {
	var all []*format.Entry
	var failed error
	add := func(key string, value any) {
		text, ok := value.(string)
		if !ok {
			b, err := json.Marshal(value)
			if err != nil {
				failed = err
			}
			text = string(b)
		}
		all = append(all, &format.Entry{Key: key, Value: &text})
	}
	names := func(key string, a *structured.Alphabet) {
		if a != nil && a.Len() > 0 {
			add(key, a.Names())
		}
	}
	labels := m.Labels.Names()
	if labels == nil {
		labels = []string{}
	}
	add("labels", labels)
	add("structure", s.Structure)
	if s.Decoded {
		add("outputs", "labels")
	} else {
		add("outputs", "potentials")
		var parts []part
		for _, p := range m.Net.Form().Parts {
			parts = append(parts, part{p.Name, rowsOf(p), p.Width})
		}
		add("parts", parts)
	}
	if len(m.Vocab) > 0 {
		var vocabularies [][]string
		for _, v := range m.Vocab {
			vocabularies = append(vocabularies, v.Names())
		}
		add("vocabularies", vocabularies)
	}
	names("characters", m.Characters)
	if d := m.Dictionary; d != nil {
		names("attributes", d.Node)
		names("edge_attributes", d.Edge)
		if d.HashBits > 0 {
			add("hash_bits", strconv.Itoa(d.HashBits))
		}
	}
	if r := m.Encoder; r != nil {
		add("encoder", encoderUse{r.Pieces, r.Encoder.Positions(), r.Tokenizer.Unknown,
			append([]int32{}, r.Tokenizer.Prefix...), append([]int32{}, r.Tokenizer.Suffix...)})
		add("tokenizer", strings.ToValidUTF8(string(r.Tokenizer.File), "\uFFFD")) // protobuf takes no other text
	}
	return all, failed
}

// encoderUse says how the pieces of an example are put together.
type encoderUse struct {
	Pieces    string  `json:"pieces"`    // first or mean: what the row of a word is taken from
	Positions int     `json:"positions"` // pieces of an example at most
	Unknown   int32   `json:"unknown"`   // the piece of a word without any
	Prefix    []int32 `json:"prefix"`    // special pieces before the example
	Suffix    []int32 `json:"suffix"`    // and after it
}
