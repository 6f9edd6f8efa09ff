package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
)

func predictCommand() *cobra.Command {
	var u use
	var o models.PredictOptions
	var decode, picture string
	cmd := &cobra.Command{
		Use:   "predict --model MODEL",
		Short: "Label data with a model",
		Long: `predict writes the input's columns with the predicted label in a last one, and an empty line after each sequence; with
--json an object a line for each sequence. Confidences, scores, n-best lists and marginals come where they are asked for.
Text is labelled as it comes, piece by piece, in the order of the input: it may be larger than memory, or a pipe. Of an
attribute file of CRFsuite the gold label alone is written beside the predicted one; where there is none, its lines begin
with a tab. Trees are written as CoNLL-U, with HEAD and DEPREL filled in and all else as it was.`,
		Example: `  dsp predict --model runs/ner --input new.conll > labelled.conll
  cut -f1 new.conll | dsp predict --model runs/ner --confidence
  dsp predict --model runs/first --input builtin --nbest 3 --json
  dsp predict --model runs/parser --input new.conllu > parsed.conllu
  dsp predict --model runs/parser --input test.conllu --picture trees.svg`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.NBest < 0 {
				return structured.BadInput("--nbest %d: expected 0 or more", o.NBest)
			}
			if decode != "max" && decode != "risk" {
				return structured.BadInput("--decode %q: expected max or risk", decode)
			}
			o.LeastRisk = decode == "risk"
			defer u.close()
			m, err := u.load()
			if err != nil {
				return err
			}
			o.Threads = u.threads
			asJSON := isSet(cmd, "json")
			o.Probability = o.Probability || asJSON
			if picture != "" {
				d, err := u.readFor(m, "--input", false)
				if err != nil {
					return err
				}
				return m.DrawTrees(cmd.Context(), d, picture)
			}
			path, data := u.options()
			if !m.Streams(data) || u.device != "cpu" {
				if o.Force && !m.Streams(data) {
					return structured.BadInput("--force keeps labels of text; %s has no column of labels", path)
				}
				return predictAll(cmd, &u, m, o, asJSON)
			}
			in, err := host.Open(path)
			if err != nil {
				return err
			}
			name := path
			if path == "-" {
				name = "standard input"
			}
			return errors.Join(m.PredictText(cmd.Context(), in, name, os.Stdout, data, o, asJSON), in.Close())
		},
	}
	u.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&u.data, "input", "-", "`FILE` to label; - is standard input, builtin the drawn words or trees")
	flags.IntVar(&o.NBest, "nbest", 0, "also the `N` best outputs of each sequence with score and probability")
	flags.BoolVar(&o.Force, "force", false, "keep the labels in the input's label column: a label of the model, A|B for one of these, ? or _ for any; the rest is labelled given them")
	flags.StringVar(&decode, "decode", "max", "`max|risk`: the output with the largest score, or the one with the least expected number of wrong labels (or heads and relations), from the marginals")
	complete(cmd, "decode", "max", "risk")
	flags.StringVar(&picture, "picture", "", "in place of predictions, draw the predicted trees of a few sentences to `FILE`, .svg or .png")
	flags.BoolVar(&o.Marginals, "marginals", false, "also the probability of every label at every position, or of every head of each word")
	flags.BoolVar(&o.Confidence, "confidence", false, "also the probability of each predicted label, in a column before it, or of each predicted arc, in MISC")
	flags.BoolVar(&o.Probability, "score", false, "also the score and probability of each sequence's labels")
	return cmd
}

// predictAll labels data that is not text, all at once.
func predictAll(cmd *cobra.Command, u *use, m *models.Model, o models.PredictOptions, asJSON bool) error {
	d, err := u.readFor(m, "--input", false)
	if err != nil {
		return err
	}
	w := models.NewColumnWriter(os.Stdout, m, d, o)
	if asJSON {
		w = models.NewJSONWriter(os.Stdout, m, d, o)
	}
	if err := m.Predict(cmd.Context(), d, o, w.Write); err != nil {
		return err
	}
	return w.Close()
}
