package encoders

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

const (
	weightsFile = "model.safetensors"
	shardsFile  = "model.safetensors.index.json"
)

// The largest files of JSON beside an encoder's weights, in bytes: real ones have a few KB, and an index of shards tens
// of KB.
const (
	mostConfig = 1 << 20
	mostIndex  = 16 << 20
)

// stored is a tensor of a file.
type stored struct {
	file string
	safetensors.Place
}

// Files lists the files of an encoder's folder that Open reads.
func Files(dir string) ([]string, error) {
	files, err := weightFiles(dir)
	if err == nil && !slices.Equal(files, []string{weightsFile}) {
		files = append(files, shardsFile)
	}
	return append(files, "config.json"), err
}

// weightFiles lists those with weights: model.safetensors, or its shards.
func weightFiles(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, weightsFile)); os.IsNotExist(err) {
		return shards(dir)
	}
	return []string{weightsFile}, nil
}

// listTensors lists the tensors of an encoder's folder.
func listTensors(dir string) (map[string]stored, error) {
	files, err := weightFiles(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]stored{}
	for _, name := range files {
		path := filepath.Join(dir, name)
		f, err := host.OpenRegular(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, structured.BadInput("%s: missing, but %s names it; download it, too", path, shardsFile)
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil {
			var places []safetensors.Place
			_, places, err = safetensors.Index(f, info.Size())
			for _, p := range places {
				if _, twice := all[p.Name]; twice {
					err = structured.BadInput("tensor %q is in another file, too", p.Name)
				}
				all[p.Name] = stored{path, p}
			}
		}
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// shards lists the files that the index names.
func shards(dir string) ([]string, error) {
	path := filepath.Join(dir, shardsFile)
	text, err := host.ReadRegular(path, mostIndex)
	if errors.Is(err, fs.ErrNotExist) {
		for _, other := range []string{"pytorch_model.bin", "pytorch_model.bin.index.json",
			"tf_model.h5", "flax_model.msgpack"} {
			if _, err := os.Stat(filepath.Join(dir, other)); err == nil {
				return nil, structured.BadInput("%s: %s but no %s. dsp reads safetensors only, since other formats can run code; "+
					"convert it in Python: AutoModel.from_pretrained(DIR).save_pretrained(DIR, safe_serialization=True)", dir, other,
					weightsFile)
			}
		}
		return nil, structured.BadInput("%s: no %s; download the encoder's weights, too", dir, weightsFile)
	}
	if err != nil {
		return nil, err
	}
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, structured.BadInput("%s: %w", path, err)
	}
	files := slices.Compact(slices.Sorted(maps.Values(index.Map)))
	for _, name := range files {
		if name != filepath.Base(name) {
			return nil, structured.BadInput("%s: file %q is not in the encoder's folder", path, name)
		}
	}
	if len(files) == 0 {
		return nil, structured.BadInput("%s: no weight_map of tensors to files", path)
	}
	return files, nil
}

// readWeights reads the parameters in the order of the layout.
func readWeights(dir string, fam *family, c *config, layout graph.Layout) ([]float32, error) {
	tensors, err := listTensors(dir)
	if err != nil {
		return nil, err
	}
	prefix, err := prefixOf(dir, tensors, fam.embeddings)
	if err != nil {
		return nil, err
	}
	if err := checkNames(dir, tensors, prefix, fam, layout); err != nil {
		return nil, err
	}
	for _, a := range layout { // before memory is taken for sizes that no tensor has
		t, _ := find(tensors, prefix+a.Name)
		switch {
		case slices.Equal(t.Shape, a.Shape):
		case a.Name == fam.embeddings:
			return nil, structured.BadInput("%s: tensor %q has shape %v; by config.json the vocabulary has "+
				"%d pieces of %d numbers", t.file, t.Name, t.Shape, a.Shape[0], a.Shape[1])
		default:
			return nil, structured.BadInput("%s: tensor %q has shape %v, expected %v by config.json",
				t.file, t.Name, t.Shape, a.Shape)
		}
	}
	// all but the table of pieces is packed, too
	if err := host.CheckMemory("the encoder "+dir, 4*float64(2*layout.Dim()-c.Vocab*c.Embedding)); err != nil {
		return nil, err
	}
	w := make([]float32, layout.Dim())
	files := map[string]*os.File{}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, a := range layout {
		t, _ := find(tensors, prefix+a.Name)
		if files[t.file] == nil {
			if files[t.file], err = host.OpenRegular(t.file); err != nil {
				return nil, err
			}
		}
		if err := t.read(files[t.file], a.Of(w)); err != nil {
			return nil, fmt.Errorf("%s: tensor %q: %w", t.file, t.Name, err)
		}
	}
	return w, nil
}

// prefixOf returns what stands before the names of all tensors, such as "bert.".
func prefixOf(dir string, tensors map[string]stored, embeddings string) (string, error) {
	var found []string
	for name := range tensors {
		if prefix, ok := strings.CutSuffix(name, embeddings); ok && (prefix == "" || strings.HasSuffix(prefix, ".")) {
			found = append(found, prefix)
		}
	}
	switch len(found) {
	case 0:
		return "", structured.BadInput("%s: no tensor %q; the weights are not of the family that config.json names", dir,
			embeddings)
	case 1:
		return found[0], nil
	}
	slices.Sort(found)
	return "", structured.BadInput("%s: %d encoders, with names that begin with %q; expected one", dir, len(found), found)
}

// find returns the tensor of that name. Old files call the gain of a layer norm gamma and its bias beta.
func find(tensors map[string]stored, name string) (stored, bool) {
	t, ok := tensors[name]
	if stem, norm := strings.CutSuffix(name, "LayerNorm.weight"); !ok && norm {
		t, ok = tensors[stem+"LayerNorm.gamma"]
	}
	if stem, norm := strings.CutSuffix(name, "LayerNorm.bias"); !ok && norm {
		t, ok = tensors[stem+"LayerNorm.beta"]
	}
	return t, ok
}

// checkNames refuses folders that lack tensors, or have some within the encoder that its network does not read.
func checkNames(dir string, tensors map[string]stored, prefix string, fam *family, layout graph.Layout) error {
	known := map[string]bool{}
	for _, a := range layout {
		t, ok := find(tensors, prefix+a.Name)
		if !ok {
			return structured.BadInput("%s: no tensor %q, which a network of config.json has", dir, prefix+a.Name)
		}
		known[t.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || known[name] || strings.HasSuffix(name, ".position_ids") || strings.HasSuffix(name, ".token_type_ids") ||
			strings.HasSuffix(name, "inv_freq") {
			continue
		}
		if slices.ContainsFunc(fam.roots, func(root string) bool { return strings.HasPrefix(rest, root) }) {
			return structured.BadInput("%s: tensor %q is not of the network that config.json describes; the two "+
				"have to belong together", tensors[name].file, name)
		}
	}
	return nil
}

// read reads the tensor as float32. NaN and infinite numbers are refused.
func (t stored) read(f *os.File, to []float32) error {
	var convert func(b []byte) float32
	width := 2
	switch t.DType {
	case "F32":
		width, convert = 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
	case "F64":
		width, convert = 8, func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }
	case "F16":
		convert = func(b []byte) float32 { return halfFloat(binary.LittleEndian.Uint16(b)) }
	case "BF16":
		convert = func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) }
	default:
		return structured.BadInput("dtype %s, expected F32, F16 or BF16", t.DType)
	}
	r, buf := io.NewSectionReader(f, t.Begin, t.End-t.Begin), make([]byte, 1<<16)
	for at := 0; at < len(to); {
		n := min(len(to)-at, len(buf)/width)
		if _, err := io.ReadFull(r, buf[:n*width]); err != nil {
			return err
		}
		for i := range n {
			x := convert(buf[i*width:])
			if math.Float32bits(x)&0x7f800000 == 0x7f800000 {
				return structured.BadInput("entry %d is %g; every weight has to be a finite number", at+i, x)
			}
			to[at+i] = x
		}
		at += n
	}
	return nil
}

// halfFloat converts IEEE's half precision.
func halfFloat(h uint16) float32 {
	sign, exponent, mantissa := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0:
		x := float32(mantissa) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(x) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | mantissa<<13)
}
