package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	drawnpairs "github.com/dsp-go/dsp/models/drawn/bitext"
	drawntrees "github.com/dsp-go/dsp/models/drawn/dependencies"
	drawnobjects "github.com/dsp-go/dsp/models/drawn/objects"
	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/models/drawn/scenes"
	drawntext "github.com/dsp-go/dsp/models/drawn/sentences"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

func dataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data VERB",
		Short: "Write data to files: drawn words, sentences, trees, scenes or graphs, sentence pairs, or the attributes of text",
		Args:  noVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(ocrCommand(), textCommand(), treesCommand(), objectsCommand(), scenesCommand(), graphsCommand(), pairsCommand(), attributesCommand(), packCommand())
	return cmd
}

func ocrCommand() *cobra.Command {
	o, out := ocr.DefaultOCRWords(), ""
	cmd := &cobra.Command{
		Use:   "ocr --out DIR",
		Short: "Draw words letter by letter: tables to train on and PNG sheets to look at",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return structured.BadInput("no folder to write to: give --out DIR")
			}
			if err := ocr.WriteOCR(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err := fmt.Printf("%s: %d words to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.IntVar(&o.Train, "train", o.Train, "`words` of training data")
	flags.IntVar(&o.Dev, "dev", o.Dev, "`words` of development data")
	flags.IntVar(&o.Test, "test", o.Test, "`words` of test data")
	flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "how strongly letters are distorted: 0 clean, 1 default, up to 10")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same words")
	return cmd
}

func textCommand() *cobra.Command {
	o, out := drawntext.DefaultTaggedText(), ""
	sizes := settings.Sizes{o.Train, o.Dev, o.Test}
	cmd := &cobra.Command{
		Use:   "text --out DIR",
		Short: "Draw sentences with entity tags: text in columns to train on",
		Long: `text draws sentences with dates and with names of persons, places and organisations. It writes them to train.conll,
dev.conll and test.conll, one token per line, with the word, its part of speech and its tag in IOB2. Many names in the test
sentences are new, and many name a person in one sentence and a place in another.`,
		Example: `  dsp data text --out text
  dsp train --train text/train.conll --dev text/dev.conll --out runs/text
  dsp eval --model runs/text --data text/test.conll`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("no folder to write to: give --out DIR")
			case len(sizes) != 3:
				return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
			}
			o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
			if err := drawntext.WriteTaggedText(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err := fmt.Printf("%s: %d sentences to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.Var(&sizes, "examples", "how many sentences to draw for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same sentences")
	return cmd
}

func treesCommand() *cobra.Command {
	o, out := drawntrees.DefaultOptions(), ""
	sizes := settings.Sizes{o.Train, o.Dev, o.Test}
	cmd := &cobra.Command{
		Use:   "trees --out DIR",
		Short: "Draw sentences with dependency trees: treebanks in CoNLL-U",
		Long: `trees draws sentences with their dependency trees. It writes them to train.conllu, dev.conllu and test.conllu, in CoNLL-U with
the relations of Universal Dependencies. Where a phrase or clause attaches depends mostly, but not only, on the words. Some words
are both nouns and verbs, and some of those carry the wrong tag. Phrases that move away from their noun, at the rate given by
--extraposition, make trees non-projective.`,
		Example: `  dsp data trees --out trees
  dsp data trees --out trees --examples 20000,1000,1000 --extraposition 0.3`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("no folder to write to: give --out DIR")
			case len(sizes) != 3:
				return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
			}
			o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
			if err := drawntrees.Write(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err := fmt.Printf("%s: %d sentences to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.Var(&sizes, "examples", "how many sentences to draw for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.Float64Var(&o.Extraposition, "extraposition", o.Extraposition, "`share` of the movable phrases that move away from their noun, from 0 to 1")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same sentences")
	return cmd
}

func objectsCommand() *cobra.Command {
	o, out := drawnobjects.DefaultOptions(), ""
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
			if err := drawnobjects.Write(out, o); err != nil {
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

func pairsCommand() *cobra.Command {
	o, out := drawnpairs.DefaultOptions(), ""
	sizes := settings.Sizes{o.Train, o.Dev, o.Test}
	cmd := &cobra.Command{
		Use:   "pairs --out DIR",
		Short: "Draw sentence pairs in two made-up languages, with the links of their words",
		Long: `pairs draws sentence pairs from a small grammar and writes them to train.pairs, dev.pairs and test.pairs, one pair per line:
source ||| target ||| links. Words are ambiguous and take endings, and translate to one word, to two or to none; adjectives and verbs
move. With --bitext it also writes pairs without links to bitext.pairs, for dsp train --bitext.`,
		Example: `  dsp data pairs --out pairs
  dsp data pairs --out pairs --examples 5000,500,500 --bitext 20000 --difficulty 1`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("no folder to write to: give --out DIR")
			case len(sizes) != 3:
				return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
			}
			o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
			if err := drawnpairs.Write(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test, "bitext": o.Bitext})
			}
			_, err := fmt.Printf("%s: %d sentence pairs to train, %d dev, %d test, %d without links\n", out, o.Train, o.Dev, o.Test, o.Bitext)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.Var(&sizes, "examples", "how many sentence pairs to draw for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.IntVar(&o.Bitext, "bitext", o.Bitext, "how many `pairs` without links to draw")
	flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "`share` from 0 to 1: more makes more words ambiguous, more words move, and more translations free")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same sentence pairs")
	return cmd
}

func scenesCommand() *cobra.Command {
	o, out := scenes.DefaultOptions(), ""
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
			if err := scenes.Write(out, o); err != nil {
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
