package tasks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/drawn/dependencies"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/trees"
)

// A task refuses settings that contradict it or each other by what to do instead, and takes what is nearest to them.
func TestTasksRefuse(t *testing.T) {
	for _, x := range []struct {
		task string
		set  func(c *config.Config)
		want string // empty: it is taken
	}{
		{"align", func(c *config.Config) { c.Loss = "crf" }, "--loss crf does not go with --task align"},
		{"align", func(c *config.Config) { c.Loss = "softmax-margin" }, "--loss softmax-margin does not go with"},
		{"align", func(c *config.Config) { c.Loss = "hinge" }, ""},
		{"align", func(c *config.Config) { c.Smoothing = "entropy" }, "--smoothing entropy does not go with"},
		{"align", func(c *config.Config) { c.Smoothing = "l2" }, ""},
		{"align", func(c *config.Config) { c.Method = "counts" }, "--method counts needs a smooth loss"},
		{"align", func(c *config.Config) { c.Method = "lbfgs" }, "--method lbfgs needs a smooth objective"},
		{"align", func(c *config.Config) { c.Method, c.Mu = "lbfgs", 0.1 }, ""},
		{"align", func(c *config.Config) { c.Method, c.Mu = "sdca", 0.1 }, "--method sdca needs a smooth loss"},
		{"align", func(c *config.Config) { c.Method = "bcfw" }, ""},
		{"align", func(c *config.Config) { c.Features = "pos" }, "--features pos makes attributes of tokens or arcs"},
		{"align", func(c *config.Config) { c.Features = "align" }, ""},
		{"align", func(c *config.Config) { c.Features = "none" }, ""},
		{"align", func(c *config.Config) { c.TuneEncoder = true }, "--tune-encoder does not go with --task align"},
		{"warp", func(c *config.Config) { c.TuneEncoder = true }, "--tune-encoder does not go with --task warp"},
		{"warp", func(c *config.Config) { c.Loss = "crf" }, ""},
		{"constituency", func(c *config.Config) { c.Features = "parse" }, "--features parse makes other attributes"},
		{"constituency", func(c *config.Config) { c.Features = "none" }, ""},
		{"parse", func(c *config.Config) { c.Features = "align" }, "--features align makes attributes of tokens"},
		{"parse", func(c *config.Config) { c.Features = "parse" }, ""},
		{"parse", func(c *config.Config) { c.Order = 2 }, ""},
		{"parse", func(c *config.Config) { c.Order, c.Tree = 2, "nonprojective" },
			"--order 2 scores neighbouring dependents"},
		{"parse", func(c *config.Config) { c.Order, c.Net = 2, "biaffine" }, "--order 2 has scores of neighbouring"},
		{"parse", func(c *config.Config) { c.Order, c.Net = 2, "linear" }, ""},
		{"parse", func(c *config.Config) { c.Order, c.Features = 2, "none" }, "--order 2 has scores of neighbouring"},
		{"parse", func(c *config.Config) { c.Order, c.Device = 2, "cuda" }, "--order 2 of trees is for the CPU"},
		{"parse", func(c *config.Config) { c.Order, c.Device = 2, "cuda:x" }, "expected the number of a device"},
		{"parse", func(c *config.Config) { c.Device, c.Tree = "cuda", "nonprojective" }, ""},
		{"graph", func(c *config.Config) { c.Edges = nets.EdgesPosition }, "--edges position: sequences have it"},
		{"graph", func(c *config.Config) { c.Edges, c.Given = nets.EdgesTransition, settings.Given{"edges"} },
			"--edges transition: sequences"},
		{"graph", func(c *config.Config) { c.Edges = nets.EdgesTransition }, ""},
		{"graph", func(c *config.Config) { c.Features = "pos" }, "--features pos makes attributes of words"},
		{"graph", func(c *config.Config) { c.Oracle, c.Loss = "cut", "crf" }, "--loss crf needs sums over all labelings"},
		{"graph", func(c *config.Config) { c.Oracle, c.Loss = "cut", "softmax-margin" }, "--loss softmax-margin needs sums"},
		{"graph", func(c *config.Config) { c.Oracle, c.Loss = "cut", "hinge" }, ""},
		{"graph", func(c *config.Config) { c.Oracle, c.Loss = "exact", "crf" }, ""},
		{"graph", func(c *config.Config) { c.Constraints = "iob2" }, "--constraints iob2 forbid transitions"},
		{"segment", func(c *config.Config) { c.Features = "pos" }, "--features pos makes attributes of words; for regions"},
		{"segment", func(c *config.Config) { c.Features = "pixels" }, ""},
		{"segment", func(c *config.Config) { c.Net = "conv-crop" }, ""},
		{"segment", func(c *config.Config) { c.Net, c.Features = "conv-crop", "descriptor" }, "--net conv-crop reads pixels"},
		{"segment", func(c *config.Config) { c.Net, c.Features = "conv-crop", "pixels+descriptor" }, ""},
		{"segment", func(c *config.Config) { c.Superpixels, c.Given = 9, settings.Given{"cell-pixels"} },
			"--cell-pixels 8 and --superpixels 9"},
		{"segment", func(c *config.Config) { c.Superpixels = 9 }, ""},
		{"segment", func(c *config.Config) { c.Format, c.Train = "images", "x" }, "images without masks; give --masks"},
		{"segment", func(c *config.Config) { c.Format, c.Train, c.Masks = "images", "x", "m" }, ""},
		{"segment", func(c *config.Config) { c.Void = "x" }, "--void"},
		{"localise", func(c *config.Config) { c.Format = "images" }, "a folder of images alone has no boxes"},
		{"localise", func(c *config.Config) { c.Format, c.Search = "npz", "windows" },
			"--format npz has features of candidate"},
		{"localise", func(c *config.Config) { c.Format, c.Features = "npz", "pixels" },
			"--features pixels is computed from images"},
		{"localise", func(c *config.Config) { c.Features = "parse" },
			"--features parse makes attributes of words; for boxes"},
		{"localise", func(c *config.Config) { c.Features, c.Search = "pixels", "windows" },
			"--features pixels are those of candidate"},
		{"localise", func(c *config.Config) { c.Net, c.Search = "conv-crop", "windows" },
			"--net conv-crop reads candidate boxes"},
		{"localise", func(c *config.Config) { c.Window = 2 }, "--window 2: candidate boxes have no neighbours"},
		{"localise", func(c *config.Config) { c.Window = 1 }, ""},
		{"localise", func(c *config.Config) { c.Window, c.Search = 2, "windows" }, ""},
		{"localise", func(c *config.Config) { c.Cells, c.Search = 1025, "windows" },
			"--search-grid 1025: expected at most 1024"},
		{"localise", func(c *config.Config) { c.Cells, c.Search = 1024, "windows" }, ""},
		{"localise", func(c *config.Config) { c.Crop = 1032 }, "--candidate-pixels 1032: expected at most 1024"},
		{"localise", func(c *config.Config) { c.Crop = 1024 }, ""},
		{"localise", func(c *config.Config) { c.Crop = 33 }, "--candidate-pixels 33: expected a multiple of"},
		{"localise", func(c *config.Config) { c.Crop, c.Features = 33, "pixels" }, ""},
		{"localise", func(c *config.Config) { c.Crop, c.Search = 33, "windows" }, ""},
		{"transcribe", func(c *config.Config) { c.Loss = "hinge" }, "--loss hinge: which frame shows which symbol"},
		{"transcribe", func(c *config.Config) { c.Loss = "crf" }, ""},
		{"transcribe", func(c *config.Config) { c.Teacher = "t" }, "--teacher t: its marginals say"},
		{"transcribe", func(c *config.Config) { c.TaskSettings = settings.Texts{"height": "1025"} },
			"height=1025,frame=2: expected at most 1024"},
		{"transcribe", func(c *config.Config) { c.TaskSettings = settings.Texts{"frame": "1025"} },
			"frame=1025: expected at most 1024"},
		{"transcribe", func(c *config.Config) { c.TaskSettings = settings.Texts{"height": "1024", "frame": "1024"} }, ""},
		{"transcribe", func(c *config.Config) { c.Format, c.TaskSettings = "npz", settings.Texts{"frame": "3"} },
			"height and frame say how images"},
		{"transcribe", func(c *config.Config) { c.Format, c.TaskSettings = "npz", settings.Texts{"height": "17"} },
			"height and frame say how images"},
		{"transcribe", func(c *config.Config) { c.Format, c.TaskSettings = "npz", settings.Texts{"symbols": "words"} }, ""},
		{"tag", func(c *config.Config) { c.Edges = nets.EdgesOwn }, "--edges own: graphs have them"},
		{"tag", func(c *config.Config) { c.Edges = nets.EdgesTyped }, "--edges typed: graphs have them"},
		{"ocr", func(c *config.Config) { c.Edges = nets.EdgesPotts }, "--edges potts: graphs have them"},
		{"ocr", func(c *config.Config) { c.Edges = nets.EdgesPosition }, ""},
		{"tag", func(c *config.Config) { c.Features = "align" }, "--features align makes attributes of pairs"},
		{"tag", func(c *config.Config) { c.Order, c.Structure = 2, "segments" }, "--order 2 is for --structure chain"},
		{"tag", func(c *config.Config) { c.Order, c.Edges = 2, nets.EdgesNone }, "--order 2 has one score for each step"},
		{"tag", func(c *config.Config) { c.Order, c.Partial = 2, true }, "--order 2 takes the steps between labels"},
		{"tag", func(c *config.Config) { c.Order = 2 }, ""},
		{"tag", func(c *config.Config) { c.Partial, c.Edges = true, nets.EdgesNone }, ""},
		{"tag", func(c *config.Config) {
			c.Structure, c.SegmentLoss, c.LossByLength = "segments", "segments", true
		}, "--segment-loss segments counts segments"},
		{"tag", func(c *config.Config) {
			c.Structure, c.SegmentLoss, c.LabelWeights = "segments", "segments", settings.LabelWeights{"a": 1}
		}, "--segment-loss segments counts segments"},
		{"tag", func(c *config.Config) { c.Structure, c.SegmentLoss, c.LossByLength = "segments", "tags", true }, ""},
	} {
		task, _ := Named(x.task)
		c := config.Default()
		c.Task = x.task
		if x.task == "graph" || x.task == "segment" {
			c.Edges = nets.EdgesPotts
		}
		x.set(&c)
		err := task.Check(c)
		if (err == nil) != (x.want == "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.task, err, x.want)
		}
	}
}

