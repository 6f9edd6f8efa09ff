package cli

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// shownConfusions is how many confusions the text report shows; --json has all of them.
const shownConfusions = 20

func evalCommand() *cobra.Command {
	var u modelFlags
	var strict, labels, confusion, goldTokens bool
	asked := predictions.Ask(settings.CommandLine)
	flagged := settings.Of(&asked)
	var more reviews
	var files comparedFiles
	cmd := &cobra.Command{
		Use:   "eval --model MODEL --data FILE | --gold FILE --predicted FILE",
		Short: "Compare a model's outputs with gold labels, trees, links, boxes or masks",
		Long: `eval prints the share of tokens and of sequences that a model labels correctly. If the labels are entity tags, it adds
precision, recall and F1 of entities, counted and printed as conlleval.pl does; otherwise precision, recall and F1 of every
label, as in scikit-learn's classification report.

For trees it prints attachment scores as the CoNLL 2018 evaluation computes
them, and a table by relation. For links it prints the alignment error rate, precision, recall and F1 (Och and Ney 2003). For
boxes it prints the share of objects found, their mean overlap and average precision, beside the best that the candidates
allow. For graphs and masks it prints the share of right variables or pixels, and the intersection over union of every label.
With --json, one object holds all of this and the confusions.

A pipeline gets the raw text of the treebank, and is compared with it as in the CoNLL 2018 shared task: words are aligned by
the characters of the text. There --errors and --intervals take what stands between places where sentences end in both as
examples.

--errors lists the worst mistakes, --pr-curve shows what a threshold of probability gains and costs, and --calibration whether
probabilities are what they say. Probabilities of entities are exact: that just these tokens are an entity of this type.

With --gold and --predicted, no model is needed: two files with the same tokens, links of the same sentence pairs, boxes of
the same images, or folders with their masks are compared, whatever program wrote them.
Two files of CoNLL-U are compared as the CoNLL 2018 shared task does, unless --task or --label is given.

--intervals says how far the metrics depend on which examples the data happen to have, and --against whether one model is better
than another beyond that: both take examples as a whole, since their parts depend on each other.`,
		Example: `  dsp eval --model runs/ner --data test.conll
  dsp eval --model runs/pos --data test.conllu --confusion
  dsp eval --model runs/ner --data test.conll --errors 10
  dsp eval --model runs/ner --data test.conll --pr-curve pr.png --calibration reliability.png
  dsp eval --model runs/ner --data test.conll --intervals --against runs/baseline
  dsp eval --model runs/first --data builtin
  dsp eval --model runs/links --data test.pairs
  dsp eval --model runs/ladybird --data test.json
  dsp eval --model runs/stones --data test/images --masks test/masks
  dsp eval --gold test.conll --predicted predicted.conll`,
		Args: more.arguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return u.run(cmd, func() error {
				if files.given() {
					return files.compare(cmd, &u, strict, tasks.ReportOptions{Labels: labels, Confusions: confusionsIf(confusion)})
				}
				if cmd.Flags().Changed("task") || files.columns != "" || files.class != "" || files.scheme != "" {
					return structured.BadInput("--task, --class, --scheme and --predicted-columns are for --gold and --predicted; a model has its task")
				}
				if pipelines.Is(u.model) {
					return evaluatePipeline(cmd, &u, goldTokens, &more)
				}
				if err := noPipeline(cmd, u.model, "gold-tokens"); err != nil {
					return err
				}
				u.encoder.others = more.against != ""
				reviewed, err := more.wanted(strict)
				if err != nil {
					return err
				}
				defer u.close()
				if err := asked.Check(flagged); err != nil {
					return err
				}
				u.Strict = strict
				m, d, err := u.read(cmd.Context(), "--data", true)
				if err != nil {
					return err
				}
				if t := tasks.Of(&m.Config); !t.Labels {
					for _, name := range []string{"strict", "labels", "confusion"} {
						if isSet(cmd, name) && !t.TakesSetting(name) {
							return structured.BadInput("--%s is about the labels of tokens; --task %s predicts %s", name, t.Name, t.Outputs)
						}
					}
				}
				if u := models.UnknownLabels(d, m.Labels); u.Count > 0 {
					slog.Warn("labels that the model does not know count as errors", "labels", structured.SomeOf(u.Names), "times", u.Count, "first", u.First)
				}
				o := tasks.ReportOptions{Labels: labels, Confusions: confusionsIf(confusion)}
				outputs := asked.Options
				outputs.Threads = u.Threads
				given, err := m.ReadBesideWords()
				if err != nil {
					return err
				}
				given = slices.DeleteFunc(given, m.Tags)
				if reviewed {
					if asked.Decode != predictions.Best && more.looks() {
						return structured.BadInput("--decode %s: errors, curves and calibration are of the outputs with the largest score", asked.Decode)
					}
					if asked.Beam > 0 && more.looks() {
						return structured.BadInput("--beam %d: errors, curves and calibration are of what the best labels of the frames read", asked.Beam)
					}
					err := more.run(cmd.Context(), &u, m, d, o, strict, outputs, isSet(cmd, "json"))
					if err == nil && !isSet(cmd, "json") {
						_, err = fmt.Print(aboutGiven(given))
					}
					return err
				}
				var bounds *predictions.Bounds
				m.OnBounds(func(s predictions.Bounds) { bounds = &s })
				report, err := m.ReportOf(cmd.Context(), d, strict, outputs)
				if err != nil {
					return err
				}
				if isSet(cmd, "json") {
					return printJSON(os.Stdout, withBounds(report, bounds, given))
				}
				if bounds != nil {
					sayBounds(*bounds)
				}
				_, err = fmt.Print(report.Text(o) + aboutGiven(given))
				return err
			})
		},
	}
	u.addFlags(cmd)
	cmd.Flags().Var(&fileList{to: &u.Path}, "data", "`FILE,...` with gold labels, one or several (separated by commas, the flag again, a pattern, or a folder of files); builtin for the drawn words, trees, sentence pairs, lines, scenes or graphs")
	u.taggers.addFlag(cmd)
	u.sharing.addFlag(cmd)
	cmd.Flags().BoolVar(&u.Partial, "partial", false, "accept partial gold labels: ? (or _) for any label, A|B for one of these; such tokens, and the entities of their sequences, are not counted")
	for _, x := range [][2]string{
		{"decode", "which outputs to compare: max|risk|f1|expansion, as in predict"},
		{"threshold", "with --decode f1: the least worth of an entity, probability P, as in predict; 0: found for the data"},
		{"beam", "for lines of text: compare the most probable strings of a search that keeps N beginnings, as in predict"},
	} {
		s, _ := settings.Named(flagged, x[0])
		s.Help = x[1]
		addNamed(cmd, []settings.Setting{s}, x[0])
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "count only entities whose tags are well-formed, as seqeval's strict mode does; for boxes: refuse annotated ones without area, which are left out otherwise")
	cmd.Flags().BoolVar(&labels, "labels", false, "add precision, recall and F1 of every label; always shown if the labels are not entity tags")
	cmd.Flags().BoolVar(&confusion, "confusion", false, "add which labels were mistaken for which, most frequent first")
	cmd.Flags().BoolVar(&goldTokens, "gold-tokens", false, "with a pipeline: start from the gold sentences, tokens and words instead of raw text")
	more.addFlags(cmd)
	files.addFlags(cmd)
	putFirst(cmd, "model", "data", "gold", "predicted", "format", "errors", "confusion", "intervals", "against")
	return cmd
}

