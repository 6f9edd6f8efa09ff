package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	drawnpairs "github.com/dsp-go/dsp/models/drawn/bitext"
	drawntrees "github.com/dsp-go/dsp/models/drawn/dependencies"
	drawnobjects "github.com/dsp-go/dsp/models/drawn/objects"
	"github.com/dsp-go/dsp/models/drawn/ocr"
	drawnphrases "github.com/dsp-go/dsp/models/drawn/phrases"
	"github.com/dsp-go/dsp/models/drawn/randomgraphs"
	"github.com/dsp-go/dsp/models/drawn/scenes"
	drawntext "github.com/dsp-go/dsp/models/drawn/sentences"
	drawnspellings "github.com/dsp-go/dsp/models/drawn/spellings"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

func dataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data VERB",
		Short: "Write data to files: drawn words, sentences, trees, scenes or graphs, sentence pairs, spellings, or the attributes of text",
		Args:  noVerb,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(ocrCommand(), textCommand(), treesCommand(), constituentsCommand(), linesCommand(), objectsCommand(), scenesCommand(), graphsCommand(), pairsCommand(), spellingsCommand(), attributesCommand(), packCommand())
	return cmd
}

// drawing is a command that draws data for training, development and test into a folder.
type drawing struct {
	noun             string // what it draws
	train, dev, test *int   // how many
	apart            bool   // they have a flag each
	width, height    *int   // of pictures; else nil
	seed             *uint64
	bitext           *int                       // how many pairs without links are drawn as well; else nil
	flags            func(flags *pflag.FlagSet) // adds those of its own
	write            func(dir string) error
}

// command completes cmd.
func (d drawing) command(cmd *cobra.Command) *cobra.Command {
	out, sizes := "", settings.Sizes{*d.train, *d.dev, *d.test}
	var pixels settings.Sizes
	if d.width != nil {
		pixels = settings.Sizes{*d.width, *d.height}
	}
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case out == "":
			return structured.BadInput("no folder to write to: give --out DIR")
		case len(sizes) != 3:
			return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
		case d.width != nil && len(pixels) != 2:
			return structured.BadInput("--pixels %v: expected two numbers, the width and the height", pixels)
		}
		if !d.apart {
			*d.train, *d.dev, *d.test = sizes[0], sizes[1], sizes[2]
		}
		if *d.train == 0 && *d.dev == 0 && *d.test == 0 && (d.bitext == nil || *d.bitext == 0) {
			return structured.BadInput("0 %s in all: nothing to draw", d.noun)
		}
		if d.width != nil {
			*d.width, *d.height = pixels[0], pixels[1]
		}
		if err := d.write(out); err != nil {
			if refused := new(fs.PathError); errors.As(err, &refused) && refused.Op == "mkdir" {
				return structured.BadInput("--out: %w", refused)
			}
			return err
		}
		facts := map[string]any{"out": out, "train": *d.train, "dev": *d.dev, "test": *d.test}
		text := fmt.Sprintf("%s: %d %s to train, %d dev, %d test", out, *d.train, d.noun, *d.dev, *d.test)
		if d.bitext != nil {
			facts["bitext"] = *d.bitext
			text += fmt.Sprintf(", %d without links", *d.bitext)
		}
		if isSet(cmd, "json") {
			return printJSON(os.Stdout, facts)
		}
		_, err := fmt.Println(text)
		return err
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	if d.apart {
		flags.IntVar(d.train, "train", *d.train, "`"+d.noun+"` of training data")
		flags.IntVar(d.dev, "dev", *d.dev, "`"+d.noun+"` of development data")
		flags.IntVar(d.test, "test", *d.test, "`"+d.noun+"` of test data")
	} else {
		flags.Var(&sizes, "examples", "how many "+d.noun+" to draw for training, development and test")
		flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	}
	if d.width != nil {
		flags.Var(&pixels, "pixels", "width and height of a scene, in pixels")
		flags.Lookup("pixels").Annotations = map[string][]string{unitKey: {"WIDTH,HEIGHT"}}
	}
	if d.flags != nil {
		d.flags(flags)
	}
	flags.Uint64Var(d.seed, "seed", *d.seed, "seed `N`: the same one draws the same "+d.noun)
	return cmd
}

func ocrCommand() *cobra.Command {
	o := ocr.DefaultOCRWords()
	return drawing{
		noun: "words", train: &o.Train, dev: &o.Dev, test: &o.Test, seed: &o.Seed, apart: true,
		flags: func(flags *pflag.FlagSet) {
			flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "`X` is how strongly letters are distorted: 0 clean, 1 default, up to 10")
		},
		write: func(dir string) error { return ocr.WriteOCR(dir, o) },
	}.command(&cobra.Command{
		Use:   "ocr --out DIR",
		Short: "Draw words letter by letter: tables to train on and PNG sheets to look at",
	})
}

