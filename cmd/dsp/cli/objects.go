package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes/synthetic"
)

func objectsCommand() *cobra.Command {
	o, out := synthetic.DefaultOptions(), ""
	sizes, pixels := settings.Sizes{o.Train, o.Dev, o.Test}, settings.Sizes{o.Width, o.Height}
	cmd := &cobra.Command{
		Use:   "objects --out DIR",
		Short: "Draw scenes with an object to find: PNG images with boxes in COCO's format",
		Long: `objects draws scenes of one ladybird among leaves, petals, stones and beetles that resemble it. It writes the images to the folders
train, dev and test, their boxes to train.json, dev.json and test.json in COCO's format, and a sheet of scenes to scenes.png.`,
		Example: `  dsp data objects --out objects
  dsp data objects --out objects --examples 2000,200,200 --difficulty 1.5`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("no folder to write to: give --out DIR")
			case len(sizes) != 3:
				return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
			case len(pixels) != 2:
				return structured.BadInput("--pixels %v: expected two numbers, the width and the height", pixels)
			}
			o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
			o.Width, o.Height = pixels[0], pixels[1]
			if err := synthetic.Write(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err := fmt.Printf("%s: %d scenes to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.Var(&sizes, "examples", "how many scenes to draw for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.Var(&pixels, "pixels", "width and height of a scene, in pixels")
	flags.Lookup("pixels").Annotations = map[string][]string{unitKey: {"WIDTH,HEIGHT"}}
	flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "how much clutter, noise, rotation and occlusion: `0..5`; 0 is a ladybird on a meadow, 2 hard for people")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same scenes")
	return cmd
}
