package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured"
)

// builtin names the test words that the ocr task draws where a data file is asked for.
const builtin = "builtin"

// use is what the verbs that use a model have in common.
type use struct {
	model, data            string
	format, columns, label string
	device                 string
	threads                int
	partial                bool // eval only

	stop func() // gives the device up
}

// addFlags adds the flags that name the model and how to read data.
func (u *use) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&u.model, "model", "", "`MODEL` file, or the folder of a run")
	flags.StringVar(&u.format, "format", "", "`"+strings.Join(formats.Names(), "|")+"`, the layout of the data; empty: the model's, or seen from the file")
	flags.StringVar(&u.columns, "columns", "", "columns of conll data, as in `word=0,label=-1`; empty: the model's")
	flags.StringVar(&u.label, "label", "", "`upos|xpos|feats|deprel|misc:KEY`, the label of conllu data; empty: the model's")
	flags.IntVar(&u.threads, "threads", 0, "threads `N`; answers do not depend on it; 0 means all cores")
	flags.StringVar(&u.device, "device", "cpu", "where to compute: `cpu|cuda[:N]`, N the number of the GPU, from 0; a GPU takes data as a whole, and its scores differ in the last digits")
	complete(cmd, "format", formats.Names()...)
	complete(cmd, "device", "cpu", "cuda")
}

// load reads the model.
func (u *use) load() (*models.Model, error) {
	switch {
	case u.model == "":
		return nil, structured.BadInput("which model? give --model FILE, or --model DIR with the folder of a run")
	case u.threads < 0:
		return nil, structured.BadInput("--threads %d: expected 0 or more", u.threads)
	}
	m, err := models.Load(u.model)
	if err != nil {
		return nil, err
	}
	u.stop, err = m.Use(u.device)
	return m, err
}

// close ends what load began.
func (u *use) close() {
	if u.stop != nil {
		u.stop()
	}
}

// read reads the model and the data; flag is the one that names the data.
func (u *use) read(flag string, needLabels bool) (*models.Model, *structured.Dataset, error) {
	m, err := u.load()
	if err != nil {
		return nil, nil, err
	}
	d, err := u.readFor(m, flag, needLabels)
	return m, d, err
}

// readFor reads the data for a model.
func (u *use) readFor(m *models.Model, flag string, needLabels bool) (*structured.Dataset, error) {
	if u.data == "" {
		return nil, structured.BadInput("which data? give %s FILE, or %s builtin for the drawn words or trees", flag, flag)
	}
	path, options := u.options()
	options.Labels = needLabels
	return m.ReadData(path, options)
}

// options say which file to read and how.
func (u *use) options() (path string, o models.DataOptions) {
	path, o = u.data, models.DataOptions{Format: u.format, Columns: u.columns, Label: u.label, Partial: u.partial, Threads: u.threads}
	if u.data == builtin {
		path, o.Format = "", builtin
	}
	return path, o
}
