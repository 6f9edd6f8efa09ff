package cli

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/exchange/onnx"
	"github.com/dsp-go/dsp/structured"
)

// readingFlags are those of export that say how data are read.
var readingFlags = []string{
	"data", "tagger", "format", "columns", "comments", "label", "dense", "boxes", "images", "links", "masks", "void", "mask-values", "max-words", "bad", "threads", "device",
}

// onnxFile is what dsp export --onnx writes.
type onnxFile struct {
	path string
	onnx.Options
}

// export writes the graph of a model. It reads no data, so it refuses the flags that are about data.
func (f *onnxFile) export(cmd *cobra.Command, u *modelFlags) error {
	for _, name := range append(slices.Clone(readingFlags), "to", "weights", "release") {
		if cmd.Flags().Changed(name) {
			return structured.BadInput("--%s has no effect with --onnx, which writes the model and reads no data; leave it out", name)
		}
	}
	if u.model == "" {
		return structured.BadInput("no model: give --model FILE, or --model DIR with the folder of a run")
	}
	m, err := u.encoder.load(u.model)
	if err != nil {
		return err
	}
	if err := m.NeedsNames("write an ONNX graph, whose users make the inputs"); err != nil {
		return err
	}
	s, err := onnx.Export(m, f.path, f.Options)
	if err != nil {
		return err
	}
	if !s.Decoded {
		slog.Warn("the graph computes potentials and does not decode: only sequences are decoded in ONNX", "structure", s.Structure)
	}
	slog.Info("wrote an ONNX graph", "inputs", strings.Join(s.Inputs, ","), "outputs", strings.Join(s.Outputs, ","))
	if isSet(cmd, "json") {
		return printJSON(os.Stdout, map[string]any{"to": f.path, "structure": s.Structure, "decoded": s.Decoded, "inputs": s.Inputs, "outputs": s.Outputs})
	}
	_, err = fmt.Println(f.path)
	return err
}
