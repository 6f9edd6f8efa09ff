package encoders

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// folder is an encoder in memory, which tests change before they write it.
type folder struct {
	config  map[string]any
	tensors map[string]tensorData
}

type tensorData struct {
	dtype string
	shape []int
	data  []byte
}

// load reads testdata/bert.
func load(t *testing.T) *folder {
	t.Helper()
	f := &folder{map[string]any{}, map[string]tensorData{}}
	text, err := os.ReadFile("testdata/bert/config.json")
	must(t, err)
	must(t, json.Unmarshal(text, &f.config))
	all, err := listTensors("testdata/bert")
	must(t, err)
	file, err := os.ReadFile("testdata/bert/" + weightsFile)
	must(t, err)
	for name, p := range all {
		f.tensors[name] = tensorData{p.DType, p.Shape, file[p.Begin:p.End]}
	}
	return f
}

// encoded is the safetensors file of some tensors.
func (f *folder) encoded(names []string) []byte {
	header, data := map[string]any{}, []byte(nil)
	for _, name := range names {
		x := f.tensors[name]
		header[name] = map[string]any{"dtype": x.dtype, "shape": x.shape,
			"data_offsets": []int{len(data), len(data) + len(x.data)}}
		data = append(data, x.data...)
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)
}

func (f *folder) names() []string { return slices.Sorted(maps.Keys(f.tensors)) }

func (f *folder) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text, err := json.Marshal(f.config)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, weightsFile), f.encoded(f.names()), 0o644))
	return dir
}

func change(f *folder, name string, edit func(x *tensorData)) {
	x := f.tensors[name]
	x.data, x.shape = slices.Clone(x.data), slices.Clone(x.shape)
	edit(&x)
	f.tensors[name] = x
}

// Folders that are not encoders, or whose parts do not fit together, are bad input, and the message says what to do or
// where it is.
func TestBadFolders(t *testing.T) {
	const words, key = "embeddings.word_embeddings.weight", "encoder.layer.1.attention.self.key.weight"
	for want, edit := range map[string]func(f *folder){
		`model_type is "t5"; dsp knows`: func(f *folder) { f.config["model_type"] = "t5" },
		`model_type is ""`:              func(f *folder) { delete(f.config, "model_type") },
		"no hidden_size":                func(f *folder) { delete(f.config, "hidden_size") },
		"hidden_size is -1":             func(f *folder) { f.config["hidden_size"] = -1 },
		`hidden_size is "wide"`:         func(f *folder) { f.config["hidden_size"] = "wide" },
		"does not divide into 3 heads":  func(f *folder) { f.config["num_attention_heads"] = 3 },
		`hidden_act is "mish"`:          func(f *folder) { f.config["hidden_act"] = "mish" },
		`position_embedding_type is "relative_key"`: func(f *folder) {
			f.config["position_embedding_type"] = "relative_key"
		},
		"is a decoder":      func(f *folder) { f.config["is_decoder"] = true },
		`no tensor "` + key: func(f *folder) { delete(f.tensors, key) },
		"not of the family": func(f *folder) { delete(f.tensors, words) },
		"by config.json the vocabulary has 41 pieces": func(f *folder) { f.config["vocab_size"] = 41 },
		"has shape [8 32], expected [16 16]": func(f *folder) {
			change(f, key, func(x *tensorData) { x.shape = []int{8, 32} })
		},
		`"encoder.layer.1.attention.output.LayerNorm.bias" is not of the network`: func(f *folder) {
			f.config["num_hidden_layers"] = 1
		},
		`no tensor "encoder.layer.2.`:   func(f *folder) { f.config["num_hidden_layers"] = 3 },
		`lora_A" is not of the network`: func(f *folder) { f.tensors["encoder.layer.0.lora_A"] = f.tensors[key] },
		"2 encoders":                    func(f *folder) { f.tensors["other."+words] = f.tensors[words] },
		"dtype I16":                     func(f *folder) { change(f, key, func(x *tensorData) { x.dtype = "I16" }) },
		`key.weight": entry 3 is NaN`: func(f *folder) {
			change(f, key, func(x *tensorData) { binary.LittleEndian.PutUint16(x.data[6:], 0x7e00) })
		},
		`key.weight": entry 0 is -Inf`: func(f *folder) {
			change(f, key, func(x *tensorData) { binary.LittleEndian.PutUint16(x.data, 0xfc00) })
		},
	} {
		f := load(t)
		edit(f)
		if _, err := Open(f.write(t)); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want bad input about %q", err, want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	check := func(want string, edit func(dir string)) {
		t.Helper()
		dir := load(t).write(t)
		edit(dir)
		if _, err := Open(dir); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want bad input about %q", err, want)
		}
	}
	remove := func(dir, name string) { must(t, os.Remove(filepath.Join(dir, name))) }
	write := func(dir, name, text string) { must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) }
	check("no config.json", func(dir string) { remove(dir, "config.json") })
	check("no model.safetensors; download", func(dir string) { remove(dir, weightsFile) })
	check("save_pretrained(DIR, safe_serialization=True)", func(dir string) {
		remove(dir, weightsFile)
		write(dir, "pytorch_model.bin", "x")
	})
	check("config.json: unexpected end", func(dir string) { write(dir, "config.json", `{"model_type": "bert",`) })
	check("cut short", func(dir string) { must(t, os.Truncate(filepath.Join(dir, weightsFile), 10000)) })
	check("not a safetensors file", func(dir string) {
		write(dir, weightsFile, "version https://git-lfs.github.com/spec/v1\n")
	})
	check("names it; download it, too", func(dir string) {
		remove(dir, weightsFile)
		write(dir, shardsFile, `{"weight_map": {"a": "model-00001-of-00002.safetensors"}}`)
	})
	check("not in the encoder's folder", func(dir string) {
		remove(dir, weightsFile)
		write(dir, shardsFile, `{"weight_map": {"a": "../model.safetensors"}}`)
	})
	check("no weight_map", func(dir string) {
		remove(dir, weightsFile)
		write(dir, shardsFile, `{}`)
	})
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); !structured.IsBadInput(err) {
		t.Errorf("error %v for a folder that is not there", err)
	}
}

