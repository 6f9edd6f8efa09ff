package cli

import (
	"fmt"
	"log/slog"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// builtin stands for drawn data where a verb expects a data file.
const builtin = "builtin"

// use holds the flags that all verbs with a --model share.
type use struct {
	model, data            string
	format, columns, label string
	device, dense, links   string
	boxes, images, masks   string
	threads                int
	partial                bool // eval only

	stop func() // releases the device
}

// addFlags adds the flags that name the model and how to read data.
func (u *use) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&u.model, "model", "", "`MODEL` file, or the folder of a run")
	flags.StringVar(&u.format, "format", "", "layout of the data: `"+strings.Join(formats.Names(), "|")+"`; empty: the model's, or recognised from the file")
	flags.StringVar(&u.columns, "columns", "", "columns of conll data, such as `word=0,label=-1`; empty: the model's")
	flags.StringVar(&u.label, "label", "", "label of conllu data: `upos|xpos|feats|deprel|misc:KEY`; empty: the model's")
	flags.Var(&fileList{to: &u.dense}, "dense", "npz `FILE` with the dense features of the tokens, for models that read them beside words")
	flags.Var(&fileList{to: &u.boxes}, "boxes", "`FILE` with candidate boxes in COCO's format of results, for models that choose among candidates; empty: sliding windows")
	flags.Var(&fileList{to: &u.images}, "images", "`DIR` of the images, for coco and voc data; empty: beside the annotations")
	flags.Var(&fileList{to: &u.links}, "links", "`FILE` with the gold links of sentence pairs, one line per pair, if they are not in the data file")
	flags.Var(&fileList{to: &u.masks}, "masks", "`DIR` of the masks of a folder of images, for models that label pixels")
	flags.IntVar(&u.threads, "threads", 0, "number `N` of threads; it does not change the results; 0: all cores")
	flags.StringVar(&u.device, "device", "cpu", "where to compute: `cpu|cuda[:N]`; N is the number of the GPU, from 0; a GPU reads the data in one piece, and its scores differ from the CPU's in the last digits")
	complete(cmd, "format", formats.Names()...)
	complete(cmd, "device", "cpu", "cuda")
}

// load reads the model.
func (u *use) load() (*models.Model, error) {
	switch {
	case u.model == "":
		return nil, structured.BadInput("no model: give --model FILE, or --model DIR with the folder of a run")
	case u.threads < 0:
		return nil, structured.BadInput("--threads %d: expected 0 or more", u.threads)
	}
	m, err := models.Load(u.model)
	if err != nil {
		return nil, err
	}
	if m.Unfinished > 0 {
		slog.Warn("the run is not finished: these are the weights of its checkpoint; dsp train --resume continues it", "run", u.model, "pass", m.Unfinished)
	}
	m.OnTruncated(func(times int) {
		slog.Warn("cuts are exact only for edges that favour equal labels: others were truncated, and the labels may not be the best", "times", times)
	})
	m.OnBounds(sayBounds)
	u.stop, err = m.Use(u.device)
	return m, err
}

// sayBounds says how far outputs may be from the best ones.
func sayBounds(s predictions.Bounds) {
	about := "outputs may not be the best"
	if s.Decoded {
		about = "alpha-expansion finds labels that may not be the best"
	}
	values := []any{"outputs", s.Outputs, "proven_best", s.Outputs - s.Unproven, "score", fmt.Sprintf("%.9g", s.Score)}
	if math.IsInf(s.Bound, 1) {
		values = append(values, "bound", "none")
	} else {
		values = append(values, "bound", fmt.Sprintf("%.9g", s.Bound), "gap", fmt.Sprintf("%.3g", s.Gap()))
	}
	slog.Info(about, values...)
}

// close releases what load acquired.
func (u *use) close() {
	if u.stop != nil {
		u.stop()
	}
}

// read reads the model and the data; flag is the name of the flag that gives the data.
func (u *use) read(flag string, needLabels bool) (*models.Model, *structured.Dataset, error) {
	m, err := u.load()
	if err != nil {
		return nil, nil, err
	}
	d, err := u.readFor(m, flag, needLabels)
	return m, d, err
}

// readFor reads data for a model.
func (u *use) readFor(m *models.Model, flag string, needLabels bool) (*structured.Dataset, error) {
	if u.data == "" {
		return nil, structured.BadInput("no data: give %s FILE, or %s builtin for the drawn words, trees, sentence pairs, scenes or graphs", flag, flag)
	}
	path, options := u.options()
	options.Labels = needLabels
	return m.ReadData(path, options)
}

// options returns the path of the data and how to read it.
func (u *use) options() (path string, o models.DataOptions) {
	path, o = u.data, models.DataOptions{Format: u.format, Columns: u.columns, Label: u.label, Partial: u.partial, Threads: u.threads, Dense: u.dense,
		Boxes: u.boxes, Images: u.images, Links: u.links, Masks: u.masks}
	if u.data == builtin {
		path, o.Format = "", builtin
	}
	return path, o
}
