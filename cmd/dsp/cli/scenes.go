package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs/synthetic"
)

func scenesCommand() *cobra.Command {
	o, out := synthetic.DefaultOptions(), ""
	sizes, pixels := settings.Sizes{o.Train, o.Dev, o.Test}, settings.Sizes{o.Width, o.Height}
	cmd := &cobra.Command{
		Use:   "scenes --out DIR",
		Short: "Draw scenes of textured shapes: PNG images with masks of their classes",
		Long: `scenes draws textured shapes that hide one another. It writes images to train/images, dev/images and test/images, masks of the same names
to train/masks and so on, the names of the labels to labels.txt, and a sheet of scenes to scenes.png.`,
		Example: `  dsp data scenes --out scenes
  dsp data scenes --out scenes --classes 4 --examples 200,50,50`,
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
	flags.IntVar(&o.Classes, "classes", o.Classes, "classes of the shapes: `2|4`")
	flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "how much moss, noise and change of light and colour: `0..5`; 0 is plain, 2 hard for people")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same scenes")
	return cmd
}
