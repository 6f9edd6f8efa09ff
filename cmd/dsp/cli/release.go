package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/structured"
)

// release writes the model or the pipeline of u for others, and says what can still be read there. It reads no data, so
// it refuses the flags that are about data.
func release(cmd *cobra.Command, u *modelFlags, to string) error {
	for _, name := range append(slices.Clone(readingFlags), "weights") {
		if cmd.Flags().Changed(name) {
			return structured.BadInput("--%s has no effect with --release, which writes the model and reads no data; leave it out", name)
		}
	}
	if u.model == "" {
		return structured.BadInput("no model: give --model FILE, or --model DIR with the folder of a run or a pipeline")
	}
	if pipelines.Is(u.model) {
		p, err := u.encoder.loadPipeline(u.model)
		if err != nil {
			return err
		}
		stages, err := p.Release(u.model, to)
		if err != nil {
			return err
		}
		if isSet(cmd, "json") {
			return printJSON(os.Stdout, map[string]any{"to": to, "stages": stages})
		}
		for _, name := range slices.Sorted(maps.Keys(stages)) {
			if err := printReleased(os.Stdout, name+": ", stages[name]); err != nil {
				return err
			}
		}
		_, err = fmt.Println(to)
		return err
	}
	if filepath.Ext(to) != ".safetensors" || isFolder(to) {
		return structured.BadInput("--to %s: a model is released to a file FILE.safetensors", to)
	}
	m, err := u.encoder.load(u.model)
	if err != nil {
		return err
	}
	if m.Unfinished > 0 {
		return structured.BadInput("%s: the run is not finished; dsp train --resume continues it", u.model)
	}
	r, err := m.Release()
	if err != nil {
		return err
	}
	if err := m.Save(to); err != nil {
		return err
	}
	if isSet(cmd, "json") {
		return printJSON(os.Stdout, map[string]any{"to": to, "hashed": r.Hashed, "clear": r.Clear})
	}
	if err := printReleased(os.Stdout, "", r); err != nil {
		return err
	}
	_, err = fmt.Println(to)
	return err
}

func printReleased(w io.Writer, stage string, r models.Released) error {
	hashed := fmt.Sprintf("%d names hashed", r.Hashed)
	if r.Hashed == 0 { // a linear parser's attributes are hashes from the start
		hashed = "no names to hash"
	}
	_, err := fmt.Fprintf(w, "%s%s; in clear are %s\n", stage, hashed, strings.Join(r.Clear, ", "))
	return err
}