// Shards, prefixes, other precisions, old names of layer norms and tensors beside the encoder give the same encoder.
func TestOtherLayouts(t *testing.T) {
	e, err := Open("testdata/bert")
	must(t, err)
	same := func(what, dir string) {
		t.Helper()
		other, err := Open(dir)
		must(t, err)
		if !slices.Equal(other.Weights(), e.Weights()) || other.Fingerprint() != e.Fingerprint() {
			t.Errorf("%s give another encoder", what)
		}
	}
	f := load(t)
	f.tensors["embeddings.position_ids"] = tensorData{"I64", []int{1, 2}, make([]byte, 16)}
	f.tensors["cls.predictions.bias"] = tensorData{"F32", []int{1}, make([]byte, 4)}
	same("tensors beside it", f.write(t))

	f, g := load(t), load(t)
	clear(g.tensors)
	for name, x := range f.tensors {
		name = strings.Replace(strings.Replace(name, "LayerNorm.weight", "LayerNorm.gamma", 1),
			"LayerNorm.bias", "LayerNorm.beta", 1)
		g.tensors["bert."+name] = x
	}
	same("a prefix and old names", g.write(t))

	for _, dtype := range []string{"F32", "F64"} {
		f = load(t)
		for _, name := range f.names() {
			change(f, name, func(x *tensorData) {
				var to []byte
				for i := 0; i < len(x.data); i += 2 {
					v := halfFloat(binary.LittleEndian.Uint16(x.data[i:]))
					if dtype == "F32" {
						to = binary.LittleEndian.AppendUint32(to, math.Float32bits(v))
					} else {
						to = binary.LittleEndian.AppendUint64(to, math.Float64bits(float64(v)))
					}
				}
				x.dtype, x.data = dtype, to
			})
		}
		same(dtype, f.write(t))
	}

	f = load(t)
	dir, names, index := f.write(t), f.names(), map[string]string{}
	must(t, os.Remove(filepath.Join(dir, weightsFile)))
	for k, part := range [][]string{names[:9], names[9:]} {
		file := fmt.Sprintf("model-0000%d-of-00002.safetensors", k+1)
		must(t, os.WriteFile(filepath.Join(dir, file), f.encoded(part), 0o644))
		for _, name := range part {
			index[name] = file
		}
	}
	text, err := json.Marshal(map[string]any{"weight_map": index})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, shardsFile), text, 0o644))
	same("shards", dir)

	f = load(t)
	change(f, "embeddings.LayerNorm.bias", func(x *tensorData) { x.data[0] ^= 1 })
	other, err := Open(f.write(t))
	must(t, err)
	if other.Fingerprint() == e.Fingerprint() {
		t.Error("another weight has the same fingerprint")
	}
	f = load(t)
	f.config["layer_norm_eps"] = 0.1
	other, err = Open(f.write(t))
	must(t, err)
	if other.Fingerprint() == e.Fingerprint() {
		t.Error("another configuration has the same fingerprint")
	}
}

