package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/synthetic"
)

func textCommand() *cobra.Command {
	o, out := synthetic.DefaultTaggedText(), ""
	sizes := settings.Sizes{o.Train, o.Dev, o.Test}
	cmd := &cobra.Command{
		Use:   "text --out DIR",
		Short: "Draw sentences with entity tags: text in columns to train on",
		Long: `text draws sentences with dates and with names of persons, places and organisations. It writes them to train.conll,
dev.conll and test.conll, one token per line, with the word, its part of speech and its tag in IOB2. Many names in the test
sentences are new, and many name a person in one sentence and a place in another.`,
		Example: `  dsp data text --out text
  dsp train --train text/train.conll --dev text/dev.conll --out runs/text
  dsp eval --model runs/text --data text/test.conll`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("no folder to write to: give --out DIR")
			case len(sizes) != 3:
				return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
			}
			o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
			if err := synthetic.WriteTaggedText(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err := fmt.Printf("%s: %d sentences to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.Var(&sizes, "examples", "how many sentences to draw for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same sentences")
	return cmd
}
