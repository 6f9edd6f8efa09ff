package inputs

import (
	"github.com/dsp-go/dsp/models/data/features/pairs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// The tensors of a model file that hold what attributes of word pairs are made with, or the number of dense features of
// pairs.
const (
	pairStatistics = "word_pair_statistics" // bytes
	pairFeatures   = "pair_features"        // [1]
)

// pairNames are the tensors that hold the names of attributes, with their dictionaries.
func (in *Pairs) names() []pairNames {
	return []pairNames{{"pair_attribute_names", &in.Dictionary.Pair}, {"source_attribute_names", &in.Dictionary.Source}}
}

type pairNames struct {
	tensor string
	of     **structured.Dictionary
}

// Save implements Maker: it puts the counts of words and the names of attributes into f. Hashed attributes have no
// names.
func (in *Pairs) Save(f *safetensors.File) (template string, hashBits int) {
	if in.Template == nil {
		safetensors.Add(f, pairFeatures, []int64{int64(in.Dim)})
		return "", 0
	}
	counts, _ := in.Statistics.MarshalBinary() // never fails
	safetensors.Add(f, pairStatistics, counts)
	for _, part := range in.names() {
		if d := *part.of; d.Node != nil {
			safetensors.Add(f, part.tensor, joinNames(d.Node))
		}
	}
	return in.Template.String(), in.Dictionary.Pair.HashBits
}

// joinNames writes names, none of which has a line feed, as splitNames reads them.
func joinNames(a *structured.Alphabet) []byte {
	text := []byte{}
	for _, name := range a.Names() {
		text = append(append(text, name...), '\n')
	}
	return text
}

// LoadPairs takes what Save put into a model file, and returns how many tensors held it. hashBits is 0 where attributes
// are not hashed.
func LoadPairs(f *safetensors.File, template string, hashBits int) (own Maker, tensors int, err error) {
	if template == "" {
		if _, ok := f.Tensors[pairFeatures]; !ok {
			return nil, 0, nil
		}
		dim, err := safetensors.Values[int64](f, pairFeatures, 1)
		if err == nil && (dim[0] < 1 || dim[0] > 1<<30) {
			err = structured.BadInput("%d features of each pair make no model", dim[0])
		}
		if err != nil {
			return nil, 0, err
		}
		return &Pairs{Dim: int(dim[0])}, 1, nil
	}
	in := &Pairs{Statistics: &pairs.Statistics{}, Dictionary: &pairs.Dictionary{}}
	if in.Template, err = pairs.Parse(template, "the model's template"); err != nil {
		return nil, 0, err
	}
	counts, err := safetensors.Values[uint8](f, pairStatistics, -1)
	if err == nil {
		err = in.Statistics.UnmarshalBinary(counts)
	}
	if err != nil {
		return nil, 0, err
	}
	tensors = 1
	for _, part := range in.names() {
		d := &structured.Dictionary{HashBits: hashBits}
		*part.of = d
		if hashBits > 0 {
			continue
		}
		text, err := safetensors.Values[uint8](f, part.tensor, -1)
		if err != nil {
			return nil, 0, err
		}
		if d.Node, err = splitNames(part.tensor, string(text)); err != nil {
			return nil, 0, err
		}
		tensors++
	}
	return in, tensors, nil
}
