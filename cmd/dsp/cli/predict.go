package cli

import (
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
	"github.com/dsp-go/dsp/structured/machine/host"
)

// expansion is the name of alpha-expansion among the ways to decode.
const expansion = "expansion"

// decodes are the values of --decode.
var decodes = []string{"max", "risk", entityF1, expansion}

// entityF1 is the name of the choice of entities by their probabilities among the ways to decode.
const entityF1 = "f1"

// checkThreshold refuses thresholds of probability that are none, or not used.
func checkThreshold(threshold float64, decode string) error {
	switch {
	case !(threshold >= 0 && threshold <= 1):
		return structured.BadInput("--threshold %v: expected 0 to 1", threshold)
	case threshold > 0 && decode != entityF1:
		return structured.BadInput("--threshold %v is for --decode %s, which chooses entities by their probabilities", threshold, entityF1)
	}
	return nil
}

// sayExpectedF1 says what entities were chosen by.
func sayExpectedF1(f models.ExpectedF1) {
	slog.Info("entities are those with the largest expected F1", "expected_f1", fmt.Sprintf("%.4g", f.F1), "threshold", fmt.Sprintf("%.4g", f.Threshold))
}

func predictCommand() *cobra.Command {
	var u use
	var o predictions.Options
	var decode, picture, to string
	var truncate, skipBad bool
	var raw rawText
	var fill string
	var asked questions
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
			return u.run(cmd, func() error {
				if o.NBest < 0 || o.NBest > mostOutputs {
					return structured.BadInput("--nbest %d: expected 0 to %d", o.NBest, mostOutputs)
				}
				if err := checkBeam(o.Beam); err != nil {
					return err
				}
				if err := settings.OneOf("--decode", decode, decodes); err != nil {
					return err
				}
				if err := checkThreshold(o.EntityThreshold, decode); err != nil {
					return err
				}
				if skipBad {
					u.bad = models.SkipBad
				}
				if pipelines.Is(u.model) {
					return predictPipeline(cmd, &u, &raw, fill, to)
				}
				if err := noPipeline(cmd, u.model, "fill"); err != nil {
					return err
				}
				o.LeastRisk, o.Expansion, o.EntityF1 = decode == "risk", decode == expansion, decode == entityF1
				if err := checkSpans(cmd, &o); err != nil {
					return err
				}
				o.Scheme = chains.SchemeNamed(o.Scheme)
				if err := checkInto(cmd, o); err != nil {
					return err
				}
				if err := asked.check(cmd, &o); err != nil {
					return err
				}
				if err := raw.refusals(cmd); err != nil {
					return err
				}
				defer u.close()
				m, err := u.load(cmd.Context())
				if err != nil {
					return err
				}
				arrays := to != "" && (tasks.Of(&m.Config).WritesFolder || isArchive(to))
				if err := checkPrinted(cmd, arrays, to, picture); err != nil {
					return err
				}
				if err := m.CheckEntities(o); err != nil {
					return err
				}
				o.Threads = u.Threads
				asJSON := isSet(cmd, "json")
				if cmd.Flags().Changed("truncate") && !m.Truncates() {
					return structured.BadInput("--truncate is for cuts, which this model's outputs are not found with")
				}
				if asked.selected > 0 {
					return asked.run(cmd.Context(), &u, m, truncate, o.Entropy, asJSON)
				}
				o.Probability = o.Probability || arrays && tasks.Of(&m.Config).Labels
				if err := m.CheckQuestions(o); err != nil {
					return err
				}
				warnUncalibrated(m, o)
				o.Probability = o.Probability || asJSON
				o.Exact = !truncate
				switch {
				case raw.on && picture != "":
					return raw.draw(cmd.Context(), &u, m, picture)
				case raw.on:
					return u.printTo(cmd, to, func(w io.Writer) error { return raw.predict(cmd.Context(), &u, m, w, o, asJSON) })
				case u.Path == "":
					return noData("--input")
				case arrays:
					return u.writeTo(cmd, m, o, to)
				case picture != "":
					d, err := u.readFor(cmd.Context(), m, "--input", false)
					if err != nil {
						return err
					}
					return m.Draw(cmd.Context(), d, picture)
				}
				return u.printTo(cmd, to, func(w io.Writer) error {
					if m.Arrives(u.Request, o) {
						err := m.PrintText(cmd.Context(), u.Request, w, o, asJSON)
						u.Remarks.Log(slog.Default())
						return err
					}
					d, err := u.readGiven(cmd.Context(), m, o)
					if err != nil {
						return err
					}
					return m.Print(cmd.Context(), d, w, o, asJSON)
				})
			})
		},
	}
	u.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&u.Path, "input", "-", "`FILE` to label; - is standard input, builtin the drawn words, trees, sentence pairs, lines, scenes or graphs")
	raw.addFlags(cmd)
	flags.StringVar(&fill, "fill", "", "with a pipeline: the `FIELDS` of words to predict, with commas between them; the others stay as the input has them; empty: "+strings.Join(pipelines.Filled, ","))
	u.taggers.addFlag(cmd)
	u.sharing.addFlag(cmd)
	flags.StringVar(&o.Into, "into", "", "write the label in place of the column `NAME` of the input, such as upos or label, not after the last column")
	flags.StringVar(&o.Scheme, "scheme", "", "write entity tags in this scheme: `"+strings.Join(chains.Schemes(), "|")+"`; empty: as the input writes its own, which its beginning shows, or else as the training data do")
	complete(cmd, "scheme", chains.Schemes()...)
	flags.IntVar(&o.NBest, "nbest", 0, "add the `N` best outputs of each sequence, up to 100,000, with score and probability (links, and graphs with cuts, have scores only)")
	flags.IntVar(&o.Beam, "beam", 0, "for lines of text: search for probable strings, keeping the `N` most probable beginnings at each frame; 0: what the best labels of the frames read")
	flags.BoolVar(&o.Force, "force", false, "keep what the input says, and predict the rest given that: its column of labels, or those of heads and relations (a label of the model, A|B for one of these, ? or _ for any), brackets of constituents, known labels of graphs or of masks (with --masks), or links of words")
	flags.StringVar(&decode, "decode", "max", "what to predict: `max|risk|f1|expansion`; max: the output with the largest score; f1: of entity tags, the entities with the largest expected F1 over the whole input, which is read first; risk: the output with the fewest expected wrong labels (or heads and relations) under the marginals; expansion: labels of a graph with Potts edges and more than two labels that alpha-expansion finds, an approximation, whose distance from the best is bounded on standard error")
	complete(cmd, "decode", decodes...)
	flags.Float64Var(&o.EntityThreshold, "threshold", 0, "with --decode f1: entities must be worth probability `P`, half the expected F1; text is then labelled as it arrives; 0: found for the input")
	flags.StringVar(&picture, "picture", "", "instead of printing predictions, draw the predicted trees of a few sentences, or the boxes or masks of a few images, to `FILE`, .svg, .png or .pdf")
	flags.StringVar(&to, "to", "", "write what is printed to `PATH`, whole or not at all; for segment a folder of masks, with overlays inside; a name that ends in .npz: for graph labels as arrays, and for tag and ocr labels, offsets, scores, probabilities and, with --marginals or --confidence, these")
	flags.BoolVar(&skipBad, "skip-bad", false, "another name of --bad skip")
	_ = flags.MarkHidden("skip-bad")
	flags.BoolVar(&truncate, "truncate", true, "with cuts, unless --truncate=false: lower the scores of edges that do not favour equal labels until they do, and say how many there were; with --truncate=false they are an error")
	flags.BoolVar(&o.Marginals, "marginals", false, "add the probability of every label at every position, of every head of each word, or of every candidate box; for links, the margin of every source word with every target word, and for labels that cuts find, the margin of every label")
	flags.BoolVar(&o.Confidence, "confidence", false, "add the probability of each predicted label, in the column before it, of each predicted arc, in MISC, or of each predicted box; for links, the margin of each predicted link, after a colon, and for labels that cuts find, the margin of each; with --to and segment, pictures in the folder confidence")
	flags.BoolVar(&o.Probability, "score", false, "add the score and probability of each predicted output (links, and graphs with cuts, have scores only)")
	flags.BoolVar(&o.Spans, "spans", false, "instead of labelled columns, print the entities of each sequence: type, first and last token, start and end in the text, probability and text; with --json, add them as spans")
	flags.Float64Var(&o.MinProbability, "min-probability", 0, "with --spans: list every entity that has at least probability `P`, whether the best labels have it or not; 0: those of the best labels")
	asked.addFlags(cmd, &o)
	putFirst(cmd, "model", "input", "format", "text", "to", "confidence", "nbest", "spans", "picture")
	return cmd
}

