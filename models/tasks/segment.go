package tasks

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/models/drawn/scenes"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// segment labels the pixels of images, region by region.
var segment = builtin(Task{
	Name:    "segment",
	Outputs: "masks",
	Summary: "labels of the pixels of images",
	Known:   asRead,
	Takes: []string{
		"difficulty", "masks", "void", "mask-values", "label-names", "classes", "cell-pixels", "superpixels", "region-pixels",
		"region-context", "neighbours", "oracle", "max-table", "features", "edges", "edge-units",
		"submodular", "label-weights",
	},
	Check: func(c config.Config) error {
		switch {
		case c.Format == formats.Images && c.Train != "" && c.Masks == "":
			return structured.BadInput("images without masks; give --masks TRAIN,DEV,TEST, a folder for each of the " +
				"data sets that are given")
		case c.Superpixels > 0 && c.Gives("cell-pixels"):
			return structured.BadInput("--cell-pixels %d and --superpixels %d: an image is divided into cells or into "+
				"superpixels; give one of the two", c.Cell, c.Superpixels)
		}
		if err := division(&c).Validate(); err != nil {
			return err
		}
		if _, err := masks.ParseValues(c.Void, c.MaskValues); err != nil {
			return err
		}
		if err := checkPatches(&c); err != nil {
			return err
		}
		return checkGraphs(c)
	},
	Complete: func(c *config.Config) {
		chooseEdges(c, nets.EdgesPotts)
		c.Features = regionFeatures(c)
		remember(c)
	},
	Look:       lookAtMasks,
	FileFormat: formats.Images,
	Draw:       drawTextures,
	Examples: func() settings.Sizes {
		o := scenes.DefaultOptions()
		return settings.Sizes{o.Train, o.Dev, o.Test}
	},
	Read:          readImages,
	Prepare:       prepareRegions,
	CheckData:     checkTables,
	Fit:           inputs.FitGraphs,
	Output:        graphOutput,
	Net:           func(graph.Input) string { return "linear" },
	CheckNet:      checkSegmentNet,
	LogLikelihood: func(config.Config, inputs.Inputs) bool { return false },
	Loss:          graphLoss,
	Reg:           segmentReg,
	Baselines:     true,
	Contrasts:     contrastGraphs,
	Request:       Regions,
	Layout:        labelLayout,
	Compare: func(labels *structured.Alphabet, _ *structured.Dataset, _ bool) Comparison {
		return &graphComparison{graphs.NewEvaluator(labels), pixelNames}
	},
	CompareFiles: compareMasks,
	Review:       func(labels *structured.Alphabet) review.Reviewer { return review.Graphs(labels, "region") },
	Write:        writeMasks, WritesFolder: true,
	Picture: drawMaskPicture,
	Metrics: []Metric{
		{"miou", "mean class IoU", func(m *structured.Metrics) float64 { return m.Get("miou") }, classShares},
		{"pixels", "pixel accuracy", func(m *structured.Metrics) float64 { return m.Get("pixel_accuracy") },
			share("pixel_accuracy", "labelled")},
	},
	Result: "accuracy is the share of pixels with the right label, IoU the mean over the classes of " +
		"intersection over union",
	Columns: []Column{{"accuracy", "pixel_accuracy"}, {"IoU", "miou"}},
})

// pixelNames are what measures of graphs are called where their labels are those of pixels.
var pixelNames = map[string]string{"accuracy": "pixel_accuracy", "class_iou": "miou"}

// remember chooses the method of graphs whose oracle is slow: bcpfw, which makes the most of an answer, since it
// remembers the labels that it found. With development data it has patience.
func remember(c *config.Config) {
	linear, hinge := c.Net == "auto" || c.Preset().Linear, c.Loss == "auto" || c.Loss == "hinge"
	kind, _, err := config.ParseDevice(c.Device)
	onCPU := err != nil || kind != config.CUDA // bcpfw runs nowhere else
	if c.Method == "auto" && linear && hinge && onCPU {
		c.Method = optimisers.BCPFW.Name
	}
	if c.Method == optimisers.BCPFW.Name && c.Gap == settings.AutoGap {
		c.Gap, c.Passes = segmentGap, cmp.Or(c.Passes, segmentPasses)
		if (c.Dev != "" || c.Format == formats.Builtin) && !c.Gives("patience") {
			c.Patience = segmentPatience
		}
	}
}

// Training stops at segmentGap within segmentPasses, with the regulariser segmentReg, on most seeds of the drawn scenes
// (docs/design/graphs.md). An image is one example with hundreds of variables, so its hinge is hundreds of times that
// of one variable, and C = 1 is next to none: the gap closes slowly, and accuracy does not gain.
const (
	segmentReg    = 10
	segmentGap    = 1e-2
	segmentPasses = 300

	// with development data: on drawn scenes the best pass is often an early one, and a hundred passes are for the gap
	// alone
	segmentPatience = 30
)

// ImageReader returns the reader that makes graphs of images as the settings say, without the names of labels.
func ImageReader(c *config.Config) segmentation.Reader {
	values, _ := masks.ParseValues(c.Void, c.MaskValues) // which Check accepted
	return segmentation.Reader{Division: division(c), Inputs: patches(c), Values: values, Threads: c.Threads}
}

