package inputs

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/nets/encoders"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// tensors are the names of all tensors that Save may put into a file, but those of encoders.
var tensors = []string{
	attributeNames, edgeAttributeNames, segmentAttributeNames, clustersTensor, gazetteerTensor, knownTensor, VectorsTensor,
	arcHashes, labelHashes, siblingHashes, pairStatistics, pairFeatures, "pair_attribute_names", "source_attribute_names",
	standardMean, standardScale, stepsTensor,
}

// IsTensor reports whether Save may put a tensor of that name into a file.
func IsTensor(name string) bool { return slices.Contains(tensors, name) || encoded.IsTensor(name) }

// saltKey is the metadata of a released model with the salt of its hashes.
const saltKey = "salt"

// Save puts the inputs into a file: names of attributes, lists and vectors of words as tensors, the rest as metadata.
// It leaves out the name of the set of features.
func (in Inputs) Save(f *safetensors.File) error {
	vocab := make([][]string, len(in.Vocab))
	for i, v := range in.Vocab {
		vocab[i] = v.Names()
	}
	values := map[string]any{"vocab": vocab}
	if in.Encoder != nil {
		if err := in.Encoder.Save(f); err != nil {
			return err
		}
	}
	if in.Standard != nil {
		in.Standard.Save(f)
	}
	if in.Steps != nil {
		safetensors.Add(f, stepsTensor, in.Steps.Pack())
	}
	if in.Characters != nil {
		values["characters"] = in.Characters.Names()
	}
	if in.Map.Len() > 0 {
		values["map"] = in.Map
	}
	if in.Grid.Cells() > 0 {
		values["grid"] = in.Grid
	}
	if in.Sliding != nil {
		values["windows"] = in.Sliding
	}
	if in.Looks != nil {
		values["looks"] = in.Looks
	}
	if in.Edges != (Edges{}) {
		values["edges"] = in.Edges
	}
	if d := in.Dictionary; d != nil && d.Node == nil {
		values["hash_bits"] = d.HashBits
	}
	if in.Salt != "" {
		values[saltKey] = in.Salt
	}
	template := ""
	if in.Own != nil {
		template, values["hash_bits"] = in.Own.Save(f)
	}
	v := in.Vectors
	if in.WordRows != nil {
		v, values["vector_words"] = in.WordRows.Vectors, in.WordRows.Words.Names()
	}
	if v != nil {
		safetensors.Add(f, VectorsTensor, v.Rows, len(v.Rows)/v.Dim, v.Dim)
	}
	if err := AddDictionary(f, in.Dictionary); err != nil {
		return err
	}
	texts, err := safetensors.JSONMetadata(values)
	if err != nil {
		return err
	}
	if in.Template != nil {
		template = in.Template.String()
		addLists(f, in.Template)
	}
	if template != "" {
		texts["template"] = template
	}
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	for name, text := range texts {
		f.Metadata[name] = text
	}
	return nil
}

// Loading says how Load reads the inputs of a task.
type Loading struct {
	Words   []string         // as Inputs has them
	Vectors bool             // there are vectors of words
	Frozen  bool             // which do not change
	Encoder bool             // there is an encoder
	Rows    encoded.Settings // of its rows
	From    encoded.Source   // of an encoder that the file refers to
	Longest int              // the most positions of a segment; 0: there are none
	// Own takes the inputs that only the task has; nil: there are none.
	Own func(f *safetensors.File, template string, hashBits int) (own Maker, tensors int, err error)
}

// EncoderSettings are those of the encoder that c names.
func EncoderSettings(c *config.Config) encoded.Settings {
	s := encoded.Settings{
		Dir: c.Encoder, Layers: c.EncoderLayers, Pieces: c.Pieces, ByReference: c.EncoderByReference,
		Half: c.EncoderRows == "float16", Int8: c.EncoderPrecision == string(encoders.Int8),
	}
	if c.TuneEncoder {
		adapter, _ := encoders.ParseAdapter(c.Adapter) // which was validated
		s.Tuning = &encoded.Tuning{Frozen: c.FreezeLayers, Recompute: c.Recompute, Adapter: adapter}
	}
	return s
}

// MostNumbers is how many numbers a position of the data of a model file has at most.
const MostNumbers = 1 << 24

// CheckSizes refuses sizes in the metadata of a model file, under a name, that are negative, or whose product, zeros
// aside, is more than most.
func CheckSizes(name string, most int, sizes ...int) error {
	product := 1
	for _, n := range sizes {
		if n < 0 || n > most || product > most/max(1, n) {
			return fmt.Errorf("metadata %q: %v, expected at least 0 and at most %d in all", name, sizes, most)
		}
		product *= max(1, n)
	}
	return nil
}