// checkBeam refuses widths of a search that are out of range.
func checkBeam(width int) error {
	if width < 0 || width > models.MaxBeam {
		return structured.BadInput("--beam %d: expected 0 to %d", width, models.MaxBeam)
	}
	return nil
}

// checkInto refuses flags that do not go with --into and --scheme.
func checkInto(cmd *cobra.Command, o predictions.Options) error {
	if o.Scheme != "" {
		if err := settings.OneOf("--scheme", o.Scheme, chains.Schemes()); err != nil {
			return err
		}
		for _, name := range []string{"spans", "inline", "picture"} {
			if cmd.Flags().Changed(name) {
				return structured.BadInput("--scheme %s: it is for the labels of words, and --%s speaks of the model's own or prints none", o.Scheme, name)
			}
		}
	}
	if o.Into == "" {
		return nil
	}
	for _, name := range []string{"json", "text", "pretokenised", "nbest", "confidence", "marginals", "entropy", "spans", "picture"} {
		if cmd.Flags().Changed(name) {
			return structured.BadInput("--into %s: it keeps the columns of the input, and --%s prints something else or more", o.Into, name)
		}
	}
	return nil
}

// checkSpans refuses flags that do not go with --spans, or need it.
func checkSpans(cmd *cobra.Command, o *predictions.Options) error {
	switch given := cmd.Flags().Changed; {
	case given("min-probability") && !o.Spans:
		return structured.BadInput("--min-probability %v is for --spans, which lists entities", o.MinProbability)
	case given("min-probability") && !(o.MinProbability > 0 && o.MinProbability <= 1):
		return structured.BadInput("--min-probability %v: expected more than 0, and at most 1", o.MinProbability)
	case !o.Spans || isSet(cmd, "json"):
		return nil
	}
	for _, name := range []string{"nbest", "confidence", "score", "marginals", "entropy"} {
		if cmd.Flags().Changed(name) {
			return structured.BadInput("--%s adds to labelled columns, and --spans prints entities in their place; add --json for both", name)
		}
	}
	return nil
}