func division(c *config.Config) segmentation.Division {
	d := segmentation.DefaultDivision()
	d.Cell, d.Superpixels, d.Neighbours = c.Cell, c.Superpixels, c.Neighbours
	return d
}

// drawTextures draws scenes of textured shapes.
func drawTextures(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	o := scenes.DefaultOptions()
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	o.Seed, o.Difficulty, o.Classes = c.Seed, c.Difficulty, c.Classes
	if err := o.Validate(); err != nil {
		return nil, nil, nil, err
	}
	for k, to := range []**structured.Dataset{&train, &dev, &test} {
		part := o.Parts()[k]
		r := segmentation.Reader{Division: division(c), Inputs: patches(c), Labels: o.Labels(),
			All: k > 0, Threads: c.Threads}
		if *to, err = r.Read(context.Background(), part); err != nil {
			return nil, nil, nil, err
		}
	}
	return train, dev, test, nil
}

// readImages reads images and masks from folders. Regions without a labelled pixel are left out of training data.
func readImages(c *config.Config, s Source) (*structured.Dataset, error) {
	switch {
	case s.Format != formats.Images:
		return nil, structured.BadInput("%s: --format %s has no images: --task segment reads folders of images", s.Path,
			s.Format)
	case !s.Unlabeled && s.Masks == "":
		return nil, structured.BadInput("%s: no masks; give --masks with the folder of the masks of these images", s.Path)
	}
	folder, err := segmentation.OpenFolder(s.Path, s.Masks, s.Remarks)
	if err != nil {
		return nil, err
	}
	r := segmentation.Reader{
		Division: division(c), Inputs: patches(c), Labels: s.Labels, Where: "the training data's labels",
		All: s.Labels != nil, Threads: s.Threads, Remarks: s.Remarks,
	}
	if r.Values, err = valuesIn(c, folder, s); err != nil {
		return nil, err
	}
	if c.LabelNames != "" && s.Labels == nil {
		if r.Labels, err = masks.ReadNames(c.LabelNames); err != nil {
			return nil, err
		}
		r.Where = c.LabelNames + ", which may have names for more"
	}
	return r.Read(context.Background(), folder)
}

// prepareRegions refuses training images none of which has two regions with labels, and says which labels masks without
// names have.
func prepareRegions(c *config.Config, train *structured.Dataset) (*Change, error) {
	for i := range train.Len() {
		if train.Length(i) > 1 || c.Edges == nets.EdgesNone {
			return sayMaskLabels(c, train)
		}
	}
	advice := fmt.Sprintf("lower --cell-pixels (now %d pixels)", c.Cell)
	if c.Superpixels > 0 {
		advice = fmt.Sprintf("raise --superpixels (now %d)", c.Superpixels)
	}
	return nil, structured.BadInput("%s: no image has two regions with labels, so no region has a neighbour; "+
		"%s, or use --edges none", train.Name, advice)
}

// sayMaskLabels says which labels were found in masks whose labels have no names, and what their number decides; nil
// where they have names, unless 255 is that of an object. A stray value in one mask would go unnoticed otherwise, and
// it makes all labels below it. A single label is bad input.
func sayMaskLabels(c *config.Config, train *structured.Dataset) (*Change, error) {
	pixels := train.Table(graphs.PixelRows)
	if c.Train == "" || c.Init != "" || pixels == nil {
		return nil, nil
	}
	has := make([]bool, train.Alphabet.Len())
	for _, l := range pixels.Attributes.Index {
		has[l] = true
	}
	var found []string
	for l, name := range train.Alphabet.Names() {
		if has[l] {
			found = append(found, name)
		}
	}
	values, err := masks.ParseValues(c.Void, c.MaskValues)
	switch {
	case err != nil:
		return nil, err
	case len(found) < 2 && (c.LabelNames == "" || len(has) < 2):
		return nil, oneMaskLabel(c, structured.SomeOf(found))
	case values != nil && len(values.Labels) == 2 && values.Labels[1] == masks.Void:
		return &Change{remarks.ObjectMasks, []any{"values", c.MaskValues}}, nil
	case c.LabelNames != "":
		return nil, nil
	}
	by := InferenceOf(c, len(has))
	message := "without --label-names the labels are the values in the masks"
	if values == nil || values.Labels == nil {
		message += ", from 0 to the largest"
	}
	change := &Change{message,
		[]any{"labels", len(has), "in_the_masks", structured.SomeOf(found), "oracle", by}}
	if len(has) > 2 && c.Oracle == "auto" && by == graphs.Relaxed {
		change.Message += "; they are more than two, so the oracle is relaxed: a cut is for two"
	}
	return change, nil
}

// writeMasks writes the predicted mask of every image into a folder, and an image with the mask over it into the folder
// overlays inside.
func writeMasks(_ *config.Config, d *structured.Dataset, names *structured.Alphabet, o predictions.Options, path string,
	predict PredictSome) error {
	if kind := filepath.Ext(path); kind == ".png" || strings.EqualFold(kind, ".npz") {
		return structured.BadInput("--to %s: masks are written into a folder", path)
	}
	return writeEach(d, names, o, path, predict)
}
