package cli

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/exchange"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// attributeSettings names the training settings that decide which attributes text gets.
var attributeSettings = []string{"format", "columns", "label", "scheme", "features", "template", "clusters", "gazetteer", "min-count", "hash-bits", "threads"}

func attributesCommand() *cobra.Command {
	c, to := config.Default(), ""
	cmd := &cobra.Command{
		Use:   "attributes --input FILE --to FILE",
		Short: "Write the attributes that train makes of text, in CRFsuite's format",
		Long: `attributes writes the attributes that dsp train would extract from text in columns, one token per line, in the format of
CRFsuite: the gold label, then the attributes, separated by tabs. The format has no place for attributes of transitions.`,
		Example: `  dsp data attributes --features ner --input train.conll --to train.crfsuite
  dsp data attributes --template my.template --input dev.conllu --label xpos --to dev.crfsuite`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case c.Train == "":
				return structured.BadInput("no text to read: give --input FILE")
			case to == "":
				return structured.BadInput("no file to write: give --to FILE.crfsuite")
			}
			d, err := exchange.WriteAttributes(c, to)
			if err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"to": to, "sequences": d.Len(), "tokens": d.Positions(),
					"attributes": d.Dictionary.Nodes()})
			}
			_, err = fmt.Printf("%s: %d sequences, %d tokens, %d attributes\n", to, d.Len(), d.Positions(), d.Dictionary.Nodes())
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.Train, "input", "", "`FILE` with text in columns and gold labels")
	flags.StringVar(&to, "to", "", "`FILE` to write")
	addSettings(cmd, slices.DeleteFunc(config.Settings(&c), func(s settings.Setting) bool {
		return !slices.Contains(attributeSettings, s.Name)
	}))
	return cmd
}
