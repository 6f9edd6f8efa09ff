package tasks

import (
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/drawn/objects"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/windows"
)

// Task localise finds the box of an object in an image.
var _ = builtin(Task{
	Name:    "localise",
	Outputs: "boxes",
	Summary: "the box of an object in an image",
	Takes: []string{
		"difficulty", "search", "search-limit", "class", "boxes", "images", "strict", "search-grid",
		"candidate-pixels", "candidates", "stream",
		"features",
	},
	Whole: "of a box one knows all or nothing",
	Check: checkLocalise,
	Complete: func(c *config.Config) {
		if searchesWindows(c) && c.Window == 0 && (c.Net == "auto" || c.Preset().Takes("window")) {
			c.Window = 3 // a cell alone says little
		}
		if slides := !searchesWindows(c) && c.Format != formats.NPZ && c.Boxes == ""; slides && !c.Gives("candidates") &&
			c.Init == "" && c.Prior == "" {
			c.Candidates = slidingWindows
		}
	},
	Draw:     drawScenes,
	DrawTest: drawTestScenes,
	Examples: func() settings.Sizes {
		o := objects.DefaultOptions()
		return settings.Sizes{o.Train, o.Dev, o.Test}
	},
	Fit: inputs.FitBoxes,
	Output: func(c config.Config, _ inputs.Inputs, _ int) nets.Output {
		if searchesWindows(&c) {
			return nets.Output{Labels: 1, Form: windows.Window{Height: c.Cells, Width: c.Cells, Limit: c.SearchLimit}.Form()}
		}
		return nets.Output{Labels: 1, Form: choices.Form()}
	},
	Net: func(in graph.Input) string {
		if in.Map.Channels == 3 { // pixels
			return "conv-crop"
		}
		return "linear"
	},
	LogLikelihood: func(config.Config, inputs.Inputs) bool { return false },
	Request:       Scenes,
	Tensors:       []string{"box"},
	Layout: func(_ *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
		if asJSON {
			return predictions.BoxJSON(o)
		}
		return predictions.Results(o)
	},
	Compare:      compareBoxes,
	CompareFiles: compareBoxFiles,
	Review:       func(*structured.Alphabet) review.Reviewer { return review.Boxes() },
	Describe:     describeBoxes,
	Picture:      drawBoxPicture,
	Metrics: []Metric{
		{"corloc", "CorLoc", func(m *structured.Metrics) float64 { return m.Get("corloc") }, share("corloc", "images")},
		{"mean_iou", "mean IoU", func(m *structured.Metrics) float64 { return m.Get("mean_iou") }, meanIoU},
	},
	Result:  "CorLoc is the share of images whose predicted box overlaps the object's with an IoU above 0.5",
	Columns: []Column{{"CorLoc", "corloc"}, {"mean IoU", "mean_iou"}, {"AP", "ap"}},
})

func searchesWindows(c *config.Config) bool { return c.Search == "windows" }

func checkLocalise(c config.Config) error {
	windows := searchesWindows(&c)
	switch {
	case c.Format == formats.Images:
		return structured.BadInput("a folder of images alone has no boxes to train on; expected annotations, in the format " +
			"coco or voc, that name the images")
	case c.Format == formats.NPZ && windows:
		return structured.BadInput("--format npz has features of candidate boxes; --search windows reads images")
	case !slices.Contains([]string{"auto", "descriptor", "pixels"}, c.Features):
		return structured.BadInput("--features %s makes attributes of words; for boxes use descriptor or pixels", c.Features)
	case c.Features == "pixels" && windows:
		return structured.BadInput("--features pixels are those of candidate boxes; --search windows reads the colours and " +
			"gradients of cells (descriptor)")
	case c.Format == formats.NPZ && c.Features != "auto":
		return structured.BadInput("--features %s is computed from images; npz archives have features of their own",
			c.Features)
	case windows && c.Preset().CanRead(nets.ReadsMaps):
		return structured.BadInput("--net %s reads candidate boxes; for --search windows use linear, mlp "+
			"or cnn with --window N", c.Net)
	case !windows && c.Window > 1:
		return structured.BadInput("--window %d: candidate boxes have no neighbours; --search windows has", c.Window)
	case windows && c.Cells > maxGrid:
		return structured.BadInput("--search-grid %d: expected at most %d", c.Cells, maxGrid)
	case c.Crop > maxCrop:
		return structured.BadInput("--candidate-pixels %d: expected at most %d", c.Crop, maxCrop)
	case !windows && !readsPixels(&c) && c.Crop%localisation.CellPixels != 0:
		return structured.BadInput("--candidate-pixels %d: expected a multiple of %d, because a cell has %[2]d×%[2]d pixels",
			c.Crop, localisation.CellPixels)
	}
	return nil
}

// slidingWindows is how many windows an image has where nothing else is asked for.
const slidingWindows = 1000

// maxGrid and maxCrop bound the cells per side of an image and the pixels per side of a crop.
const maxGrid, maxCrop = 1024, 1024

// readsPixels reports whether the inputs of candidates are pixels.
func readsPixels(c *config.Config) bool {
	return c.Features == "pixels" || c.Features == "auto" && c.Preset().CanRead(nets.ReadsPixels)
}

// Localise returns how images with boxes are read, or nil for other tasks.
func Localise(c *config.Config) *localisation.Options {
	if c.Task != "localise" {
		return nil
	}
	return &localisation.Options{
		Class: c.Class, Windows: searchesWindows(c), Grid: c.Cells, Pixels: readsPixels(c), Crop: c.Crop,
		Candidates: c.Candidates, Strict: c.Strict, Stream: c.Stream, Threads: c.Threads,
	}
}

// LocaliseLike returns how images are read like those of the training data, or nil for other tasks.
func LocaliseLike(c *config.Config, train *structured.Dataset) *localisation.Options {
	o := Localise(c)
	if o == nil {
		return nil
	}
	s := localisation.Of(train)
	o.Class, o.Sliding, o.Shape = s.Class, s.Sliding, []int{train.Dim}
	if m := s.Map; m != [3]int{} {
		o.Shape = []int{m[2], m[0], m[1]}
	}
	return o
}

// sceneParts returns the sets of scenes that are drawn, with one object each.
func sceneParts(c *config.Config) ([]objects.Part, error) {
	o := objects.DefaultOptions()
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	o.Seed, o.Difficulty = c.Seed, c.Difficulty
	return o.Parts(), o.Validate()
}

// drawTestScenes draws the scenes of the test data for a model with such inputs.
func drawTestScenes(c *config.Config, in inputs.Inputs) (*structured.Dataset, error) {
	parts, err := sceneParts(c)
	if err != nil || parts[2].Scenes == 0 {
		return nil, err
	}
	read := *Localise(c)
	read.Sliding = in.Sliding
	return read.Scenes(parts[2])
}

func drawScenes(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	parts, err := sceneParts(c)
	if err != nil {
		return nil, nil, nil, err
	}
	for k, to := range []**structured.Dataset{&train, &dev, &test} {
		if parts[k].Scenes == 0 {
			continue
		}
		read := *Localise(c)
		if read.Learn = to == &train && !read.Windows; train != nil {
			read.Sliding = localisation.Of(train).Sliding
		}
		if *to, err = read.Scenes(parts[k]); err == nil && read.Learn {
			err = read.Complete(train)
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
	return train, dev, test, nil
}
