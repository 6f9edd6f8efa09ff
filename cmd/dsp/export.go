package main

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
		Short: "Write potentials of data, or a model's weights, for other programs",
		Long: `export writes the potentials that a model gives data. Of sequences these are arrays node [ΣT×Y] and edge [Y×Y] or
[ΣT×Y×Y]; of trees arc [Σn²×1], label [Σn²×R] and arc_offsets, with row d·n+h for dependent d and head h, or the root where
h = d. Then come offsets [n+1], labels where there are any, label_names and ids.
With --weights it writes the network's parameters instead.`,
		Example: `  dsp export --model runs/ner --data test.conll --to potentials.npz
  dsp export --model runs/ner --weights --to weights.txt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case to == "":
				return structured.BadInput("where to? give --to FILE.npz or --to FILE.safetensors")
			case weights && u.data != "":
				return structured.BadInput("--weights writes the network's parameters, which need no --data; give one of them")
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
	cmd.Flags().StringVar(&u.data, "data", "", "`FILE` whose potentials are wanted; builtin for the drawn words or trees")
	cmd.Flags().BoolVar(&weights, "weights", false, "the weights, not potentials")
	cmd.Flags().StringVar(&to, "to", "", "`FILE` to write: .npz or .safetensors; weights also .txt")
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
