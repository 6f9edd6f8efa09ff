package tasks

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/drawn/randomgraphs"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Task graph labels the variables of graphs.
var _ = builtin(Task{
	Name:    "graph",
	Outputs: "labels of graphs",
	Summary: "labels of the variables of graphs",
	Takes: []string{
		"standardise", "difficulty", "classes", "shape", "oracle", "max-table", "edges", "edge-units", "submodular",
		"label-weights",
	},
	Check: checkGraphs,
	Complete: func(c *config.Config) {
		if chooseEdges(c, nets.EdgesOwn); c.Oracle == graphs.Relaxed.String() {
			remember(c)
		}
	},
	FileFormat: formats.NPZ,
	Known:      asRead,
	Draw:       drawGraphs,
	Examples: func() settings.Sizes {
		o := randomgraphs.DefaultOptions()
		return settings.Sizes{o.Train, o.Dev, o.Test}
	},
	Read:      readGraphs,
	Prepare:   withoutUnknown,
	Choose:    chooseOracle,
	CheckData: checkTables,
	Fit:       inputs.FitGraphs,
	Output:    graphOutput,
	Net:       func(graph.Input) string { return "linear" },
	CheckNet:  checkGraphNet,
	LogLikelihood: func(config.Config, inputs.Inputs) bool {
		return false
	},
	Loss:      graphLoss,
	Baselines: true,
	Contrasts: contrastGraphs,
	Request:   Graphs,
	Layout:    labelLayout,
	Compare: func(labels *structured.Alphabet, _ *structured.Dataset, _ bool) Comparison {
		return &graphComparison{graphs.NewEvaluator(labels), nil}
	},
	Review: func(labels *structured.Alphabet) review.Reviewer { return review.Graphs(labels, "variable") },
	Write:  writeGraphLabels,
	Metrics: []Metric{
		{"class_iou", "mean class IoU", func(m *structured.Metrics) float64 { return m.Get("class_iou") }, classShares},
		{"variables", "accuracy", func(m *structured.Metrics) float64 { return m.Get("accuracy") },
			share("accuracy", "labelled")},
	},
	Result: "accuracy is the share of variables with the right label, IoU the mean over the labels of " +
		"intersection over union",
	Columns: []Column{{"accuracy", "accuracy"}, {"IoU", "class_iou"}},
})

// What tasks on graphs have in common.

// asRead keeps the labels that readers give, where unknown ones allow any.
func asRead(*structured.Dataset, *structured.Alphabet) error { return nil }

// chooseEdges sets the kind of edges where the settings leave it open.
func chooseEdges(c *config.Config, kind string) {
	if !c.Gives("edges") {
		c.Edges = kind
	}
}

func checkGraphs(c config.Config) error {
	switch {
	case c.Edges == nets.EdgesPosition || c.Edges == nets.EdgesTransition && c.Gives("edges"):
		return structured.BadInput("--edges %s: sequences have it; graphs have own, typed, potts or none", c.Edges)
	case c.Features != "auto" && c.Task != "segment":
		return structured.BadInput("--features %s makes attributes of words; --task %s reads dense features", c.Features,
			c.Task)
	case c.Oracle == "cut" && (c.Loss == "crf" || c.Loss == "softmax-margin"):
		return structured.BadInput("--loss %s needs sums over all labelings, which cuts do not give; use --loss hinge, or "+
			"--oracle exact or relaxed", c.Loss)
	case c.Constraints != "none":
		return structured.BadInput("--constraints %s forbid transitions of sequences", c.Constraints)
	}
	return nil
}

func checkGraphNet(net string) error {
	if p, ok := nets.FindPreset(net); ok && !(p.CanScore(nets.ScoresNodes) && !p.CanRead(nets.ReadsMaps)) {
		return structured.BadInput("--net %s does not score graphs; use --net linear, mlp or FILE.yaml", net)
	}
	return nil
}

