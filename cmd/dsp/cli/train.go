package cli

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
)

func trainCommand() *cobra.Command {
	flagged, file := config.Default(), ""
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a network; without flags, the default network on built-in data",
		Long: `train reads or draws data, trains a network and leaves a run folder with the model, the metrics of every pass, curves and
a checkpoint. Without flags it draws words as images of their letters, trains a small convolutional network to read them, and
compares methods. After an interrupt (Ctrl-C) it saves a checkpoint: --resume continues to the same bits.`,
		Example: `  dsp train
  dsp train --train train.conll --dev dev.conll --out runs/ner
  dsp train --train train.conllu --label xpos --reg 0.5 --out runs/pos
  dsp train --train letter.data --fold 0 --net linear --method bcfw --gap 0.01
  dsp train --task pipeline --train train.conllu --dev dev.conllu --out runs/english
  dsp train --config runs/ner/config.yaml --seed 2 --out runs/ner2
  dsp train --resume runs/ner --passes 100`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := trainSettings(cmd, file, &flagged)
			if err != nil {
				return err
			}
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(50) // most memory is arrays, which cost the collector nothing, and garbage is rare
			}
			s := sharing{how: c.Ranks}
			return s.asRank(cmd.Context(), c.Quiet, func(ctx context.Context) error {
				if s.leads() {
					for _, s := range slowPaths() {
						slog.Info("a slow path is in use: "+s.Part, "faster", s.Remedy)
					}
				}
				c.Threads = s.ownThreads(c.Threads)
				options := training.TrainOptions{Version: version(), Log: slog.Default(), Console: os.Stderr, Ranks: s.member}
				if c.Task == pipelines.Task {
					return trainPipeline(ctx, c, options)
				}
				result, err := training.Train(ctx, c, options)
				switch {
				case err != nil || !s.leads():
					return err
				case c.JSON:
					return printJSON(os.Stdout, result)
				}
				return printResult(os.Stdout, result)
			})
		},
	}
	addSettings(cmd, config.Settings(&flagged))
	cmd.Flags().StringVar(&file, "config", "", "YAML `FILE` with any of these settings; flags override it")
	putFirst(cmd, "task", "train", "dev", "test", "out", "net", "loss", "method", "reg", "passes", "gap", "config", "resume")
	helpOn(cmd, &flagged)
	return cmd
}

// trainSettings assembles the configuration of a command line: the resumed run's, the file's or the defaults,
// overridden by the flags.
func trainSettings(cmd *cobra.Command, file string, flagged *config.Config) (config.Config, error) {
	c, err := config.Default(), error(nil)
	switch {
	case file != "" && flagged.Resume != "":
		return c, structured.BadInput("--config and --resume cannot be combined: a resumed run already has a configuration")
	case file != "":
		c, err = config.ReadConfig(file)
	case flagged.Resume != "":
		c, err = training.ReadRun(flagged.Resume)
	}
	if err == nil {
		err = cmp.Or(noFile(cmd), outOfResumed(cmd, flagged.Resume))
	}
	if err != nil {
		return c, err
	}
	takeFlags(cmd, config.Settings(flagged), config.Settings(&c))
	c.JSON = c.JSON || isSet(cmd, "json")
	c.Quiet = c.Quiet || isSet(cmd, "quiet")
	return c, nil
}

// noFile refuses --train with an empty name, such as that of a variable of a shell that is not set: data would be drawn
// in its place.
func noFile(cmd *cobra.Command) error {
	if f := cmd.Flags().Lookup("train"); f.Changed && f.Value.String() == "" {
		return structured.BadInput("--train \"\": expected a file; leave --train out to draw data")
	}
	return nil
}

// outOfResumed refuses --out beside --resume unless both are the same folder: a run goes on where it is.
func outOfResumed(cmd *cobra.Command, resume string) error {
	out := cmd.Flags().Lookup("out")
	if resume == "" || !out.Changed || sameFolder(out.Value.String(), resume) {
		return nil
	}
	return structured.BadInput("--out %s has no effect with --resume %s, which goes on in its own folder; leave --out out, or copy the folder and resume the copy", out.Value, resume)
}

// sameFolder reports whether two paths name one folder, which need not exist.
func sameFolder(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || err1 == nil && err2 == nil && os.SameFile(x, y)
}
