package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/exchange"
	"github.com/dsp-go/dsp/structured"
)

func importCommand() *cobra.Command {
	var model, weights, out string
	var add bool
	cmd := &cobra.Command{
		Use:   "import --weights FILE --model MODEL --out NEW",
		Short: "Put edited weights into a model",
		Long: `import reads the text that dsp export --weights writes of a linear net of attributes, after you have edited it perhaps, and
writes a model like MODEL with these weights. Weights that the text lacks are zero. What was exported and is imported
again predicts the same, to the bit.`,
		Example: `  dsp export --model runs/ner --weights --to weights.txt
  dsp import --weights weights.txt --model runs/ner --out edited.safetensors`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case weights == "":
				return structured.BadInput("which weights? give --weights FILE, a text that dsp export --weights wrote")
			case model == "":
				return structured.BadInput("which model? give --model FILE, or --model DIR with the folder of a run")
			case out == "":
				return structured.BadInput("where to? give --out FILE.safetensors")
			}
			m, err := models.Load(model)
			if err != nil {
				return err
			}
			if m, err = exchange.ImportWeights(m, weights, add); err != nil {
				return err
			}
			if err := m.Save(out); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]string{"model": out})
			}
			_, err = fmt.Println(out)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&weights, "weights", "", "`FILE` with the weights as text")
	flags.StringVar(&model, "model", "", "`MODEL` file, or the folder of a run, that the weights are for")
	flags.StringVar(&out, "out", "", "`FILE` for the new model")
	flags.BoolVar(&add, "add", false, "attributes that the model does not know are new, not mistakes")
	return cmd
}
