package onnx

import (
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/models/exchange/onnx/onnxtest"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// sentences have a word, a part of speech and a tag in each line.
const sentences = "The\tD\tO\nfox\tN\tB-X\nis\tV\tO\nred\tJ\tO\n\nA\tD\tO\nred\tJ\tB-X\nfox\tN\tI-X\n\n"

// model returns an untrained model with random weights.
func model(t *testing.T, change func(c *config.Config)) *models.Model {
	t.Helper()
	m, _ := modelAndData(t, change)
	return m
}

// modelAndData returns a model with the data that it was made for.
func modelAndData(t *testing.T, change func(c *config.Config)) (*models.Model, *structured.Dataset) {
	t.Helper()
	c := config.Default()
	c.Columns, c.MinCount = "word=0,pos=1,label=-1", 1
	change(&c)
	if c.Train == "" && c.Task == "auto" {
		c.Train = trainFile(t, strings.Repeat(sentences, 5)+strings.Repeat("fox\tN\tO\n", 70)+"\n")
	}
	if c.Dense == "features" {
		c.Dense = writeFeatures(t, c.Train)
	}
	d, err := readData(&c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.NewModel(c, d)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range m.W {
		m.W[i] = float32(rng.NormFloat64())
	}
	return m, d.Train
}

// trainFile writes a file of sentences.
func trainFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.conll")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeFeatures writes three dense features for each token of a file.
func writeFeatures(t *testing.T, text string) string {
	t.Helper()
	content, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	features := []float32{}
	for line := range strings.Lines(string(content)) {
		if strings.TrimSpace(line) != "" {
			for range 3 {
				features = append(features, float32(math.Sin(float64(len(features)))))
			}
		}
	}
	path := filepath.Join(t.TempDir(), "dense.npz")
	err = host.WriteFile(path, func(w io.Writer) error {
		return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
			return arrays.Add(n, "features", features, len(features)/3, 3)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func net(name string, more ...func(c *config.Config)) func(c *config.Config) {
	return func(c *config.Config) {
		c.Net = name
		for _, f := range more {
			f(c)
		}
	}
}

// drawn reads built-in data of a task.
func drawn(task string) func(c *config.Config) {
	return func(c *config.Config) {
		c.Task, c.Columns, c.Examples, c.MinCount = task, "", settings.Sizes{6, 2, 2}, 0
	}
}

var graphs = []struct {
	name      string
	change    func(c *config.Config)
	inputs    []string // in order, with their dimensions
	marginals bool
	outputs   []string
}{
	{"crf", net("auto"), []string{"attributes[batch time attribute]", "lengths[batch]"}, true,
		[]string{"labels[batch time]", "score[batch]", "marginals[batch time 3]"}},
	{"crf of a scheme", net("auto", func(c *config.Config) { c.Constraints = "iob2" }),
		[]string{"attributes[batch time attribute]", "lengths[batch]"}, false,
		[]string{"labels[batch time]", "score[batch]"}},
	{"hashed", net("auto", func(c *config.Config) { c.HashBits = 6 }),
		[]string{"attributes[batch time attribute]", "lengths[batch]"}, false,
		[]string{"labels[batch time]", "score[batch]"}},
	{"embed", net("embed"), []string{"words[batch time 5]", "lengths[batch]"}, true,
		[]string{"labels[batch time]", "score[batch]", "marginals[batch time 3]"}},
	{"embed position", net("embed", func(c *config.Config) { c.Edges, c.Constraints = "position", "iob2" }),
		[]string{"words[batch time 5]", "lengths[batch]"}, true,
		[]string{"labels[batch time]", "score[batch]", "marginals[batch time 3]"}},
	{"rnn", net("rnn"), []string{"words[batch time 5]", "lengths[batch]"}, false,
		[]string{"labels[batch time]", "score[batch]"}},
	{"attention", net("attention"), []string{"words[batch time 5]", "lengths[batch]"}, false,
		[]string{"labels[batch time]", "score[batch]"}},
	{"deep", net("deep"), []string{"words[batch time 5]", "characters[batch time character]",
		"attributes[batch time attribute]", "lengths[batch]"}, false, []string{"labels[batch time]", "score[batch]"}},
	{"image", func(c *config.Config) { drawn("ocr")(c); c.Net = "cnn" },
		[]string{"features[batch time 128]", "lengths[batch]"}, true,
		[]string{"labels[batch time]", "score[batch]", "marginals[batch time 26]"}},
	{"mlp", func(c *config.Config) { drawn("ocr")(c); c.Net, c.Window = "mlp", 3 },
		[]string{"features[batch time 128]", "lengths[batch]"}, false, []string{"labels[batch time]", "score[batch]"}},
	{"independent", func(c *config.Config) { drawn("ocr")(c); c.Net, c.Edges = "linear", "none" },
		[]string{"features[batch time 128]", "lengths[batch]"}, false, []string{"labels[batch time]", "score[batch]"}},
	{"biaffine", func(c *config.Config) { drawn("parse")(c); c.Net = "biaffine" },
		[]string{"words[batch time 6]", "lengths[batch]"}, false,
		[]string{"arc[batch time time 1]", "label[batch time time R]"}},
	{"arcs", func(c *config.Config) { drawn("parse")(c); c.Net = "linear" },
		[]string{"arc_attributes[batch arc arc_attribute]", "label_attributes[batch label label_attribute]"}, false,
		[]string{"arc[batch arc 1]", "label[batch label R]"}},
	{"bilinear", func(c *config.Config) { drawn("align")(c); c.Net, c.Features = "bilinear", "none" },
		[]string{"words[batch time 4]", "sources[batch]", "lengths[batch]"}, false,
		[]string{"pair[batch time time 1]", "unmatched[batch time 1]"}},
	{"windows", func(c *config.Config) { drawn("localise")(c); c.Search, c.Window = "windows", 3 },
		[]string{"features[batch time D]"}, false, []string{"cell[batch time 1]", "size[D]"}},
	{"choice", func(c *config.Config) { drawn("localise")(c) }, []string{"features[batch time D]"}, false,
		[]string{"candidate[batch time 1]"}},
	{"segments", func(c *config.Config) { drawn("segment")(c) },
		[]string{"features[batch time D]", "edge_features[batch edge D]"}, false,
		[]string{"node[batch time 2]", "edge[batch edge 1]"}},
}

// Every graph declares the inputs and outputs that docs/guide/onnx.md describes, computes each array before it is read,
// once, and survives the file.
func TestGraphs(t *testing.T) {
	for _, g := range graphs {
		t.Run(g.name, func(t *testing.T) {
			m := model(t, g.change)
			path := filepath.Join(t.TempDir(), "m.onnx")
			s, err := Export(m, path, Options{Marginals: g.marginals})
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := onnxtest.Read(content)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(file, built(t, m, Options{Marginals: g.marginals})) {
				t.Error("the file does not hold what build returns")
			}
			checkInfos(t, "inputs", file.Graph.Inputs, g.inputs, s.Inputs)
			checkInfos(t, "outputs", file.Graph.Outputs, g.outputs, s.Outputs)
			checkOrder(t, file.Graph, map[string]bool{}, map[string]bool{})
			checkInitializers(t, file.Graph)
			meta := map[string]string{}
			for _, e := range file.Metadata {
				meta[e.Key] = *e.Value
			}
			var labels []string
			if err := json.Unmarshal([]byte(meta["labels"]), &labels); err != nil || !slices.Equal(labels, m.Labels.Names()) {
				t.Errorf("labels %q: %v", meta["labels"], err)
			}
			if want := map[bool]string{true: "labels", false: "potentials"}[s.Decoded]; meta["outputs"] != want ||
				meta["structure"] != s.Structure {
				t.Errorf("metadata %q of a %s", meta, s.Structure)
			}
			if v := file.Operators; len(v) != 1 || v[0].Version != opset || *v[0].Domain != "" {
				t.Errorf("operators %v", v)
			}
		})
	}
}

func built(t *testing.T, m *models.Model, o Options) *format.Model {
	t.Helper()
	file, _, err := build(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// checkInfos compares arrays with descriptions such as "labels[batch time]". D and R stand for any number.
func checkInfos(t *testing.T, what string, infos []*format.Array, want, names []string) {
	t.Helper()
	if len(infos) != len(want) || len(names) != len(want) {
		t.Errorf("%s %v (%v), want %v", what, infos, names, want)
		return
	}
	for i, info := range infos {
		name, dims, _ := strings.Cut(strings.TrimSuffix(want[i], "]"), "[")
		fields := strings.Fields(dims)
		of := info.Type.Tensor.Shape.Dims
		same := info.Name == name && names[i] == name && len(of) == len(fields)
		for k := 0; same && k < len(of); k++ {
			n, free := of[k].Size, of[k].Name
			switch {
			case fields[k] == "D" || fields[k] == "R":
				same = n > 0
			case n > 0:
				same = fields[k] == strconv.FormatInt(n, 10)
			default:
				same = fields[k] == free
			}
		}
		if !same {
			t.Errorf("%s: %v, want %s", what, info, want[i])
		}
	}
}

// checkOrder checks that every array is made once, before it is read; a body may read what was made before its loop.
func checkOrder(t *testing.T, g *format.Graph, before, all map[string]bool) {
	t.Helper()
	known := map[string]bool{}
	for name := range before {
		known[name] = true
	}
	made := func(name string) {
		if all[name] {
			t.Errorf("array %q is made twice", name)
		}
		known[name], all[name] = true, true
	}
	for _, x := range g.Inputs {
		made(x.Name)
	}
	for _, x := range g.Initializers {
		made(x.Name)
	}
	for _, n := range g.Nodes {
		for _, x := range n.Inputs {
			if !known[x] {
				t.Errorf("%s %s reads %q, which is not made before", n.Op, n.Name, x)
			}
		}
		for _, a := range n.Attributes {
			if a.Graph != nil {
				checkOrder(t, a.Graph, known, all)
			}
		}
		for _, x := range n.Outputs {
			made(x)
		}
	}
	for _, x := range g.Outputs {
		if !known[x.Name] {
			t.Errorf("output %q is not made", x.Name)
		}
	}
}

// checkInitializers checks that constants have the bytes that their shapes ask for, and that something reads each.
func checkInitializers(t *testing.T, g *format.Graph) {
	t.Helper()
	read := map[string]bool{}
	var reads func(g *format.Graph)
	reads = func(g *format.Graph) {
		for _, n := range g.Nodes {
			for _, x := range n.Inputs {
				read[x] = true
			}
			for _, a := range n.Attributes {
				if a.Graph != nil {
					reads(a.Graph)
				}
			}
		}
	}
	reads(g)
	sizes := map[format.DataType]int{format.Float: 4, format.Double: 8, format.Int64: 8, format.Bool: 1}
	for _, x := range g.Initializers {
		n := sizes[x.Type]
		for _, d := range x.Dims {
			n *= int(d)
		}
		if n != len(x.Raw) {
			t.Errorf("%s %v has %d bytes, want %d", x.Name, x.Dims, len(x.Raw), n)
		}
		if !read[x.Name] {
			t.Errorf("nothing reads %s", x.Name)
		}
	}
}

// readData resolves c, reads or draws the data sets that it names, and makes their inputs.
func readData(c *config.Config) (*models.Data, error) {
	r, err := models.Resolve(*c)
	if err != nil {
		return nil, err
	}
	*c = r.Config()
	return r.Data()
}