// Settings that nothing but their values forbid are taken to their bounds.
func TestValidateTakesTheBounds(t *testing.T) {
	for want, set := range map[string]func(c *config.Config){
		"--hash-bits 29: expected at most":                   func(c *config.Config) { c.HashBits = config.MaxHashBits + 1 },
		"1 --hash-bits":                                      func(c *config.Config) { c.HashBits = config.MaxHashBits },
		"--template t and --features pos":                    func(c *config.Config) { c.Template, c.Features = "t", "pos" },
		"--features pos makes attributes, which --net embed": func(c *config.Config) { c.Net, c.Features = "embed", "pos" },
		"2 --features none":                                  func(c *config.Config) { c.Net, c.Features = "embed", "none" },
		"--prior p has no effect with --reg 0":               func(c *config.Config) { c.Prior, c.Reg = "p", 0 },
		"3 --reg":                                            func(c *config.Config) { c.Prior, c.Reg = "p", 1 },
		"--l1 1 makes weights zero, and --prior p":           func(c *config.Config) { c.L1, c.Prior = 1, "p" },
		"--teacher t and --init or --prior both":             func(c *config.Config) { c.Teacher, c.Init = "t", "i" },
		"--scheme bioes converts tags as they are":           func(c *config.Config) { c.Teacher, c.Scheme = "t", "bioes" },
		"--scheme bioes converts tags that are kno":          func(c *config.Config) { c.Partial, c.Scheme = true, "bioes" },
		"--teacher-share 1.5: expected a share":              func(c *config.Config) { c.Teacher, c.TeacherShare = "t", 1.5 },
		"4 --teacher-share":                                  func(c *config.Config) { c.Teacher, c.TeacherShare = "t", 1 },
		"--dropout 1: expected a probability":                func(c *config.Config) { c.Net, c.Dropout = "embed", 1 },
		"5 --dropout":                                        func(c *config.Config) { c.Net, c.Dropout = "embed", 0.99 },
	} {
		c := config.Default()
		c.Task, c.Train, c.Format = "tag", "x", "conll"
		set(&c)
		err := Validate(c)
		if taken := want[0] != '-'; taken != (err == nil) || err != nil &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The best labels of graphs are found as --oracle says, or else as regions of images and the loss allow.
func TestInferenceOf(t *testing.T) {
	for _, x := range []struct {
		task, oracle, edges, loss string
		labels                    int
		want                      graphs.Inference
	}{
		{"graph", "auto", nets.EdgesPotts, "hinge", 2, graphs.Exact},
		{"graph", "cut", nets.EdgesPotts, "hinge", 2, graphs.Cut},
		{"graph", "relaxed", nets.EdgesOwn, "hinge", 5, graphs.Relaxed},
		{"graph", "exact", nets.EdgesOwn, "hinge", 5, graphs.Exact},
		{"segment", "auto", nets.EdgesPotts, "hinge", 2, graphs.Cut},
		{"segment", "auto", nets.EdgesPotts, "auto", 2, graphs.Cut},
		{"segment", "auto", nets.EdgesPotts, "hinge", 3, graphs.Relaxed},
		{"segment", "auto", nets.EdgesPotts, "crf", 2, graphs.Relaxed},
		{"segment", "auto", nets.EdgesPotts, "softmax-margin", 2, graphs.Relaxed},
		{"segment", "auto", nets.EdgesNone, "hinge", 3, graphs.Exact},
		{"segment", "exact", nets.EdgesPotts, "hinge", 3, graphs.Exact},
		{"segment", "no oracle", nets.EdgesPotts, "hinge", 3, graphs.Exact},
	} {
		c := config.Default()
		c.Task, c.Oracle, c.Edges, c.Loss = x.task, x.oracle, x.edges, x.loss
		if got := InferenceOf(&c, x.labels); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}

// grid returns data of one graph, a grid of so many nodes each way, and of one without edges.
func grid(n, labels int) *structured.Dataset {
	d := &structured.Dataset{Name: "g", Offsets: []int{0, 2, 2 + n*n}, Alphabet: structured.NewAlphabet()}
	for k := range labels {
		d.Alphabet.Add(string(rune('a' + k)))
	}
	var ends [][2]int32
	for k := range int32(n * n) {
		if k%int32(n) > 0 {
			ends = append(ends, [2]int32{k - 1, k})
		}
		if k >= int32(n) {
			ends = append(ends, [2]int32{k - int32(n), k})
		}
	}
	d.Graphs = []*structured.Graph{{}, {Ends: ends}}
	return d
}

// Graphs whose tables would be larger than a setting allows are refused with what to use instead, or, where the oracle
// is open, get one without tables; the first of them is named.
func TestTooLargeGraphs(t *testing.T) {
	c := config.Default()
	c.Task, c.Edges = "graph", nets.EdgesOwn
	small, large := grid(2, 2), grid(9, 2)
	for _, x := range []struct {
		oracle, edges string
		d             *structured.Dataset
		labels        int
		max           float64
		want          string
	}{
		{"exact", nets.EdgesOwn, large, 2, 1e3, "g, example 1: its graph has loops"},
		{"exact", nets.EdgesOwn, large, 2, 1e9, ""}, {"exact", nets.EdgesOwn, small, 2, 1e3, ""},
		{"exact", nets.EdgesNone, large, 2, 1e3, ""}, {"relaxed", nets.EdgesOwn, large, 2, 1e3, ""},
		{"cut", nets.EdgesOwn, large, 2, 1e3, ""},
		{"cut", nets.EdgesOwn, small, 3, 1e3, "g: --oracle cut: "},
		{"auto", nets.EdgesOwn, large, 2, 1e3, "--oracle cut (two labels"},
		{"auto", nets.EdgesOwn, large, 3, 1e3, "use --oracle relaxed"},
	} {
		c := c
		c.Oracle, c.Edges, c.MaxTable = x.oracle, x.edges, x.max
		err := checkTables(&c, x.d, x.labels)
		if (err == nil) != (x.want == "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s of %d labels: %v, want %q", x.oracle, x.labels, err, x.want)
		}
		if err != nil && x.labels == 3 && strings.Contains(err.Error(), "--oracle cut (") {
			t.Errorf("cuts are for two labels: %v", err)
		}
	}
	c.MaxTable = 1e3
	if choice := chooseOracle(&c, []*structured.Dataset{small, small}); choice != nil {
		t.Errorf("%+v", choice)
	}
	choice := chooseOracle(&c, []*structured.Dataset{small, large})
	if choice == nil {
		t.Fatal("no choice")
	}
	c.Given = settings.Given{"max-table", "seed"}
	choice.Make(&c)
	if c.Oracle != "relaxed" || c.MaxTable != config.Default().MaxTable || c.Given.Has("max-table") ||
		!c.Given.Has("seed") || c.Method != "bcpfw" {
		t.Errorf("--oracle %s --max-table %g --method %s, given %v", c.Oracle, c.MaxTable, c.Method, c.Given)
	}
	if again := chooseOracle(&c, []*structured.Dataset{large}); again != nil {
		t.Error("what is chosen is chosen again")
	}
}

// A run on graphs is compared with labels on their own, and with what answers otherwise than the run, unless that would
// be the same or too much.
func TestContrastsOfGraphs(t *testing.T) {
	small, large, forest := grid(2, 2), grid(9, 2), grid(1, 2)
	for _, x := range []struct {
		oracle, edges, loss string
		d                   *structured.Dataset
		labels              int
		want, reason        string
	}{
		{"exact", nets.EdgesOwn, "hinge", small, 2, "independent relaxed", ""},
		{"exact", nets.EdgesOwn, "hinge", forest, 2, "independent relaxed", "no loops"},
		{"exact", nets.EdgesNone, "hinge", small, 2, "", ""},
		{"relaxed", nets.EdgesPotts, "hinge", large, 2, "independent cut", ""},
		{"relaxed", nets.EdgesPotts, "hinge", large, 3, "independent exact", "more than --max-table"},
		{"relaxed", nets.EdgesOwn, "hinge", small, 2, "independent exact", ""},
		{"relaxed", nets.EdgesPotts, "crf", small, 2, "independent exact", ""},
	} {
		c := config.Default()
		c.Task, c.Oracle, c.Edges, c.Loss, c.MaxTable, c.Submodular, c.EdgeUnits = "graph", x.oracle,
			x.edges, x.loss, 1e3, "yes", 3
		var names []string
		reason := ""
		for k, contrast := range contrastGraphs(c, []*structured.Dataset{forest, x.d}, x.labels) {
			names = append(names, contrast.Name)
			reason += contrast.Reason
			of := contrast.Config
			if k == 0 && (of.Edges != nets.EdgesNone || of.EdgeUnits != 0 || of.Submodular != "" || of.Oracle != "auto") ||
				k == 1 && of.Oracle != contrast.Name {
				t.Errorf("%s: --edges %s --oracle %s", contrast.Name, of.Edges, of.Oracle)
			}
		}
		if strings.Join(names, " ") != x.want || (reason == "") != (x.reason == "") || !strings.Contains(reason, x.reason) {
			t.Errorf("%+v: %v, %q", x, names, reason)
		}
	}
}

// Regions are described by what their settings or the network ask for.
func TestRegionFeatures(t *testing.T) {
	for _, x := range []struct{ features, net, want string }{
		{"auto", "auto", descriptorFeatures}, {"auto", "linear", descriptorFeatures}, {"auto", "conv-crop", bothFeatures},
		{"pixels", "linear", pixelFeatures},
		{"pixels+descriptor", "conv-crop", bothFeatures}, {"descriptor", "mlp", descriptorFeatures},
	} {
		c := config.Default()
		c.Task, c.Features, c.Net, c.Patch, c.Context = "segment", x.features, x.net, 9, 2
		got := regionFeatures(&c)
		reads := patches(&c)
		if got != x.want || (reads.Patch == 9) != (x.want != descriptorFeatures) ||
			(reads.Context == 2) != (x.want != descriptorFeatures) || reads.Both != (x.want == bothFeatures) {
			t.Errorf("%+v: %s, %+v", x, got, reads)
		}
	}
}

// Labels' weights are those of their names, and others are 1; names that are none and weights out of range are refused.
func TestNumberedWeights(t *testing.T) {
	labels := structured.NewAlphabet("a", "b", "c")
	w, err := NumberedWeights("class-weights", settings.LabelWeights{"b": 0, "c": leastLabelWeight}, labels)
	if err != nil || len(w) != 3 || w[0] != 1 || w[1] != 0 || w[2] != leastLabelWeight {
		t.Errorf("%v, %v", w, err)
	}
	if _, err := NumberedWeights("class-weights", settings.LabelWeights{"a": mostLabelWeight}, labels); err != nil {
		t.Error(err)
	}
	for want, weights := range map[string]settings.LabelWeights{
		`--class-weights: label "d" is not known`: {"d": 1}, "--class-weights a=-1: expected 0, or": {"a": -1},
		"--class-weights a=1e-10": {"a": leastLabelWeight / 10},
		"--class-weights b=1e+10": {"b": mostLabelWeight * 10},
	} {
		if _, err := NumberedWeights("class-weights", weights, labels); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c := config.Default()
	c.LabelWeights, c.LossByLength = settings.LabelWeights{"b": 3}, true
	for name, loss := range map[string]func(c *config.Config, labels *structured.Alphabet) (structured.TaskLoss,
		error){"hamming": hamming, "graphs": graphLoss} {
		of, err := loss(&c, labels)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.ReplaceAll(strings.Trim(strings.TrimSpace(sprint(of)), "{}"), " true", ""); !strings.Contains(text,
			"[1 3 1]") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Sentences that trees of the structure cannot have are lifted or refused, as the settings say.
func TestCrossingArcs(t *testing.T) {
	draw := func() *structured.Dataset {
		o := dependencies.DefaultOptions()
		o.Train, o.Extraposition = 30, 0.5
		b, err := o.Parts()[0].Treebank(nil)
		if err != nil {
			t.Fatal(err)
		}
		return b.Dataset()
	}
	crossing := func(d *structured.Dataset) (n, first int) {
		for i := d.Len() - 1; i >= 0; i-- {
			if !trees.Projective(trees.FromOutput(d.Gold(i)).Heads) {
				n, first = n+1, i
			}
		}
		return n, first
	}
	before, first := crossing(draw())
	if before == 0 {
		t.Fatal("no arcs cross")
	}
	c := config.Default()
	c.Task, c.Tree, c.Crossing = "parse", "projective", "lift"
	d := draw()
	change, err := projectivise(&c, d)
	if after, _ := crossing(d); err != nil || after != 0 || change == nil || change.Values[1] != before {
		t.Errorf("%d sentences with crossing arcs, %+v, %v", after, change, err)
	}
	if change, err := projectivise(&c, d); change != nil || err != nil {
		t.Errorf("nothing is to be lifted: %+v, %v", change, err)
	}
	c.Crossing = "refuse"
	d = draw()
	if _, err := projectivise(&c, d); !structured.IsBadInput(err) ||
		!strings.HasPrefix(err.Error(), d.Where(first)+": arcs cross in this tree") {
		t.Errorf("%v, want the sentence %s", err, d.Where(first))
	}
	c.Tree = "nonprojective"
	if change, err := projectivise(&c, d); change != nil || err != nil {
		t.Errorf("%+v, %v", change, err)
	}
}

// Where every source item must be matched, data that leave one without a link, or have more source than target items,
// are refused; as many are enough.
func TestCompletePairs(t *testing.T) {
	c := config.Default()
	c.Task = "align"
	pair := func(n, m int, gold ...int32) *structured.Dataset {
		return &structured.Dataset{Name: "x", Offsets: []int{0, n + m}, Outputs: []int{0, n}, Labels: gold,
			Tables: []*structured.Table{{Name: alignments.SourceRows, Offsets: []int{0, n}}}}
	}
	for want, d := range map[string]*structured.Dataset{
		"": pair(2, 2, 2, 1), "3 source and 2 target words": pair(3, 2, 1, 2, 0),
		"source word 1 has no sure link": pair(2, 3, 3, 0), "source word 0 has no sure": pair(1, 1, 0),
	} {
		c.Unmatched = "never"
		if _, err := checkComplete(&c, d); (err == nil) != (want == "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
		c.Unmatched = "learned"
		if _, err := checkComplete(&c, d); err != nil {
			t.Error(err)
		}
	}
}

// A network is taken from a pack where it is open, and one that reads other inputs than the pack's is refused.
func TestNetworksOfPacks(t *testing.T) {
	for _, x := range []struct{ net, was, format, want string }{
		{"auto", "auto", "conll", "auto"}, {"linear", "auto", "conll", "linear"}, {"auto", "linear", "conll", "auto"},
		{"auto", "embed", "conll", "embed"},
		{"embed", "auto", "conll", "!"}, {"linear", "embed", "conll", "!"}, {"embed", "linear", "conll", "!"},
		{"embed", "mlp", "npz", "embed"}, {"mlp", "auto", "npz", "mlp"},
		{"auto", "mlp", "npz", "mlp"}, {"biaffine", "biaffine", "conllu", "biaffine"},
	} {
		c, was := config.Default(), config.Default()
		c.Net, was.Net, was.Format, c.Train = x.net, x.was, x.format, "p"
		err := takeNet(&c, was)
		if bad := x.want == "!"; bad != (err != nil) || bad && (!structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), "p was packed with --net "+x.was)) || !bad && c.Net != x.want {
			t.Errorf("%+v: --net %s, %v", x, c.Net, err)
		}
	}
}

// How sure a prediction is of a label is its probability, or what its margin makes of it: ½ without one.
func TestConfidenceAndGrey(t *testing.T) {
	p := prediction([]int32{1, 0}, []float32{0.25, 0.75, 0.5, 0.5}, nil)
	if got := confidence(p, 2); got[0] != 0.75 || got[1] != 0.5 {
		t.Error(got)
	}
	p = prediction([]int32{1, 0, 2}, nil, []float32{9, 0, 9, 100, 9, 9, 9, 9, -100})
	if got := confidence(p, 3); got[0] != 0.5 || got[1] != 1 || got[2] > 1e-30 {
		t.Error(got)
	}
	m := grey(&images.Image{Width: 3, Height: 2}, []float32{-1, 0, 0.5, 1, 2, 0.25})
	if want := []uint8{0, 0, 128, 255, 255, 64}; m.Width != 3 || m.Height != 2 || len(m.Pixels) != 18 ||
		!everyThird(m.Pixels, want) {
		t.Errorf("%+v", m)
	}
}

// Memory is refused where a file, as many times as large as its beginning, would not fit; hashed attributes have as
// many weights as hashes.
func TestMemoryOfTasks(t *testing.T) {
	tag, _ := Named("tag")
	c := config.Default()
	c.Train = "x"
	d := tagged("O", "B-a", "I-a")
	d.Attributes = &structured.Sparse{Offsets: []int{0, 1, 2, 3}, Index: []int32{0, 1, 2}}
	d.Dictionary = &structured.Dictionary{Node: structured.NewAlphabet("a", "b", "c")}
	for name, x := range map[string]struct {
		times     float64
		bits, of  int
		processes int
		bad       bool
	}{
		"small": {1, 0, 1, 1, false}, "large": {1e15, 0, 1, 1, true}, "hashed": {1, 60, 1, 1, true},
		"divided": {1e15, 0, 1, 1 << 60, false},
	} {
		c := c
		c.HashBits = x.bits
		err := tag.Memory(&c, d, x.times, x.processes)
		if (err != nil) != x.bad && name != "divided" || err != nil && !strings.Contains(err.Error(), "training on x") {
			t.Errorf("%s: %v", name, err)
		}
	}
	parse, _ := Named("parse")
	table := &structured.Table{Name: trees.ArcRows,
		Attributes: &structured.Sparse{Offsets: make([]int, 10), Index: make([]int32, 100)}}
	d.Tables = []*structured.Table{{Name: "x"}, table}
	for times, bad := range map[float64]bool{1: false, 1e15: true} {
		if err := parse.Memory(&c, d, times, 1); (err != nil) != bad || bad && !strings.Contains(err.Error(), "reading x") {
			t.Errorf("%g times: %v", times, err)
		}
	}
	if got := TrainingBytes(0, 100); got != 150 {
		t.Errorf("%g bytes for 100 in use", got)
	}
	if got := TrainingBytes(10, 0); got != 1.5*4*8*10 {
		t.Errorf("%g bytes for ten weights", got)
	}
}

// Lists of names in messages, and what tasks choose where settings leave it open.
func TestChoicesOfTasks(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := list(names, "or"); got != want {
			t.Errorf("%v: %q", names, got)
		}
	}
	c := config.Default()
	if c.Task = "segment"; ChooseReg(&c) != segmentReg {
		t.Errorf("--reg %v", ChooseReg(&c))
	}
	if c.Task = "tag"; ChooseReg(&c) != 1 {
		t.Errorf("--reg %v", ChooseReg(&c))
	}
	if c.Reg = 0; ChooseReg(&c) != 0 {
		t.Errorf("--reg 0 becomes %v", ChooseReg(&c))
	}
	pictured := Pictured()
	for _, task := range All() {
		if strings.Contains(pictured, task.Outputs) != (task.Picture != nil) {
			t.Errorf("%s of %s", pictured, task.Name)
		}
	}
	if task, ok := Named("auto"); ok || task.Name != "" {
		t.Errorf("%+v", task)
	}
	if got := Of(&config.Config{}); got.Name != "tag" {
		t.Errorf("no task is %s", got.Name)
	}
	for _, in := range []inputs.Inputs{{}, {Dictionary: &structured.Dictionary{Segment: structured.NewAlphabet("s")}}} {
		for _, ends := range []bool{false, true} {
			c := config.Default()
			c.Structure, c.MaxLength, c.SegmentEnds = "segments", 0, ends
			form := tagOutput(c, in, 5).Form
			parts := 2
			if ends {
				parts++
			}
			if in.Dictionary != nil {
				parts++
			}
			if len(form.Parts) < parts || form.Structure.Name() != "segmentation" {
				t.Errorf("%d parts with ends %v", len(form.Parts), ends)
			}
		}
	}
}

func sprint(x any) string { return fmt.Sprint(x) }

func prediction(labels []int32, marginals, margins []float32) *predictions.Prediction {
	p := &predictions.Prediction{Output: predictions.Output{Labels: labels}}
	p.Marginals, p.Margins = marginals, margins
	return p
}

func everyThird(pixels, want []uint8) bool {
	for k, x := range pixels {
		if x != want[k/3] {
			return false
		}
	}
	return true
}