func textCommand() *cobra.Command {
	o := drawntext.DefaultTaggedText()
	return drawing{
		noun: "sentences", train: &o.Train, dev: &o.Dev, test: &o.Test, seed: &o.Seed,
		write: func(dir string) error { return drawntext.WriteTaggedText(dir, o) },
	}.command(&cobra.Command{
		Use:   "text --out DIR",
		Short: "Draw sentences with entity tags: text in columns to train on",
		Long: `text draws sentences with dates and with names of persons, places and organisations. It writes them to train.conll,
dev.conll and test.conll, one token per line, with the word, its part of speech and its tag in IOB2. Many names in the test
sentences are new, and many name a person in one sentence and a place in another.`,
		Example: `  dsp data text --out text
  dsp train --train text/train.conll --dev text/dev.conll --out runs/text
  dsp eval --model runs/text --data text/test.conll`,
	})
}

func treesCommand() *cobra.Command {
	o := drawntrees.DefaultOptions()
	return drawing{
		noun: "sentences", train: &o.Train, dev: &o.Dev, test: &o.Test, seed: &o.Seed,
		flags: func(flags *pflag.FlagSet) {
			flags.Float64Var(&o.Extraposition, "extraposition", o.Extraposition, "`share` of the movable phrases that move away from their noun, from 0 to 1")
		},
		write: func(dir string) error { return drawntrees.Write(dir, o) },
	}.command(&cobra.Command{
		Use:   "trees --out DIR",
		Short: "Draw sentences with dependency trees: treebanks in CoNLL-U",
		Long: `trees draws sentences with their dependency trees. It writes them to train.conllu, dev.conllu and test.conllu, in CoNLL-U with
the relations of Universal Dependencies. Where a phrase or clause attaches depends mostly, but not only, on the words. Some words
are both nouns and verbs, and some of those carry the wrong tag. Phrases that move away from their noun, at the rate given by
--extraposition, make trees non-projective.`,
		Example: `  dsp data trees --out trees
  dsp data trees --out trees --examples 20000,1000,1000 --extraposition 0.3`,
	})
}

func constituentsCommand() *cobra.Command {
	sizes, seed := drawnphrases.DefaultSizes(), uint64(1)
	return drawing{
		noun: "sentences", train: &sizes[0], dev: &sizes[1], test: &sizes[2], seed: &seed,
		write: func(dir string) error { return drawnphrases.Write(dir, sizes, seed) },
	}.command(&cobra.Command{
		Use:   "constituents --out DIR",
		Short: "Draw sentences with trees of constituents, in brackets as in the Penn Treebank",
		Long: `constituents draws sentences with their trees of constituents. It writes them to train.penn, dev.penn and test.penn, one per line,
in brackets as in the Penn Treebank. Where a phrase or clause attaches depends mostly, but not only, on the words, and some
words carry the wrong tag.`,
		Example: `  dsp data constituents --out constituents
  dsp data constituents --out constituents --examples 5000,500,500`,
	})
}

func linesCommand() *cobra.Command {
	o := ocr.DefaultTextLines()
	return drawing{
		noun: "lines", train: &o.Train, dev: &o.Dev, test: &o.Test, seed: &o.Seed,
		flags: func(flags *pflag.FlagSet) {
			flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "`X` is how strongly letters are distorted: 0 clean, 1 default, up to 10")
		},
		write: func(dir string) error { return ocr.WriteTextLines(dir, o) },
	}.command(&cobra.Command{
		Use:   "lines --out DIR",
		Short: "Draw lines of handwriting-like words: PNG images of varying width, with what they read",
		Long: `lines draws lines of one to three words in hands that change from line to line. It writes the images to the folders train, dev and test,
each with a file lines.txt: the name of an image, a tab and what it reads on each line. A tenth of the word list occurs in the test
lines only.`,
		Example: `  dsp data lines --out lines
  dsp train --task transcribe --train lines/train --dev lines/dev --out runs/lines
  dsp predict --model runs/lines --input lines/test --beam 20 --score`,
	})
}

func objectsCommand() *cobra.Command {
	o := drawnobjects.DefaultOptions()
	return drawing{
		noun: "scenes", train: &o.Train, dev: &o.Dev, test: &o.Test, seed: &o.Seed, width: &o.Width, height: &o.Height,
		flags: func(flags *pflag.FlagSet) {
			flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "how much clutter, noise, rotation and occlusion: `0..5`; 0 is a ladybird on a meadow, 2 hard for people")
		},
		write: func(dir string) error { return drawnobjects.Write(dir, o) },
	}.command(&cobra.Command{
		Use:   "objects --out DIR",
		Short: "Draw scenes with an object to find: PNG images with boxes in COCO's format",
		Long: `objects draws scenes of one ladybird among leaves, petals, stones and beetles that resemble it. It writes the images to the folders
train, dev and test, their boxes to train.json, dev.json and test.json in COCO's format, and a sheet of scenes to scenes.png.`,
		Example: `  dsp data objects --out objects
  dsp data objects --out objects --examples 2000,200,200 --difficulty 1.5`,
	})
}

