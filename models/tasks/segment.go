package tasks

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/graphs/masks"
	"github.com/dsp-go/dsp/structured/graphs/segmentation"
	"github.com/dsp-go/dsp/structured/graphs/synthetic"
)

// segment labels the pixels of images, region by region.
var segment = Task{
	Name:    "segment",
	Outputs: "masks",
	Check: func(c config.Config) error {
		switch {
		case c.Format != "" && c.Format != formats.Builtin && c.Format != formats.Images:
			return structured.BadInput("--format %s has no masks: --task segment reads folders of images and masks", c.Format)
		case c.Format == formats.Images && c.Train != "" && c.Masks == "":
			return structured.BadInput("%s: images without masks; give --masks TRAIN,DEV,TEST, a folder for each of the data sets that are given", c.Train)
		case c.Superpixels > 0 && c.Cell != config.Default().Cell:
			return structured.BadInput("--cell %d and --superpixels %d: an image is divided into cells or into superpixels; give one of the two", c.Cell, c.Superpixels)
		}
		if err := Division(&c).Validate(); err != nil {
			return err
		}
		if err := checkPatches(&c); err != nil {
			return err
		}
		return checkGraphs(c)
	},
	Complete: func(c *config.Config) {
		chooseEdges(c, nets.EdgesPotts)
		if c.Format == formats.Builtin || c.Format == formats.Images { // others are refused
			c.Features = regionFeatures(c)
		}
		linear, hinge := c.Net == "auto" || c.Net == "linear", c.Loss == "auto" || c.Loss == "hinge"
		if c.Method == "auto" && linear && hinge && (c.Oracle == "cut" || c.Oracle == "auto" && c.Format == formats.Builtin && c.Classes == 2) {
			c.Method = "bcpfw" // it makes the most of a cut: it remembers the masks that it found
		}
	},
	FileFormat:    formats.Images,
	Draw:          drawTextures,
	Read:          readImages,
	CheckData:     checkTables,
	Fit:           inputs.FitGraphs,
	Output:        graphOutput,
	Net:           func(graph.Input) string { return "linear" },
	CheckNet:      checkSegmentNet,
	LogLikelihood: func(config.Config, inputs.Inputs) bool { return false },
	Loss:          graphLoss,
	Baselines:     true,
	Contrasts:     independentRegions,
	Layout:        labelLayout,
	Compare: func(labels *structured.Alphabet, _ *structured.Dataset, _ bool) Comparison {
		return &graphComparison{graphs.NewEvaluator(labels), map[string]string{"accuracy": "pixel_accuracy", "class_iou": "miou"}}
	},
	Review:  func(labels *structured.Alphabet) review.Reviewer { return review.Graphs(labels, "region") },
	Write:   writeMasks,
	Picture: drawMaskPicture,
	Metrics: []Metric{
		{"miou", "mean class IoU", func(m *structured.Metrics) float64 { return m.Get("miou") }},
		{"pixels", "pixel accuracy", func(m *structured.Metrics) float64 { return m.Get("pixel_accuracy") }},
	},
	Result:  "accuracy is the share of pixels with the right label, IoU the mean over the classes of intersection over union",
	Columns: []Column{{"accuracy", "pixel_accuracy"}, {"IoU", "miou"}},
}

// Division returns how the settings divide an image into regions.
func Division(c *config.Config) segmentation.Division {
	d := segmentation.DefaultDivision()
	d.Cell, d.Superpixels, d.Neighbours = c.Cell, c.Superpixels, c.Neighbours
	return d
}

// drawTextures draws scenes of textured shapes.
func drawTextures(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	o, plain := synthetic.DefaultOptions(), config.Default()
	if !slices.Equal(c.Examples, plain.Examples) {
		o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	}
	o.Seed, o.Difficulty, o.Classes = c.Seed, c.Difficulty, c.Classes
	if err := o.Validate(); err != nil {
		return nil, nil, nil, err
	}
	for k, to := range []**structured.Dataset{&train, &dev, &test} {
		part := o.Parts()[k]
		r := segmentation.Reader{Division: Division(c), Inputs: patches(c), Labels: o.Labels(), All: k > 0, Threads: c.Threads}
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
		return nil, structured.BadInput("%s: --format %s has no images: --task segment reads folders of images", s.Path, s.Format)
	case !s.Unlabeled && s.Masks == "":
		return nil, structured.BadInput("%s: no masks; give --masks with the folder of the masks of these images", s.Path)
	}
	folder, err := segmentation.OpenFolder(s.Path, s.Masks)
	if err != nil {
		return nil, err
	}
	r := segmentation.Reader{Division: Division(c), Inputs: patches(c), Labels: s.Labels, Where: "the training data's labels", All: s.Labels != nil, Threads: s.Threads}
	if c.LabelNames != "" && s.Labels == nil {
		if r.Labels, err = masks.ReadNames(c.LabelNames); err != nil {
			return nil, err
		}
		r.Where = c.LabelNames
	}
	return r.Read(context.Background(), folder)
}

// independentRegions is c without edges.
func independentRegions(c config.Config) []config.Config {
	if c.Edges == nets.EdgesNone {
		return nil
	}
	c.Edges, c.EdgeUnits, c.Submodular = nets.EdgesNone, 0, ""
	return []config.Config{c}
}

// writeMasks writes the predicted mask of every image into a folder, and an image with the mask over it into the folder overlays inside.
func writeMasks(_ *config.Config, d *structured.Dataset, names *structured.Alphabet, o predictions.Options, path string, predict PredictSome) error {
	if kind := filepath.Ext(path); kind == ".png" || strings.EqualFold(kind, ".npz") {
		return structured.BadInput("--to %s: masks are written into a folder", path)
	}
	return writeEach(d, names, o, path, predict)
}
