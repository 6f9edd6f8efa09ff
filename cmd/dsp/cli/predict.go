package cli

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// predictVerb holds the flags of predict.
type predictVerb struct {
	modelFlags
	asked       predictions.Asked
	flagged     []settings.Setting // of asked
	questions   questions
	raw         rawText
	picture, to string
	fill        string
	skipBad     bool
}

// run predicts: flags, model, data, predictions.
func (v *predictVerb) run(cmd *cobra.Command) error {
	if v.skipBad {
		v.bad = models.SkipBad
	}
	if pipelines.Is(v.model) {
		return predictPipeline(cmd, &v.modelFlags, &v.raw, v.fill, v.to)
	}
	if err := v.checkFlags(cmd); err != nil {
		return err
	}
	defer v.close()
	m, err := v.load(cmd.Context())
	if err != nil {
		return err
	}
	arrays := v.to != "" && (tasks.Of(&m.Config).WritesFolder || isArchive(v.to))
	if err := v.checkModel(cmd, m, arrays); err != nil {
		return err
	}
	o, asJSON := v.options(), isSet(cmd, "json")
	if v.questions.selected > 0 {
		return v.questions.run(cmd.Context(), &v.modelFlags, m, *o, asJSON)
	}
	o.Probability = o.Probability || arrays && tasks.Of(&m.Config).Labels
	if err := m.CheckQuestions(*o); err != nil {
		return err
	}
	warnUncalibrated(m, *o)
	o.Probability = o.Probability || asJSON
	switch {
	case v.raw.on && v.picture != "":
		return v.raw.draw(cmd.Context(), &v.modelFlags, m, v.picture)
	case v.raw.on:
		return v.printTo(cmd, v.to, func(w io.Writer) error {
			return v.raw.predict(cmd.Context(), &v.modelFlags, m, w, *o, asJSON)
		})
	case v.Path == "":
		return noData("--input")
	case arrays:
		return v.writeTo(cmd, m, *o, v.to)
	case v.picture != "":
		d, err := v.readFor(cmd.Context(), m, "--input", false)
		if err != nil {
			return err
		}
		return m.Draw(cmd.Context(), d, v.picture)
	}
	return v.printTo(cmd, v.to, func(w io.Writer) error {
		if arrives, err := m.PrintText(cmd.Context(), v.Request, w, *o, asJSON); arrives {
			v.Remarks.Log(slog.Default())
			return err
		}
		d, err := v.readGiven(cmd.Context(), m, *o)
		if err != nil {
			return err
		}
		return m.Print(cmd.Context(), d, w, *o, asJSON)
	})
}

// options returns what is asked of the model.
func (v *predictVerb) options() *predictions.Options {
	v.asked.Threads = v.Threads
	return &v.asked.Options
}

func predictCommand() *cobra.Command { return newPredictVerb().command() }

func newPredictVerb() *predictVerb {
	v := &predictVerb{asked: predictions.Ask(settings.CommandLine)}
	v.flagged = settings.Of(&v.asked)
	return v
}

