package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/exchange"
	"github.com/dsp-go/dsp/structured"
)

func exportCommand() *cobra.Command {
	var u use
	var to string
	var weights bool
	cmd := &cobra.Command{
		Use:   "export --model MODEL --to FILE",
		Short: "Write potentials for data, or a model's weights, for other programs",
		Long: `export writes the potentials that a model computes for data. For sequences these are the arrays node [ΣT×Y] and edge [Y×Y]
or [ΣT×Y×Y]. For trees they are arc [Σn²×1], label [Σn²×R] and arc_offsets; row d·n+h belongs to dependent d and head h, and
h = d stands for the root. For graphs they are node [ΣV×Y], edge
([ΣE×Y×Y], [types×Y×Y] or, for Potts edges, [ΣE×1]) and edge_offsets. For sentence pairs they are pair [Σn·m×1], whose row i·m+j belongs to source word i and target word j,
unmatched [Σn×1], pair_offsets and source_offsets. All add offsets [n+1], labels if the data has any, label_names and ids. With
--weights, export writes the network's parameters instead.`,
		Example: `  dsp export --model runs/ner --data test.conll --to potentials.npz
  dsp export --model runs/ner --weights --to weights.txt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case to == "":
				return structured.BadInput("no file to write: give --to FILE.npz or --to FILE.safetensors")
			case weights && u.data != "":
				return structured.BadInput("--weights writes the network's parameters, which need no --data; give only one of the two")
			}
			defer u.close()
			if err := u.export(cmd, weights, to); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]string{"to": to})
			}
			_, err := fmt.Println(to)
			return err
		},
	}
	u.addFlags(cmd)
	cmd.Flags().StringVar(&u.data, "data", "", "`FILE` to compute potentials for; builtin for the drawn words, trees or sentence pairs")
	cmd.Flags().BoolVar(&weights, "weights", false, "write the weights, not potentials")
	cmd.Flags().StringVar(&to, "to", "", "`FILE` to write: .npz or .safetensors, for weights also .txt")
	return cmd
}

func (u *use) export(cmd *cobra.Command, weights bool, to string) error {
	if weights {
		m, err := u.load()
		if err != nil {
			return err
		}
		return exchange.ExportWeights(m, to)
	}
	m, d, err := u.read("--data", false)
	if err != nil {
		return err
	}
	return exchange.ExportPotentials(cmd.Context(), m, d, to, u.threads)
}
