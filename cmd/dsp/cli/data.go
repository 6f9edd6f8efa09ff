package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/synthetic/ocr"
)

func dataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data VERB",
		Short: "Write data to files: drawn words, sentences, trees or scenes, sentence pairs, or the attributes of text",
		Args:  noVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(ocrCommand(), textCommand(), treesCommand(), objectsCommand(), scenesCommand(), pairsCommand(), attributesCommand())
	return cmd
}

func ocrCommand() *cobra.Command {
	o, out := ocr.DefaultOCRWords(), ""
	cmd := &cobra.Command{
		Use:   "ocr --out DIR",
		Short: "Draw words letter by letter: tables to train on and PNG sheets to look at",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return structured.BadInput("no folder to write to: give --out DIR")
			}
			if err := ocr.WriteOCR(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err := fmt.Printf("%s: %d words to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.IntVar(&o.Train, "train", o.Train, "`words` of training data")
	flags.IntVar(&o.Dev, "dev", o.Dev, "`words` of development data")
	flags.IntVar(&o.Test, "test", o.Test, "`words` of test data")
	flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "how strongly letters are distorted: 0 clean, 1 default, up to 10")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same words")
	return cmd
}