// Load returns the inputs that Save put into a file, and how many tensors held them.
func Load(f *safetensors.File, how Loading) (in Inputs, tensors int, err error) {
	in.Words = how.Words
	var characters, rows []string
	var vocab [][]string
	hashBits := 0
	for name, value := range map[string]any{"vocab": &vocab, "hash_bits": &hashBits, "characters": &characters,
		"map": &in.Map, "grid": &in.Grid, "edges": &in.Edges, "windows": &in.Sliding,
		"looks": &in.Looks, "vector_words": &rows,
		saltKey: &in.Salt} {
		text, ok := f.Metadata[name]
		if !ok && name != "vocab" {
			continue
		}
		if err := json.Unmarshal([]byte(text), value); err != nil {
			return in, 0, fmt.Errorf("metadata %q is not what is expected there: %w", name, err)
		}
	}
	for _, sizes := range []struct {
		name string
		of   []int
	}{{"map", []int{in.Map.Height, in.Map.Width, in.Map.Channels}}, {"grid", []int{in.Grid.Height, in.Grid.Width}},
		{"edges", []int{in.Edges.Dim}}, {"edges", []int{in.Edges.Types}}} {
		if err := CheckSizes(sizes.name, MostNumbers, sizes.of...); err != nil {
			return in, 0, err
		}
	}
	if in.Sliding != nil {
		if err := in.Sliding.Validate(); err != nil {
			return in, 0, fmt.Errorf("metadata: %w", err)
		}
	}
	if in.Looks != nil && !in.Looks.Valid() {
		return in, 0, fmt.Errorf("metadata \"looks\" is not what images can look like")
	}
	if err := CheckSizes("hash_bits", config.MaxHashBits, hashBits); err != nil {
		return in, 0, err
	}
	for _, names := range vocab {
		in.Vocab = append(in.Vocab, structured.NewAlphabet(names...))
	}
	if characters != nil {
		in.Characters = structured.NewAlphabet(characters...)
	}
	text, ok := f.Metadata["template"]
	if how.Own != nil {
		if in.Own, tensors, err = how.Own(f, text, hashBits); err != nil {
			return in, 0, fmt.Errorf("metadata: %w", err)
		}
	} else if ok {
		if in.Template, err = features.Parse(text, "the model's template"); err != nil {
			return in, 0, fmt.Errorf("metadata: %w", err)
		}
		in.Template.Longest = how.Longest
	}
	if in.Own == nil {
		if in.Dictionary, tensors, err = dictionary(f, hashBits); err != nil {
			return in, 0, err
		}
	}
	if in.Template != nil && in.Template.HasWhole() != (in.Dictionary != nil && in.Dictionary.Segment != nil &&
		how.Longest > 0) {
		return in, 0, fmt.Errorf("metadata: the template's lines about segments, and tensor %q, expected both or none",
			segmentAttributeNames)
	}
	if in.Template != nil {
		lists, err := loadLists(f, in.Template)
		if err != nil {
			return in, 0, err
		}
		tensors += lists
	}
	if in.Standard, err = loadStandard(f); err != nil {
		return in, 0, err
	}
	if in.Standard != nil {
		tensors += 2
	}
	if s, more, err := loadSteps(f); err != nil {
		return in, 0, fmt.Errorf("tensor %q: %w", stepsTensor, err)
	} else if s != nil {
		in.Steps, tensors = s, tensors+more
	}
	if how.Encoder {
		var more int
		if in.Encoder, more, err = encoded.Load(f, how.Rows, how.From); err != nil {
			return in, 0, err
		}
		tensors += more
	}
	if how.Vectors {
		v, err := loadVectors(f, how.Frozen)
		if err != nil {
			return in, 0, err
		}
		if in.Vectors = v; rows != nil {
			in.Vectors, in.WordRows = nil, &WordRows{structured.NewAlphabet(rows...), v}
			if v.Dim < 1 || len(v.Rows) != in.WordRows.Words.Len()*v.Dim || len(rows) != in.WordRows.Words.Len() {
				return in, 0, fmt.Errorf("tensor %q: %d numbers of %d per word, expected vectors of %d words", VectorsTensor,
					len(v.Rows), v.Dim, len(rows))
			}
		}
		tensors++
	}
	for _, names := range in.names() {
		names.HashedBy(in.Salt)
	}
	return in, tensors, nil
}

// VectorsTensor is the tensor of a model file that holds the vectors of words [V×Dim].
const VectorsTensor = "word_vectors"

// loadVectors returns the vectors of words in a model file.
func loadVectors(f *safetensors.File, frozen bool) (*graph.WordVectors, error) {
	rows, err := safetensors.Values[float32](f, VectorsTensor, -1, -1)
	if err != nil {
		return nil, err
	}
	return &graph.WordVectors{Dim: f.Tensors[VectorsTensor].Shape[1], Rows: rows, Frozen: frozen}, nil
}
