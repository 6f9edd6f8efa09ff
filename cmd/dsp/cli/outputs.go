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

// checkOutputs refuses a file to write that is a folder or whose folder does not exist, before any work is done.
// --to without an extension may be the name of a folder, which its verb makes.
func checkOutputs(cmd *cobra.Command) error {
	flags := []string{"to", "onnx", "picture", "pr-curve", "calibration", "expected-counts"}
	if slices.Contains(writesFile, cmd.Name()) {
		flags = append(flags, "out")
	}
	for _, name := range flags {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		path, toFile := f.Value.String(), name != "to" || cmd.Name() != "predict"
		if !toFile && filepath.Ext(path) == "" {
			continue
		}
		folder := filepath.Dir(path)
		if about, err := os.Stat(folder); err != nil || !about.IsDir() {
			return structured.BadInput("--%s %s: there is no folder %s; make it first", name, path, folder)
		}
		if about, err := os.Stat(path); err == nil && about.IsDir() && toFile && !takesFolder(cmd, name) {
			return structured.BadInput("--%s %s: this is a folder; expected a file", name, path)
		}
	}
	return nil
}

// takesFolder reports whether a verb says itself what it does with a folder as --out: calibrate writes the model in it, report names a file.
func takesFolder(cmd *cobra.Command, flag string) bool {
	return flag == "out" && (cmd.Name() == "calibrate" || cmd.Name() == "report")
}
