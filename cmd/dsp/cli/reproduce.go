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

	"github.com/dsp-go/dsp/models/reproduce"
	"github.com/dsp-go/dsp/structured"
)

func reproduceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reproduce PAPER",
		Short: "Rerun the experiments of a paper, and check its claims",
		Args:  noVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, paper := range theStudies {
		cmd.AddCommand(studyCommand(paper))
	}
	return cmd
}

// study is a paper whose experiments come with the program.
type study struct{ name, short, long, example string }

const howStudies = ` on drawn data, at a scale for a laptop. Each figure is a YAML file: settings of dsp train,
curves that change some of them, grids of settings to tune, and the paper's claims in a form that can be checked. The folder of the
output gets a picture and a CSV of the curves for each figure, and claims.md, a table of what agrees with the paper.
Finished runs are kept in runs.jsonl there: the same command continues after an interrupt, and trains only what is missing.`

var theStudies = []study{
	{"casimir", "Pillutla et al. 2018: casimir-SVRG and prox-linear against SGD, BCFW and SVRG",
		`casimir reruns the studies of "A Smoother Way to Train Structured Prediction Models" (Pillutla, Roulet, Kakade and Harchaoui, NeurIPS
2018; sections 7.2 to 7.6, figures 2 to 7)`,
		`  dsp reproduce casimir
  dsp reproduce casimir --figure 2,5 --seeds 3
  dsp reproduce casimir --figure 2 --train train.conll --dev dev.conll --test test.conll
  dsp reproduce casimir --write studies && dsp reproduce casimir --from studies/figure5.yaml`},
	{"bcfw", "Lacoste-Julien et al. 2013: BCFW against SSG, batch Frank-Wolfe, cutting planes and online EG",
		`bcfw reruns the comparison of "Block-Coordinate Frank-Wolfe Optimization for Structural SVMs" (Lacoste-Julien, Jaggi, Schmidt and Pletscher,
ICML 2013; section 6, figure 1)`,
		`  dsp reproduce bcfw --seeds 3`},
	{"gaps", "Osokin et al. 2016: gap sampling, pairwise and away steps, and caching",
		`gaps reruns the comparison of "Minding the Gaps for Block Frank-Wolfe Optimization of Structured SVMs" (Osokin, Alayrac, Lukasewitz, Dokania
and Lacoste-Julien, ICML 2016; section 6.1)`,
		`  dsp reproduce gaps --seeds 3`},
	{"agm", "Zhang et al. 2011: accelerated gradients against cutting planes",
		`agm reruns the comparison of "Regularized Risk Minimization by Nesterov's Accelerated Gradient Methods" (Zhang, Saha and Vishwanathan 2011;
section 6)`,
		`  dsp reproduce agm --seeds 3`},
}

func studyCommand(paper study) *cobra.Command {
	o := reproduce.Options{Version: version()}
	from, write := "", ""
	folder := filepath.Join("runs", paper.name)
	cmd := &cobra.Command{
		Use:     paper.name,
		Short:   paper.short,
		Long:    paper.long + howStudies,
		Example: paper.example,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if write != "" {
				return writeStudy(cmd, paper.name, write)
			}
			figures, err := figuresOf(paper.name, from, &o)
			if err != nil {
				return err
			}
			o.Out, o.Log = cmp.Or(o.Out, folder), slog.Default()
			result, err := reproduce.Reproduce(cmd.Context(), figures, o)
			if err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, result)
			}
			return printReproduction(os.Stdout, result)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&o.Figures, "figure", nil, "only these figures, separated by commas")
	flags.IntVar(&o.Seeds, "seeds", 0, "`N` runs of each curve; 0: as many as its figure says (10)")
	flags.StringVar(&o.Out, "out", "", "`DIR` for all files; empty: "+folder)
	flags.BoolVar(&o.Quick, "quick", false, "shrink data, passes and seeds, to see that everything runs; the claims are not to be trusted then")
	flags.StringVar(&from, "from", "", "read the figures from this YAML `FILE`, or all YAML files of a folder, instead of the program's own")
	flags.StringVar(&write, "write", "", "write the program's figures into this `DIR`, to edit them, and train nothing")
	flags.StringVar(&o.Train, "train", "", "tagged text in columns, a `FILE` to train on in the figures of tagging, instead of drawn sentences")
	flags.StringVar(&o.Dev, "dev", "", "`FILE` to choose settings on, with --train")
	flags.StringVar(&o.Test, "test", "", "`FILE` to measure on, with --train")
	flags.StringVar(&o.Columns, "columns", "", "names of the columns of --train; as for dsp train")
	flags.IntVar(&o.Threads, "threads", 0, "`N` runs at the same time, each on one thread; results do not depend on it; 0: one per core")
	return cmd
}

// figuresOf returns the figures that a command line asks for.
func figuresOf(study, from string, o *reproduce.Options) ([]*reproduce.Figure, error) {
	switch {
	case o.Seeds < 0:
		return nil, structured.BadInput("--seeds %d: expected at least 1, or 0 for as many as the figure says", o.Seeds)
	case o.Threads < 0:
		return nil, structured.BadInput("--threads %d: expected at least 1, or 0 for one per core", o.Threads)
	case o.Train == "" && o.Dev+o.Test+o.Columns != "":
		return nil, structured.BadInput("--dev, --test and --columns need --train: drawn sentences come with their own")
	case from != "":
		return reproduce.Read(from)
	}
	return reproduce.Study(study)
}

func writeStudy(cmd *cobra.Command, study, dir string) error {
	written, err := reproduce.WriteStudy(study, dir)
	if err != nil {
		return err
	}
	if isSet(cmd, "json") {
		return printJSON(os.Stdout, map[string]any{"written": written})
	}
	_, err = fmt.Println(strings.Join(written, "\n"))
	return err
}

// printReproduction prints the verdict on each claim, and the paths of the files.
func printReproduction(w io.Writer, r *reproduce.Result) error {
	var b strings.Builder
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "figure %s: %s\n", f.Figure, f.Title)
		for _, c := range f.Claims {
			fmt.Fprintf(&b, "  %-12s  %d of %d seeds  %s", c.Verdict, c.Holds, c.Decided, c.Check)
			if c.Part != "" {
				fmt.Fprintf(&b, "  [%s]", c.Part)
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "\ntable    %s\n", r.Table)
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "picture  %s\n", f.Picture)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