// warnUncalibrated warns where probabilities are asked for that nothing has fitted to data.
func warnUncalibrated(m *models.Model, o predictions.Options) {
	if (o.Spans || o.EntityF1 || o.Entropy || o.Samples > 0 || o.Confidence || o.Marginals || o.Probability || o.NBest > 0) && m.Uncalibrated() {
		slog.Warn("the model was trained by margins, not by likelihood: its probabilities are uncalibrated; fit them to data with dsp calibrate", "loss", m.Config.Loss)
	}
}

// checkPrinted refuses flags that change only what is printed, where nothing is printed: arrays or masks are written, or a picture.
func checkPrinted(cmd *cobra.Command, arrays bool, to, picture string) error {
	instead, printed := "--to "+to, []string{"nbest", "score", "entropy", "samples", "spans", "min-probability"}
	switch {
	case picture != "" && to != "":
		return structured.BadInput("--to %s and --picture %s: give one of the two", to, picture)
	case picture != "":
		instead, printed = "--picture", append(printed, "beam", "confidence", "marginals", "decode", "threshold", "force")
	case arrays:
		printed = append(printed, "text", "pretokenised", "into", "scheme")
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
func (u *use) printTo(cmd *cobra.Command, to string, print func(w io.Writer) error) error {
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
func (u *use) writeTo(cmd *cobra.Command, m *models.Model, o predictions.Options, to string) error {
	d, err := u.readGiven(cmd.Context(), m, o)
	if err != nil {
		return err
	}
	if err := m.Write(cmd.Context(), d, o, to); err != nil {
		return err
	}
	return sayWritten(cmd, map[string]any{"to": to, "examples": d.Len()})
}