// InferenceOf returns how the best labels of graphs with that many labels are found.
func InferenceOf(c *config.Config, labels int) graphs.Inference {
	switch {
	case c.Oracle != "auto":
		by, err := graphs.ParseInference(c.Oracle)
		if err == nil {
			return by
		}
	case c.Task != "segment" || c.Edges == nets.EdgesNone:
	case labels == 2 && c.Loss != "crf" && c.Loss != "softmax-margin":
		return graphs.Cut
	default:
		return graphs.Relaxed
	}
	return graphs.Exact
}

// graphOutput is the Output of graphs. Settings that allow none, which Resolve of the network refuses, give that of
// Potts edges.
func graphOutput(c config.Config, in inputs.Inputs, labels int) nets.Output {
	kind := graphs.Potts
	if k, err := graphs.ParseEdges(c.Edges); err == nil {
		kind = k
	}
	return nets.Output{Labels: labels,
		Form: graphs.Pairwise{Edges: kind, By: InferenceOf(&c, labels)}.Form(labels, in.Edges.Types)}
}

func graphLoss(c *config.Config, labels *structured.Alphabet) (structured.TaskLoss, error) {
	h := graphs.Hamming{}
	if len(c.LabelWeights) == 0 {
		return h, nil
	}
	costs, err := NumberedWeights("label-weights", c.LabelWeights, labels)
	for _, cost := range costs {
		h.LabelWeights = append(h.LabelWeights, float32(cost))
	}
	return h, err
}

// drawGraphs draws graphs whose edges tell how labels are related.
func drawGraphs(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	o := randomgraphs.DefaultOptions()
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	o.Seed, o.Difficulty, o.Classes = c.Seed, c.Difficulty, c.Classes
	if o.Shape, err = randomgraphs.ParseShape(c.Shape); err != nil {
		return nil, nil, nil, err
	}
	return o.Draw()
}

// readGraphs reads graphs from npz archives.
func readGraphs(c *config.Config, s Source) (d *structured.Dataset, err error) {
	if s.Format != formats.NPZ {
		return nil, structured.BadInput("%s: --format %s has no graphs: --task graph reads them from npz", s.Path, s.Format)
	}
	o := arrays.Graphs{Dim: s.Dim, EdgeDim: s.Edges.Dim, Alphabet: s.Labels, Unlabeled: s.Unlabeled, Remarks: s.Remarks}
	if c.Edges == nets.EdgesTyped {
		o.Types = s.Edges.Types
	}
	err = formats.Open(s.Path, func(r io.Reader) error {
		d, err = o.Read(r, s.Path)
		return err
	})
	return d, err
}

// withoutUnknown leaves variables without a known label out of the training data.
func withoutUnknown(_ *config.Config, train *structured.Dataset) (*Change, error) {
	known := graphs.WithoutUnknown(train)
	if known == train {
		return nil, nil
	}
	change := &Change{"variables without a label are left out", []any{"of", train.Positions(), "left", known.Positions()}}
	*train = *known
	return change, nil
}

// checkTables refuses graphs whose junction trees are too large for exact inference, and labels that cuts do not take.
func checkTables(c *config.Config, d *structured.Dataset, labels int) error {
	by := InferenceOf(c, labels)
	if err := (graphs.Pairwise{By: by}).CheckLabels(labels); err != nil {
		return structured.BadInput("%s: --oracle cut: %w", d.Name, err)
	}
	if by != graphs.Exact {
		return nil
	}
	i, entries := tooLarge(c, d, labels)
	if i < 0 {
		return nil
	}
	others := "--oracle relaxed (bounds, and labels that may not be the best)"
	if labels == 2 {
		others = "--oracle cut (two labels, and edges that favour equal ones), " + others
	}
	return structured.BadInput("%s: its graph has loops, and a junction tree of at least %.2g table entries (%.2g GiB), "+
		"more than --max-table %.2g; "+
		"raise that, or use %s",
		d.Where(i), entries, entries*8/(1<<30), c.MaxTable, others)
}

