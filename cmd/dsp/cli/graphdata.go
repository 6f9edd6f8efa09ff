package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/drawn/randomgraphs"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

func graphsCommand() *cobra.Command {
	o, out := randomgraphs.DefaultOptions(), ""
	sizes, shape := settings.Sizes{o.Train, o.Dev, o.Test}, o.Shape.String()
	cmd := &cobra.Command{
		Use:   "graphs --out DIR",
		Short: "Draw graphs with labelled variables: npz archives of features, edges and labels",
		Long: `graphs draws graphs and writes them to train.npz, dev.npz and test.npz, with the arrays that dsp train --task graph reads: node_features, edges,
edge_features, edge_types, sizes and labels. The features of a variable tell its label, and those of an edge whether its second end has
the same label as the first, the next one, or another; both with noise.`,
		Example: `  dsp data graphs --out graphs
  dsp data graphs --out grids --shape grid --classes 3 --examples 500,100,100
  dsp train --task graph --train graphs/train.npz --dev graphs/dev.npz --out runs/graphs`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("no folder to write to: give --out DIR")
			case len(sizes) != 3:
				return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
			}
			o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
			var err error
			if o.Shape, err = randomgraphs.ParseShape(shape); err != nil {
				return fmt.Errorf("--shape: %w", err)
			}
			if err := randomgraphs.Write(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err = fmt.Printf("%s: %d graphs to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.Var(&sizes, "examples", "how many graphs to draw for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.StringVar(&shape, "shape", shape, "`random|tree|grid`: trees of 12 to 28 variables with a few edges more, trees, or grids of 4×4 to 6×6")
	complete(cmd, "shape", "random", "tree", "grid")
	flags.IntVar(&o.Classes, "classes", o.Classes, "`number` of labels, 2 to 10")
	flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "how much noise features have: `0..5`; 0 is none")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same graphs")
	return cmd
}
