package encoded

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models/data/pieces"
	"github.com/dsp-go/dsp/nets/encoders"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// A model file has the metadata keptKey if its model reads an encoder. Unless that is a reference, the file holds the
// encoder's parameters and the tokenizer.json, as bytes.
const (
	keptKey         = "encoder"
	tokenizerTensor = "encoder_tokenizer"
)

// IsTensor reports whether Save may put a tensor of that name into a file.
func IsTensor(name string) bool { return name == tokenizerTensor || encoders.IsTensor(name) }

// kept says which encoder the model of a file reads.
type kept struct {
	ID string `json:"id"` // Reader.ID
	// the name of the folder; older files say where it was; empty: the encoder is in the file
	Reference string `json:"reference,omitempty"`
}

// Save puts the reader into a model file, or a reference to its folder, by name: a model tells nobody where its maker
// keeps files.
func (r *Reader) Save(f *safetensors.File) error {
	k := kept{ID: r.ID()}
	if r.Tuned != nil && !r.adapted() && !r.ByReference {
		k.ID = "" // of the weights before training, which the file does not hold
	}
	if r.ByReference {
		dir, err := filepath.Abs(r.Dir)
		if err != nil {
			return err
		}
		k.Reference = filepath.Base(dir)
	} else {
		safetensors.Add(f, tokenizerTensor, r.Tokenizer.File)
		if err := r.Encoder.Save(f); err != nil {
			return err
		}
	}
	texts, err := safetensors.JSONMetadata(map[string]any{keptKey: k})
	if err != nil {
		return err
	}
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata[keptKey] = texts[keptKey]
	return nil
}

// Source says where the encoder of a file is that refers to one.
type Source struct {
	Reader *Reader // is taken where it is the encoder: models share it; may be nil
	Folder string  // is the encoder's, or has it inside by its name; empty: where the settings say, or beside the file
	Beside string  // the folder of the file
}

// Load returns the reader that Save put into a model file, and the number of its tensors. Another encoder than the file
// refers to is refused.
func Load(f *safetensors.File, s Settings, from Source) (r *Reader, tensors int, err error) {
	var k kept
	if err := json.Unmarshal([]byte(f.Metadata[keptKey]), &k); err != nil {
		return nil, 0, structured.BadInput("metadata %q is not what is expected there: %w", keptKey, err)
	}
	s.ByReference = k.Reference != ""
	if known := from.Reader; s.ByReference && s.Tuning == nil && known != nil && known.ID() == k.ID {
		return known, 0, nil
	}
	if s.ByReference {
		was := k.Reference
		if filepath.Base(s.Dir) == was { // the settings know where it is
			was = s.Dir
		}
		if s.Dir, err = from.Find(was); err != nil {
			return nil, 0, err
		}
		r, err = Open(s)
	} else {
		r, tensors, err = stored(f, s)
	}
	if err != nil {
		return nil, 0, err
	}
	if k.ID != "" && r.ID() != k.ID {
		where := "in the file"
		if s.ByReference {
			where = s.Dir
		}
		return nil, 0, structured.BadInput("the encoder %s is not the one that the model was trained with: other weights, "+
			"another tokenizer or other settings", where)
	}
	return r, tensors, nil
}

// stored returns the reader whose encoder is in the file.
func stored(f *safetensors.File, s Settings) (*Reader, int, error) {
	e, tensors, err := encoders.Stored(f, "the model's encoder")
	if err != nil {
		return nil, 0, err
	}
	text, err := safetensors.Values[uint8](f, tokenizerTensor, -1)
	if err != nil {
		return nil, 0, err
	}
	t, err := pieces.Parse(text, "the model's "+pieces.TokenizerFile)
	if err != nil {
		return nil, 0, err
	}
	r, err := New(s, e, t)
	if err == nil && r.Tuned != nil && !r.adapted() {
		tensors -= len(r.Tuned.Params()) // those that are weights of the network
	}
	return r, tensors + 1, err
}

// Find returns where an encoder is that a model refers to: in the source's folder, or, without one, where it was,
// unless that is a name only, or in a folder of the same name beside the model or beside its folder.
func (from Source) Find(was string) (string, error) {
	name := filepath.Base(was)
	if from.Folder != "" {
		if inside := filepath.Join(from.Folder, name); isFolder(inside) {
			return inside, nil
		}
		return from.Folder, nil
	}
	beside := filepath.Join(from.Beside, name)
	places := []string{beside, filepath.Join(from.Beside, "..", name)}
	if was != name {
		places = append([]string{was}, places...)
	}
	for _, path := range places {
		if isFolder(path) {
			return path, nil
		}
	}
	return "", structured.BadInput("the model reads the encoder %s, which is not there, nor is there %s; say where it "+
		"is by --encoder FOLDER, put the folder there, or train without --encoder-by-reference, so that the "+
		"model keeps its encoder",
		was, beside)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Copy copies the files of an encoder's folder that Open reads to another folder, each whole or not at all.
func Copy(from, to string) error {
	files, err := encoders.Files(from)
	if err == nil {
		err = os.MkdirAll(to, 0o777)
	}
	for _, name := range append(files, pieces.TokenizerFile) {
		if err == nil {
			err = copyFile(filepath.Join(from, name), filepath.Join(to, name))
		}
	}
	return err
}

func copyFile(from, to string) error {
	f, err := host.OpenRegular(from)
	if err != nil {
		return err
	}
	return errors.Join(host.WriteFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	}), f.Close())
}