// chooseOracle chooses the relaxed oracle, and what learns with it, for graphs that are too wide for exact answers.
func chooseOracle(c *config.Config, sets []*structured.Dataset) *Choice {
	if c.Oracle != "auto" {
		return nil
	}
	for _, d := range sets {
		i, entries := tooLarge(c, d, sets[0].Alphabet.Len())
		if i < 0 {
			continue
		}
		made := func(c *config.Config) {
			c.Oracle = graphs.Relaxed.String()
			// it has no tables
			c.MaxTable, c.Given = config.Default().MaxTable, c.Given.Only(func(name string) bool { return name != "max-table" })
			remember(c)
		}
		after := *c
		made(&after)
		return &Choice{
			Change: Change{"exact answers would need larger tables than --max-table allows, so the oracle is relaxed: bounds, " +
				"and labels that may not be the best", []any{
				"graph", d.Where(i), "table_entries", entries, "max_table", c.MaxTable, "method", after.Method,
				"patience", after.Patience,
			}},
			Make: made,
		}
	}
	return nil
}

// tooLarge returns the first graph whose junction tree does not fit, and how many table entries it needs at least; −1
// if all fit.
func tooLarge(c *config.Config, d *structured.Dataset, labels int) (i int, entries float64) {
	if c.Edges == nets.EdgesNone {
		return -1, 0
	}
	for i, g := range d.Graphs {
		if entries, ok := exact.Fits(g, d.Length(i), labels, c.MaxTable); !ok {
			return i, entries
		}
	}
	return -1, 0
}

// writeGraphLabels writes the predicted labels to an npz archive: labels [ΣV], sizes [graphs×2] as in the input,
// label_names and, if they are asked for, marginals [ΣV×Y], or margins for labels that cuts find.
func writeGraphLabels(_ *config.Config, d *structured.Dataset, names *structured.Alphabet, o predictions.Options,
	path string, predict PredictSome) error {
	if !strings.EqualFold(filepath.Ext(path), ".npz") {
		return structured.BadInput("--to %s: labels of graphs are written as .npz", path)
	}
	if o.Confidence {
		return structured.BadInput("--confidence has no effect with --to %s; use --marginals", path)
	}
	labels, marginals, name := make([]int32, 0, d.Positions()), []float32(nil), "marginals"
	sizes := make([]int64, 0, 2*d.Len())
	err := predict(d, o, func(i int, p *predictions.Prediction) error {
		labels, marginals = append(labels, p.Labels...), append(marginals, p.Marginals...)
		if p.Margins != nil {
			marginals, name = append(marginals, p.Margins...), "margins"
		}
		sizes = append(sizes, int64(d.Length(i)), int64(len(d.Graphs[i].Ends)))
		return nil
	})
	if err != nil {
		return err
	}
	return host.WriteFile(path, func(w io.Writer) error {
		return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
			if err := arrays.Add(n, "labels", labels, len(labels)); err != nil {
				return err
			}
			if err := arrays.Add(n, "sizes", sizes, d.Len(), 2); err != nil {
				return err
			}
			if o.Marginals {
				if err := arrays.Add(n, name, marginals, len(labels), names.Len()); err != nil {
					return err
				}
			}
			return n.AddText("label_names", names.Names())
		})
	})
}

// graphComparison compares the labels of graphs.
type graphComparison struct {
	evaluator *graphs.Evaluator
	rename    map[string]string // measures that have other names in the task, or nil
}

func (c *graphComparison) Add(d *structured.Dataset, i int, y []int32) { c.evaluator.Add(d, i, y) }

func (c *graphComparison) measures() structured.Metrics {
	m := c.evaluator.Metrics()
	for k, x := range m.Measures {
		if name, ok := c.rename[x.Name]; ok {
			m.Measures[k].Name = name
		}
	}
	return m
}

func (c *graphComparison) Report() Report { return &GraphReport{c.measures(), c.evaluator.Table()} }

// GraphReport is the Report of the labels of graphs.
type GraphReport struct {
	structured.Metrics
	table string
}

func (r *GraphReport) General() structured.Metrics { return r.Metrics }

func (r *GraphReport) Text(ReportOptions) string { return r.table }
