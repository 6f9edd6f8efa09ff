package cli

import (
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/exchange"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

func exportCommand() *cobra.Command {
	var u modelFlags
	var to string
	var weights, released bool
	var graph onnxFile
	cmd := &cobra.Command{
		Use:   "export --model MODEL --to FILE",
		Short: "Write potentials for data, a model's weights, or a model as ONNX, for other programs, or a model to give away",
		Long: `export writes the potentials that a model computes for data. For sequences these are the arrays node [ΣT×Y] and edge [Y×Y]
or [ΣT×Y×Y]. For trees they are arc [Σn²×1], label [Σn²×R] and arc_offsets; row d·n+h belongs to dependent d and head h,
and h = d stands for the root. For graphs they are node [ΣV×Y], edge ([ΣE×Y×Y], [types×Y×Y] or, for Potts edges, [ΣE×1]) and
edge_offsets. For sentence pairs they are pair [Σn·m×1], whose row i·m+j belongs to source word i and target word j, unmatched
[Σn×1], pair_offsets and source_offsets. All add offsets [n+1], labels if the data has any, label_names and ids. With
--weights, export writes the network's parameters instead.

With --onnx, export writes the model as an ONNX graph, which runtimes of other languages run: the network and, for
sequences, the decoding. Its outputs are labels [B×T] and score [B], with --marginals also marginals [B×T×Y]; of other
structures it computes the potentials only. docs/guide/onnx.md describes its inputs.

With --release, export writes a model that predicts the same and tells less about its maker: no names of files, and hashes
in place of the names of attributes and words. Of a pipeline it writes a folder without the training text. It says what can
still be read. SECURITY.md tells more.`,
		Example: `  dsp export --model runs/ner --data test.conll --to potentials.npz
  dsp export --model runs/ner --weights --to weights.txt
  dsp export --model runs/ner --onnx ner.onnx --marginals
  dsp export --model runs/ner --release --to ner.safetensors`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case graph.path != "":
				return graph.export(cmd, &u)
			case isSet(cmd, "marginals"):
				return structured.BadInput("--marginals goes with --onnx FILE; dsp predict --marginals prints probabilities")
			case to == "":
				return structured.BadInput("no file to write: give --to FILE.npz, --to FILE.safetensors or --onnx FILE")
			case released:
				return release(cmd, &u, to)
			}
			for _, name := range readingFlags {
				if weights && name != "threads" && cmd.Flags().Changed(name) {
					return structured.BadInput("--%s has no effect with --weights, which writes the network's parameters and reads no data; leave it out", name)
				}
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
	u.taggers.addFlag(cmd)
	cmd.Flags().Var(&fileList{to: &u.Path}, "data", "`FILE,...` to compute potentials for, one or several; builtin for the drawn words, trees, sentence pairs, lines, scenes or graphs")
	cmd.Flags().BoolVar(&weights, "weights", false, "write the weights, not potentials")
	cmd.Flags().BoolVar(&released, "release", false, "write a model to give away: no names of files, and hashes in place of the names of attributes and words")
	cmd.Flags().StringVar(&to, "to", "", "`FILE` to write: .npz or .safetensors, for weights also .txt; with --release .safetensors, or a new folder for a pipeline")
	cmd.Flags().StringVar(&graph.path, "onnx", "", "`FILE` to write the model to as an ONNX graph: network and decoding for sequences, potentials for other structures")
	cmd.Flags().BoolVar(&graph.Marginals, "marginals", false, "with --onnx: add an output with the probability of every label at every position")
	putFirst(cmd, "model", "data", "format", "to", "weights", "release", "onnx", "marginals")
	return cmd
}

func (u *modelFlags) export(cmd *cobra.Command, weights bool, to string) error {
	if weights {
		m, err := u.load(cmd.Context())
		if err != nil {
			return err
		}
		return exchange.ExportWeights(m, to)
	}
	m, d, err := u.read(cmd.Context(), "--data", false)
	if err != nil {
		return err
	}
	return exchange.ExportPotentials(cmd.Context(), m, d, to, u.Threads)
}

func importCommand() *cobra.Command {
	var model, weights, out string
	var encoder encoderFolder
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
			m, err := encoder.load(model)
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
	encoder.addFlag(cmd)
	flags.StringVar(&out, "out", "", "`FILE` for the new model")
	flags.BoolVar(&add, "add", false, "add attributes that the model does not know, instead of refusing them")
	return cmd
}

// attributeSettings names the training settings that decide which attributes text gets.
var attributeSettings = []string{"format", "columns", "comments", "label", "scheme", "features", "template", "clusters", "gazetteer", "min-count", "hash-bits", "threads"}

func attributesCommand() *cobra.Command {
	c, to, model := config.Default(), "", ""
	var encoder encoderFolder
	cmd := &cobra.Command{
		Use:   "attributes --input FILE --to FILE",
		Short: "Write the attributes that train makes of text, in CRFsuite's format",
		Long: `attributes writes the attributes that dsp train would extract from text in columns, one token per line, in the format of
CRFsuite: the gold label, then the attributes, separated by tabs. The format has no place for attributes of transitions.
With --model they are those that the model makes of the text, and knows; its text needs no gold labels.`,
		Example: `  dsp data attributes --features ner --input train.conll --to train.crfsuite
  dsp data attributes --model runs/ner --input test.conll --to test.crfsuite
  dsp data attributes --template my.template --input dev.conllu --label xpos --to dev.crfsuite`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case c.Train == "":
				return structured.BadInput("no text to read: give --input FILE")
			case to == "":
				return structured.BadInput("no file to write: give --to FILE.crfsuite")
			}
			takeFlags(cmd, config.Settings(&c), config.Settings(&c))
			d, err := writeAttributes(cmd, c, model, &encoder, to)
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
	flags.StringVar(&model, "model", "", "`MODEL` whose attributes to make of the text, instead of those that training would make; it decides how they are made")
	encoder.addFlag(cmd)
	addSettings(cmd, slices.DeleteFunc(config.Settings(&c), func(s settings.Setting) bool {
		return !slices.Contains(attributeSettings, s.Name)
	}))
	return cmd
}

// writeAttributes writes the attributes that training with settings c makes of c.Train or, with a model, those that it
// makes.
func writeAttributes(cmd *cobra.Command, c config.Config, model string, encoder *encoderFolder, to string) (*structured.Dataset, error) {
	if model == "" {
		if encoder.path != "" {
			return nil, structured.BadInput("--encoder %s is of a model: add --model MODEL", encoder.path)
		}
		return exchange.WriteAttributes(cmd.Context(), c, to)
	}
	for _, name := range attributeSettings {
		if cmd.Flags().Changed(name) && !slices.Contains([]string{"format", "columns", "comments", "label", "threads"}, name) {
			return nil, structured.BadInput("--%s has no effect with --model, which says how attributes are made", name)
		}
	}
	m, err := encoder.load(model)
	if err != nil {
		return nil, err
	}
	say := models.RemarksFor(models.RefuseBad)
	d, err := exchange.WriteAttributesOf(cmd.Context(), m, models.Request{Path: c.Train, Format: c.Format, Columns: c.Columns, Comments: c.Comments, Label: c.Label, Threads: c.Threads, Remarks: say}, to)
	if err == nil {
		say.Log(slog.Default())
	}
	return d, err
}
