package cli

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/structured"
)

// writesFile are the verbs whose --out names a file; that of others is a folder, which they make.
var writesFile = []string{"calibrate", "import", "infer", "pack", "report"}

// checkOutputs refuses a file to write whose folder does not exist, before any work is done. Names without an extension may be those of folders.
func checkOutputs(cmd *cobra.Command) error {
	flags := []string{"to", "onnx", "picture", "pr-curve", "calibration", "expected-counts"}
	if slices.Contains(writesFile, cmd.Name()) {
		flags = append(flags, "out")
	}
	for _, name := range flags {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed || name != "out" && filepath.Ext(f.Value.String()) == "" {
			continue
		}
		folder := filepath.Dir(f.Value.String())
		if about, err := os.Stat(folder); err != nil || !about.IsDir() {
			return structured.BadInput("--%s %s: there is no folder %s; make it first", name, f.Value, folder)
		}
	}
	return nil
}
