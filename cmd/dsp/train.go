package main

import (
	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
)

func trainCommand() *cobra.Command {
	flagged, file := models.Default(), ""
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a network; with no flags, the default one on built-in data",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := settings(cmd, file, &flagged)
			if err != nil {
				return err
			}
			_ = c
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "YAML `FILE` with any of these settings; flags win over it")
	addSettings(cmd, &flagged)
	return cmd
}
