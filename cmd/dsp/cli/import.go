package cli

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
		Long: `import reads weights as text and writes a copy of MODEL with these weights. dsp export --weights writes such text for a
linear net on attributes, and you can edit it. A weight that is missing from the text is zero. An export that is imported
unchanged gives the same predictions, bit for bit.`,
		Example: `  dsp export --model runs/ner --weights --to weights.txt
  dsp import --weights weights.txt --model runs/ner --out edited.safetensors`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case weights == "":
				return structured.BadInput("no weights to read: give --weights FILE, a text that dsp export --weights wrote")
			case model == "":
				return structured.BadInput("no model: give --model FILE, or --model DIR with the folder of a run")
			case out == "":
				return structured.BadInput("no file to write: give --out FILE.safetensors")
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
	flags.StringVar(&model, "model", "", "`MODEL` file, or the folder of a run, that gets the weights")
	flags.StringVar(&out, "out", "", "`FILE` for the new model")
	flags.BoolVar(&add, "add", false, "add attributes that the model does not know, instead of refusing them")
	return cmd
}