// confusionsIf returns how many confusions a report shows.
func confusionsIf(shown bool) int {
	if shown {
		return shownConfusions
	}
	return 0
}

// aboutGiven says which columns the model read in the data beside the words.
func aboutGiven(columns []string) string {
	if len(columns) == 0 {
		return ""
	}
	return "\ninputs from the data: " + strings.Join(columns, ", ") + ". If they are gold there, text without them scores lower; --tagger MODEL predicts them\n"
}

// boundedReport is a report with the bounds of outputs that may not be the best, or nil, and the columns that the model
// read in the data beside the words.
type boundedReport struct {
	tasks.Report
	bounds *predictions.Bounds
	given  []string
}

// withBounds adds bounds, if there are any, to the object of a report: score, bound and gap, summed over all outputs.
// The last two are null if there is no finite bound. It adds inputs_from_data, the columns that are given, if there are
// any.
func withBounds(r tasks.Report, bounds *predictions.Bounds, given []string) any {
	if bounds == nil && len(given) == 0 {
		return r
	}
	return boundedReport{r, bounds, given}
}

// MarshalJSON implements json.Marshaler.
func (r boundedReport) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.Report)
	if err != nil {
		return nil, err
	}
	if len(r.given) > 0 {
		given, err := json.Marshal(r.given)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text[:len(text)-1], `,"inputs_from_data":`...), given...), '}')
	}
	if r.bounds == nil {
		return text, nil
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	all["score"], all["bound"], all["gap"] = r.bounds.Score, any(nil), any(nil)
	if !math.IsInf(r.bounds.Bound, 1) {
		all["bound"], all["gap"] = r.bounds.Bound, r.bounds.Gap()
	}
	all["proven_best"] = r.bounds.Outputs - r.bounds.Unproven
	return json.Marshal(all)
}
