package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs/packs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// packed is what data pack prints with --json.
type packed struct {
	Out   string `json:"out"` // the file
	Bytes int64  `json:"bytes"`
	packs.Summary
}

func packCommand() *cobra.Command {
	c, out, file := config.Default(), "", ""
	flagged := config.Default()
	cmd := &cobra.Command{
		Use:   "pack --train FILE --out PACK",
		Short: "Write training data and their inputs to one file, which training maps into memory",
		Long: `pack reads training data as dsp train does, makes their inputs, and writes both to one file. dsp train --train PACK maps that
file into memory. The system loads what is used, so the data may be larger than memory, and training begins at once.

Training on a pack and training on its data give the same model, to the bit. Flags say how to read the data and which inputs to
make; the pack keeps them.
Text with a token per line and attributes is packed piece by piece, in little memory; other data are read whole.`,
		Example: `  dsp data pack --train train.conll --out train.pack
  dsp train --train train.pack --dev dev.conll --out runs/ner
  dsp data pack --train train.conll --columns word=0,pos=1,label=-1 --min-count 2 --out train.pack`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("no file to write to: give --out PACK")
			case flagged.Train == "":
				return structured.BadInput("no data to pack: give --train FILE")
			}
			if file != "" {
				var err error
				if c, err = config.ReadConfig(file); err != nil {
					return err
				}
			}
			takeFlags(cmd, config.Settings(&flagged), config.Settings(&c))
			s, err := pack(cmd.Context(), c, out)
			if err != nil {
				return err
			}
			s.NotUTF8.Warn(slog.Default(), c.Train)
			info, err := os.Stat(out)
			if err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, packed{out, info.Size(), s})
			}
			_, err = fmt.Printf("%s: %d examples, %d positions, %d labels, %d attributes, %.1f MB\n", out, s.Examples, s.Positions, s.Labels, s.Total(),
				float64(info.Size())/1e6)
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`PACK` to write")
	cmd.Flags().StringVar(&file, "config", "", "YAML `FILE` with settings of dsp train; flags override it")
	var shown = config.Settings(&flagged)
	kept := shown[:0:0]
	for _, s := range shown {
		if packs.Uses(s) {
			kept = append(kept, s)
		}
	}
	addSettings(cmd, kept)
	putFirst(cmd, "out", "train", "task", "format", "columns", "net", "config")
	helpOn(cmd, &flagged)
	return cmd
}

// pack packs the training data that the settings name.
func pack(ctx context.Context, given config.Config, out string) (packs.Summary, error) {
	r, err := models.Resolve(given)
	if err != nil {
		return packs.Summary{}, err
	}
	c := r.Config()
	if err := packs.CheckGiven(&c); err != nil {
		return packs.Summary{}, err
	}
	if packs.Streams(&c) {
		s, err := packs.Stream(ctx, out, &c, r.Remarks())
		if err == nil {
			r.Remarks().Log(slog.Default())
		}
		if !errors.Is(err, packs.ErrBrackets) {
			return s, err
		}
		if r, err = models.Resolve(given); err != nil { // to read it whole, and say each remark once
			return packs.Summary{}, err
		}
	}
	data, err := host.Await(ctx, r.Data)
	if err != nil {
		return packs.Summary{}, err
	}
	r.Remarks().Log(slog.Default())
	return data.Pack(out, &c)
}
