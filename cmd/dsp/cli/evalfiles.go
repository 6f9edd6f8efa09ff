package cli

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/conllu/conll18"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// comparedFiles are the flags of eval that compare two files, without a model.
type comparedFiles struct{ gold, predicted, columns, task, class, scheme string }

func (f *comparedFiles) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.gold, "gold", "", "`FILE` with gold outputs, or DIR of masks, to compare with those of --predicted, without a model")
	flags.StringVar(&f.predicted, "predicted", "", "`FILE` or DIR with predicted outputs for what --gold has, in the same format; links may stand alone, in either; boxes as predict writes them")
	flags.StringVar(&f.columns, "predicted-columns", "", "columns of --predicted; empty: those of --gold, or with the last as label if there are more")
	flags.StringVar(&f.class, "class", "", "class of the boxes of --gold that count; empty: that of --predicted, or the only one")
	flags.StringVar(&f.scheme, "scheme", "", "scheme of the entity tags of --gold: `"+strings.Join(chains.Schemes(), "|")+"`; empty: as they show. --strict counts entities that are well-formed in it")
	complete(cmd, "scheme", chains.Schemes()...)
	flags.StringVar(&f.task, "task", "auto", "what the files of --gold and --predicted hold: `tag|parse|constituency|align|warp|segment|localise|pipeline`; auto: as the format says")
	complete(cmd, "task", "auto", "tag", "parse", "constituency", "align", "warp", "segment", "localise", pipelines.Task)
}

func (f *comparedFiles) given() bool { return f.gold != "" || f.predicted != "" }

// takenWithFiles are the flags of eval that have an effect on two files.
var takenWithFiles = []string{
	"gold", "predicted", "predicted-columns", "task", "format", "columns", "comments", "label", "threads", "strict", "labels", "confusion", "json", "config", "quiet",
	"void", "mask-values", "class", "scheme",
}

var (
	// takenWithOwn are those for files that a task compares in its own way, with that task.
	takenWithOwn = map[string]string{"void": "segment", "mask-values": "segment", "class": "localise"}
	// takenWithText are those for files that no task compares in its own way.
	takenWithText = []string{"predicted-columns", "columns", "comments", "label", "strict", "labels", "confusion", "scheme"}
)

// compare prints how the files agree.
func (f *comparedFiles) compare(cmd *cobra.Command, u *modelFlags, strict bool, o tasks.ReportOptions) error {
	if f.gold == "" || f.predicted == "" {
		return structured.BadInput("--gold and --predicted belong together: two files for the same data")
	}
	other := ""
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if other == "" && !slices.Contains(takenWithFiles, flag.Name) {
			other = flag.Name
		}
	})
	if other != "" {
		return structured.BadInput("--%s has no effect with --gold and --predicted, which are compared without a model", other)
	}
	if u.Threads < 0 {
		return structured.BadInput("--threads %d: expected 0 or more", u.Threads)
	}
	u.Remarks = models.RemarksFor(models.RefuseBad) // sequences of both files belong together
	ctx := cmd.Context()
	if whole, err := f.treebanks(u.Format, u.Label); err != nil {
		return err
	} else if whole {
		if f.scheme != "" {
			return structured.BadInput("--scheme is of entity tags; the files are compared as treebanks, unless --label names where their tags are")
		}
		return f.compareTreebanks(ctx, isSet(cmd, "json"))
	}
	files := models.Files{Gold: f.gold, Predicted: f.predicted, Columns: f.columns, Task: f.task, Class: f.class, Scheme: f.scheme, Request: u.Request}
	if err := withEffect(cmd, files.Own()); err != nil {
		return err
	}
	report, err := host.Await(ctx, func() (tasks.Report, error) { return files.Compare(strict) })
	if err != nil {
		return err
	}
	u.Remarks.Log(slog.Default())
	if isSet(cmd, "json") {
		return printJSON(os.Stdout, report)
	}
	_, err = fmt.Print(report.Text(o))
	return err
}

// withEffect refuses flags that have none on the files that a task compares in its own way, or on others if own is
// empty.
func withEffect(cmd *cobra.Command, own string) error {
	for _, name := range takenWithText {
		if own != "" && cmd.Flags().Changed(name) {
			return structured.BadInput("--%s has no effect on the files of --task %s", name, own)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(takenWithOwn)) {
		if task := takenWithOwn[name]; cmd.Flags().Changed(name) && task != own {
			return structured.BadInput("--%s has no effect on these files; it is for --task %s", name, task)
		}
	}
	return nil
}

// treebanks reports whether the files are compared as whole treebanks, whose tokens may differ.
func (f *comparedFiles) treebanks(format, label string) (bool, error) {
	switch {
	case f.task == pipelines.Task:
		return true, nil
	case f.task != "auto" || label != "":
		return false, nil
	}
	if format == "" {
		var err error
		if format, err = formats.Detect(f.gold); err != nil {
			return false, err
		}
	}
	return format == formats.Conllu, nil
}

// compareTreebanks prints the measures of the CoNLL 2018 shared task.
func (f *comparedFiles) compareTreebanks(ctx context.Context, asJSON bool) error {
	scores, err := host.Await(ctx, func() (conll18.Scores, error) {
		gold, err := pipelines.ReadTreebank(f.gold, false, nil)
		if err != nil {
			return nil, err
		}
		predicted, err := pipelines.ReadTreebank(f.predicted, false, nil)
		if err != nil {
			return nil, err
		}
		return conll18.Evaluate(gold, f.gold, predicted, f.predicted)
	})
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(os.Stdout, scores)
	}
	_, err = fmt.Print(scores.Table())
	return err
}