func pairsCommand() *cobra.Command {
	o := drawnpairs.DefaultOptions()
	return drawing{
		noun: "sentence pairs", train: &o.Train, dev: &o.Dev, test: &o.Test, seed: &o.Seed, bitext: &o.Bitext,
		flags: func(flags *pflag.FlagSet) {
			flags.IntVar(&o.Bitext, "bitext", o.Bitext, "how many `pairs` without links to draw")
			flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "`share` from 0 to 1: more makes more words ambiguous, more words move, and more translations free")
		},
		write: func(dir string) error { return drawnpairs.Write(dir, o) },
	}.command(&cobra.Command{
		Use:   "pairs --out DIR",
		Short: "Draw sentence pairs in two made-up languages, with the links of their words",
		Long: `pairs draws sentence pairs from a small grammar and writes them to train.pairs, dev.pairs and test.pairs, one pair per line:
source ||| target ||| links. Words are ambiguous and take endings, and translate to one word, to two or to none; adjectives and verbs
move. With --bitext it also writes pairs without links to bitext.pairs, for dsp train --bitext.`,
		Example: `  dsp data pairs --out pairs
  dsp data pairs --out pairs --examples 5000,500,500 --bitext 20000 --difficulty 1`,
	})
}

func spellingsCommand() *cobra.Command {
	sizes, seed := drawnspellings.DefaultSizes(), uint64(1)
	return drawing{
		noun: "words", train: &sizes[0], dev: &sizes[1], test: &sizes[2], seed: &seed,
		write: func(dir string) error { return drawnspellings.Write(dir, sizes, seed) },
	}.command(&cobra.Command{
		Use:   "spellings --out DIR",
		Short: "Draw words with their sounds, and which letters spell which sounds",
		Long: `spellings draws made-up words and writes them to train.pairs, dev.pairs and test.pairs, one per line: letters ||| sounds ||| links. The
links never cross, and leave no letter and no sound out, as dsp train --task warp learns them.`,
		Example: `  dsp data spellings --out spellings
  dsp data spellings --out spellings --examples 5000,500,500 --seed 2`,
	})
}

func scenesCommand() *cobra.Command {
	o := scenes.DefaultOptions()
	return drawing{
		noun: "scenes", train: &o.Train, dev: &o.Dev, test: &o.Test, seed: &o.Seed, width: &o.Width, height: &o.Height,
		flags: func(flags *pflag.FlagSet) {
			flags.IntVar(&o.Classes, "classes", o.Classes, "classes of the shapes: `2|4`")
			flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "how much moss, noise and change of light and colour: `0..5`; 0 is plain, 2 hard for people")
		},
		write: func(dir string) error { return scenes.Write(dir, o) },
	}.command(&cobra.Command{
		Use:   "scenes --out DIR",
		Short: "Draw scenes of textured shapes: PNG images with masks of their classes",
		Long: `scenes draws textured shapes that hide one another. It writes images to train/images, dev/images and test/images, masks of the same names
to train/masks and so on, the names of the labels to labels.txt, and a sheet of scenes to scenes.png.`,
		Example: `  dsp data scenes --out scenes
  dsp data scenes --out scenes --classes 4 --examples 200,50,50`,
	})
}

func graphsCommand() *cobra.Command {
	o := randomgraphs.DefaultOptions()
	shape := o.Shape.String()
	cmd := drawing{
		noun: "graphs", train: &o.Train, dev: &o.Dev, test: &o.Test, seed: &o.Seed,
		flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&shape, "shape", shape, "`random|tree|grid`: trees of 12 to 28 variables with a few edges more, trees, or grids of 4×4 to 6×6")
			flags.IntVar(&o.Classes, "classes", o.Classes, "`number` of labels, 2 to 10")
			flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "how much noise features have: `0..5`; 0 is none")
		},
		write: func(dir string) (err error) {
			if o.Shape, err = randomgraphs.ParseShape(shape); err != nil {
				return fmt.Errorf("--shape: %w", err)
			}
			return randomgraphs.Write(dir, o)
		},
	}.command(&cobra.Command{
		Use:   "graphs --out DIR",
		Short: "Draw graphs with labelled variables: npz archives of features, edges and labels",
		Long: `graphs draws graphs and writes them to train.npz, dev.npz and test.npz, with the arrays that dsp train --task graph reads: node_features, edges,
edge_features, edge_types, sizes and labels. The features of a variable tell its label, and those of an edge whether its second end has
the same label as the first, the next one, or another; both with noise.`,
		Example: `  dsp data graphs --out graphs
  dsp data graphs --out grids --shape grid --classes 3 --examples 500,100,100
  dsp train --task graph --train graphs/train.npz --dev graphs/dev.npz --out runs/graphs`,
	})
	complete(cmd, "shape", "random", "tree", "grid")
	return cmd
}