func (v *predictVerb) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "predict --model MODEL",
		Short: "Predict labels, trees, links, boxes or masks with a model",
		Long: `predict copies the columns of the input and appends a column with the predicted label; an empty line ends each sequence.
With --json it prints one object per sequence. Flags add confidences, scores, n-best lists and marginals.
predict labels text as it arrives, in chunks and in input order, so the input can be larger than memory, or a pipe.
For a CRFsuite attribute file it prints only the gold and the predicted label; if there is no gold label, the line starts with a
tab. Trees are written as CoNLL-U, with HEAD and DEPREL filled in and everything else unchanged.

With --spans it prints the entities of each sequence, under a line "# name of the sequence": type, first and last token from 0,
where the entity starts and ends in the text in characters (_ if the input does not say), its probability, and its text. The
probability is that exactly these tokens are an entity of this type.

With --text the input is raw text. predict splits it into sentences and tokens and prints a word and its label per line, or
CoNLL-U from a parser; with --json it adds words and their offsets in the text; with --inline it prints the text itself with its
entities marked.

A pipeline (train --task pipeline) turns raw text (--text) into CoNLL-U with sentences, words, tags, lemmas and trees, or fills
these fields in a CoNLL-U file; --fill says which.

The links of a sentence pair become a line in Pharaoh format: source-target, words counted from 0. A score follows after |||.
With --nbest every alignment has a line: rank ||| links ||| score. Links of aligners have margins, not probabilities: the best
score of an alignment with the link, less that of one without it (--task warp has probabilities). So have labels that cuts find:
the best score with the label, less that without it.

For an image of a line of text, predict prints a line: the name of the image, a tab and the string, and with --score its
probability. With --beam it searches for probable strings; with --nbest it lists the best of them.`,
		Example: `  dsp predict --model runs/ner --input new.conll > labelled.conll
  cut -f1 new.conll | dsp predict --model runs/ner --confidence
  dsp predict --model runs/ner --input new.conll --spans --json
  echo 'John Smith lives in Rome.' | dsp predict --model runs/ner --text --inline
  dsp predict --model runs/first --input builtin --nbest 3 --json
  dsp predict --model runs/parser --input new.conllu > parsed.conllu
  dsp predict --model runs/parser --input test.conllu --picture trees.svg
  dsp predict --model runs/ner --input new.conll --samples 10 --seed 1 --json
  dsp predict --model runs/ner --input new.conll --select 100 > label-these.conll
  dsp predict --model runs/links --input new.pairs --confidence
  dsp predict --model runs/lines --input folder --beam 20 --nbest 3
  dsp predict --model runs/ladybird --input folder --nbest 3 > boxes.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.sharing.run(cmd, func() error { return v.run(cmd) })
		},
	}
	v.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&v.Path, "input", "-", "`FILE` to label; - is standard input, builtin the drawn words, trees, "+
		"sentence pairs, lines, scenes or graphs")
	v.raw.addFlags(cmd)
	flags.StringVar(&v.fill, "fill", "", "with a pipeline: the `FIELDS` of words to predict, with commas between "+
		"them; the others stay as the input has them; empty: "+strings.Join(pipelines.Filled, ","))
	v.taggers.addFlag(cmd)
	v.sharing.addFlag(cmd)
	add := func(names ...string) { addNamed(cmd, v.flagged, names...) }
	add("into", "scheme")
	complete(cmd, "scheme", chains.Schemes()...)
	add("nbest", "beam", "force", "decode", "threshold")
	flags.StringVar(&v.picture, "picture", "", "instead of printing predictions, draw the predicted trees of a few "+
		"sentences, or the boxes or masks of a few images, to `FILE`, .svg, .png or .pdf")
	flags.StringVar(&v.to, "to", "", "write what is printed to `PATH`, whole or not at all; for segment a folder of "+
		"masks, with overlays inside; a name that ends in .npz: for graph labels as arrays, and for tag and ocr labels, "+
		"offsets, scores, probabilities and, with --marginals or --confidence, these")
	flags.BoolVar(&v.skipBad, "skip-bad", false, "another name of --bad skip")
	_ = flags.MarkHidden("skip-bad")
	add("truncate", "marginals", "confidence", "score", "spans", "min-probability", "entropy", "samples", "temperature",
		"seed")
	v.questions.addFlags(cmd)
	putFirst(cmd, "model", "input", "format", "text", "to", "confidence", "nbest", "spans", "picture")
	return cmd
}

// checkFlags takes the flags that were given, and refuses those that do not go with each other.
func (v *predictVerb) checkFlags(cmd *cobra.Command) error {
	if err := noPipeline(cmd, v.model, "fill"); err != nil {
		return err
	}
	takeFlags(cmd, v.flagged, v.flagged)
	o := &v.asked
	if err := o.Check(v.flagged); err != nil {
		return err
	}
	o.Scheme = chains.SchemeNamed(o.Scheme)
	if err := cmp.Or(checkSpans(cmd, o.Spans), checkInto(cmd, &o.Options)); err != nil {
		return err
	}
	if err := v.questions.check(cmd, &o.Options); err != nil {
		return err
	}
	return v.raw.refusals(cmd)
}

// checkModel refuses flags that a model does not answer. With arrays, --to gets no text.
func (v *predictVerb) checkModel(cmd *cobra.Command, m *models.Model, arrays bool) error {
	if err := checkPrinted(cmd, arrays, v.to, v.picture); err != nil {
		return err
	}
	if err := m.CheckEntities(v.asked.Options); err != nil {
		return err
	}
	if v.asked.Given.Has("truncate") && !m.Truncates() {
		return structured.BadInput("--truncate is for cuts, which this model's outputs are not found with")
	}
	return nil
}

// checkInto refuses flags that do not go with --into and --scheme.
func checkInto(cmd *cobra.Command, o *predictions.Options) error {
	if o.Scheme != "" {
		if err := settings.OneOf("--scheme", o.Scheme, chains.Schemes()); err != nil {
			return err
		}
		for _, name := range []string{"spans", "inline", "picture"} {
			if cmd.Flags().Changed(name) {
				return structured.BadInput("--scheme %s: it is for the labels of words, and --%s speaks of the model's own or "+
					"prints none", o.Scheme, name)
			}
		}
	}
	if o.Into == "" {
		return nil
	}
	for _, name := range []string{"json", "text", "presegmented", "pretokenised", "nbest", "confidence", "marginals", "entropy", "spans",
		"picture"} {
		if cmd.Flags().Changed(name) {
			return structured.BadInput("--into %s: it keeps the columns of the input, and --%s prints something else or more",
				o.Into, name)
		}
	}
	return nil
}

// checkSpans refuses flags that do not go with --spans.
func checkSpans(cmd *cobra.Command, spans bool) error {
	if !spans || isSet(cmd, "json") {
		return nil
	}
	for _, name := range []string{"nbest", "confidence", "score", "marginals", "entropy"} {
		if cmd.Flags().Changed(name) {
			return structured.BadInput("--%s adds to labelled columns, and --spans prints entities in their place; add --json "+
				"for both", name)
		}
	}
	return nil
}

// warnUncalibrated warns where probabilities are asked for that nothing has fitted to data.
func warnUncalibrated(m *models.Model, o predictions.Options) {
	if (o.Spans || o.Decode == predictions.EntityF1 || o.Entropy || o.Samples > 0 || o.Confidence || o.Marginals ||
		o.Probability || o.NBest > 0) && m.Uncalibrated() {
		slog.Warn("the model was trained by margins, not by likelihood: its probabilities are uncalibrated; fit them to "+
			"data with dsp calibrate", "loss", m.Config.Loss)
	}
}

// checkPrinted refuses flags that change only what is printed, where nothing is printed: arrays or masks are written,
// or a picture.
func checkPrinted(cmd *cobra.Command, arrays bool, to, picture string) error {
	instead, printed := "--to "+to, []string{"nbest", "score", "entropy", "samples", "spans", "min-probability"}
	switch {
	case picture != "" && to != "":
		return structured.BadInput("--to %s and --picture %s: give one of the two", to, picture)
	case picture != "":
		instead, printed = "--picture", append(printed, "beam", "confidence", "marginals", "decode", "threshold", "force")
	case arrays:
		printed = append(printed, "text", "presegmented", "pretokenised", "into", "scheme")
	default:
		return nil
	}
	for _, name := range printed {
		if cmd.Flags().Changed(name) {
			return structured.BadInput("--%s has no effect with %s, which prints no predictions", name, instead)
		}
	}
	return nil
}

// printTo has predictions printed, or written to a file, which rank 0 alone does.
func (u *modelFlags) printTo(cmd *cobra.Command, to string, print func(w io.Writer) error) error {
	switch {
	case to == "":
		return print(os.Stdout)
	case !u.leads():
		return print(io.Discard)
	}
	if about, err := os.Stat(to); err == nil && about.IsDir() {
		return structured.BadInput("--to %s: this is a folder; expected a file", to)
	}
	if folder := filepath.Dir(to); !isFolder(folder) {
		return noFolder("to", to, folder)
	}
	if err := host.WriteFile(to, print); err != nil {
		return err
	}
	return sayWritten(cmd, map[string]any{"to": to})
}

// isArchive reports whether a name is that of arrays.
func isArchive(path string) bool { return strings.EqualFold(filepath.Ext(path), ".npz") }

// sayWritten says where predictions are, and more with --json.
func sayWritten(cmd *cobra.Command, what map[string]any) error {
	if isSet(cmd, "json") {
		return printJSON(os.Stdout, what)
	}
	_, err := fmt.Println(what["to"])
	return err
}

// writeTo writes predictions to files.
func (u *modelFlags) writeTo(cmd *cobra.Command, m *models.Model, o predictions.Options, to string) error {
	d, err := u.readGiven(cmd.Context(), m, o)
	if err != nil {
		return err
	}
	if err := m.Write(cmd.Context(), d, o, to); err != nil {
		return err
	}
	return sayWritten(cmd, map[string]any{"to": to, "examples": d.Len()})
}
