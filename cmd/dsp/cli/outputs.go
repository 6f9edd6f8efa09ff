package cli

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/structured"
)

// writesFile are the verbs whose --out names a file; that of others is a folder, which they make.
var writesFile = []string{"calibrate", "import", "infer", "pack", "report"}

// checkOutputs refuses a file to write that is a folder, or an input, or whose folder does not exist, before any work is
// done.
// --to without an extension may be the name of a folder, which its verb makes.
// Of several ranks that share a verb rank 0 alone writes.
func checkOutputs(cmd *cobra.Command) error {
	if otherWrites(cmd.Name()) {
		return nil
	}
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
		if path == "-" {
			return structured.BadInput("--%s -: expected the name of a file%s", name, orPrinted(cmd))
		}
		if input := overwritten(cmd, path); input != "" {
			return structured.BadInput("--%s %s: this is what %s reads; expected another file", name, path, input)
		}
		if !toFile && filepath.Ext(path) == "" {
			continue
		}
		folder := filepath.Dir(path)
		if !isFolder(folder) {
			return noFolder(name, path, folder)
		}
		if about, err := os.Stat(path); err == nil && about.IsDir() && toFile && !takesFolder(cmd, name) {
			return structured.BadInput("--%s %s: this is a folder; expected a file", name, path)
		}
	}
	return nil
}

// orPrinted says how to have output printed, where a verb can.
func orPrinted(cmd *cobra.Command) string {
	if cmd.Name() == "predict" {
		return "; leave the flag out to print to standard output"
	}
	return ""
}

// readFlags are the flags that name files to read.
var readFlags = []string{"model", "input", "data", "train", "dev", "test", "gold", "predicted", "dense", "links", "boxes", "config", "template",
	"weights", "evidence"}

// overwritten returns the flag of an input that a file to write would replace, or the verb where it is an argument.
// import and calibrate may replace the model that they read.
func overwritten(cmd *cobra.Command, path string) string {
	to, err := os.Stat(path)
	if err != nil || !to.Mode().IsRegular() { // a terminal may be both
		return ""
	}
	for _, argument := range cmd.Flags().Args() {
		if about, err := os.Stat(argument); err == nil && os.SameFile(about, to) {
			return cmd.CommandPath()
		}
	}
	for _, name := range readFlags {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed || name == "model" && (cmd.Name() == "import" || cmd.Name() == "calibrate") {
			continue
		}
		for _, input := range formats.Files(f.Value.String()) {
			if name == "model" && isFolder(input) {
				input = filepath.Join(input, models.ModelFile)
			}
			if about, err := os.Stat(input); err == nil && os.SameFile(about, to) {
				return "--" + name
			}
		}
	}
	return ""
}

func isFolder(path string) bool {
	about, err := os.Stat(path)
	return err == nil && about.IsDir()
}

// noFolder is the error for a file to write in a folder that does not exist.
func noFolder(flag, path, folder string) error {
	return structured.BadInput("--%s %s: there is no folder %s; make it first", flag, path, folder)
}

// takesFolder reports whether a verb says itself what it does with a folder as --out or --to: calibrate writes the
// model in it, report names a file, export --release makes the folder of a pipeline.
func takesFolder(cmd *cobra.Command, flag string) bool {
	return flag == "out" && (cmd.Name() == "calibrate" || cmd.Name() == "report") || flag == "to" && isSet(cmd, "release")
}