func TestHalfPrecision(t *testing.T) {
	for bits, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x0001: math.Pow(2, -24),
		0x83ff: -1023 * math.Pow(2, -24), 0x0400: math.Pow(2, -14), 0x7bff: 65504, 0x7c00: math.Inf(1),
		0xfc00: math.Inf(-1), 0: 0} {
		if got := float64(halfFloat(bits)); got != want {
			t.Errorf("%04x is %g, want %g", bits, got, want)
		}
	}
	if x := halfFloat(0x7e00); x == x {
		t.Errorf("NaN is %g", x)
	}
	f := load(t)
	change(f, "embeddings.LayerNorm.bias", func(x *tensorData) {
		x.dtype = "BF16"
		binary.LittleEndian.PutUint16(x.data, 0x3fc0)
	})
	e, err := Open(f.write(t))
	must(t, err)
	a, _ := e.Layout().Find("embeddings.LayerNorm.bias")
	if x := a.Of(e.Weights())[0]; x != 1.5 {
		t.Errorf("bfloat16 3fc0 is %g, want 1.5", x)
	}
}

func TestBadCalls(t *testing.T) {
	e, err := Open("testdata/bert")
	must(t, err)
	for _, text := range []string{"", "first", "mean", "mean0", "mean4", "3", "-1", "mean-1", "1.5"} {
		if _, err := e.Layers(text); !structured.IsBadInput(err) {
			t.Errorf("error %v for layers %q", err, text)
		}
	}
	for text, want := range map[string]Layers{"auto": {0, 2}, "last": {2, 2}, "mean2": {1, 2}, "mean3": {0, 2},
		"0": {0, 0}, "2": {2, 2}} {
		if got, err := e.Layers(text); err != nil || got != want {
			t.Errorf("layers %q are %v, want %v; %v", text, got, want, err)
		}
	}
	for want, l := range map[string]Layers{"hidden state 2": {2, 2}, "the mean of hidden states 0 to 2": {0, 2}} {
		if got := l.String(); got != want {
			t.Errorf("%d to %d: %q, want %q", l.From, l.To, got, want)
		}
	}
	w, n := e.NewWorker(Layers{2, 2}, Float32), e.Width()
	for want, call := range map[string]func() error{
		"sequence of 81 pieces; it reads up to 80": func() error {
			return w.Encode(make([]int32, 81), []int{0, 81}, make([]float32, 81*n))
		},
		"is 40; the network knows 0 to 39": func() error {
			return w.Encode([]int32{3, 40}, []int{0, 2}, make([]float32, 2*n))
		},
		"is -1; the network knows 0 to 39": func() error {
			return w.Encode([]int32{-1}, []int{0, 1}, make([]float32, n))
		},
		"do not fit": func() error {
			return w.Encode([]int32{3, 4}, []int{0, 2}, make([]float32, n))
		},
		"fall from 3 to 1": func() error {
			return w.Encode([]int32{3, 4}, []int{0, 3, 1, 2}, make([]float32, 2*n))
		},
	} {
		if err := call(); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want bad input about %q", err, want)
		}
	}
	must(t, w.Encode(nil, []int{0}, nil))
	must(t, w.Encode(nil, []int{0, 0, 0}, nil))
	rows, alone := make([]float32, n), make([]float32, n)
	must(t, w.Encode([]int32{7}, []int{0, 0, 1, 1}, rows)) // empty sequences beside one
	must(t, w.Encode([]int32{7}, []int{0, 1}, alone))
	if !slices.Equal(rows, alone) {
		t.Error("empty sequences change others")
	}
}

// Workers of several goroutines share an encoder.
func TestWorkersInParallel(t *testing.T) {
	e, err := Open("testdata/bert")
	must(t, err)
	x := expected(t, "testdata/bert")
	want := encode(t, e, "last", x.ids, x.offsets)
	other, err := Open("testdata/bert")
	must(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			rows := make([]float32, len(want))
			if err := other.NewWorker(Layers{2, 2}, Float32).Encode(x.ids, x.offsets, rows); err != nil ||
				!slices.Equal(rows, want) {
				t.Error("a worker beside others gets other rows", err)
			}
		})
	}
	group.Wait()
}

// Sums of integers have a limit, and an encoder that would exceed it is refused before it computes anything; so are
// other precisions.
func TestUnsupportedPrecisions(t *testing.T) {
	for width, want := range map[int]string{kernels.WidestInt8: "", kernels.WidestInt8 + 1: "in int8 they have up to"} {
		e := newEncoder("wide", &config{}, nil, graph.Layout{{Name: "inner", Shape: []int{1, width}}}, nil)
		if err := e.Supports(Float32); err != nil {
			t.Error(err)
		}
		if err := e.Supports(Int8); want == "" && err != nil || want != "" &&
			(err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("rows of %d numbers: %v", width, err)
		}
		if err := e.Supports("int4"); err == nil || !strings.Contains(err.Error(), `"int4"`) {
			t.Errorf("int4: %v", err)
		}
	}
}
