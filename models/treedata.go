package models

import (
	"cmp"
	"os"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/features/arcs"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/trees/synthetic"
)

// drawTrees draws the treebanks of the parse task.
func (c *Config) drawTrees() (*Data, error) {
	o, plain := synthetic.DefaultOptions(), Default()
	if !slices.Equal(c.Examples, plain.Examples) {
		o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	}
	o.Seed = c.Seed
	if err := o.Validate(); err != nil {
		return nil, err
	}
	d := &Data{}
	var names *structured.Alphabet
	for k, to := range []**structured.Dataset{&d.Train, &d.Dev, &d.Test} {
		b, err := o.Parts()[k].Treebank(names)
		if err != nil {
			return nil, err
		}
		names = b.Names
		*to = b.Dataset()
	}
	return d, d.projectivise(c)
}

// projectivise lifts the crossing arcs of the training trees, or refuses them, as c says.
func (d *Data) projectivise(c *Config) error {
	if c.Task != "parse" || c.Tree != "projective" {
		return nil
	}
	b := trees.Of(d.Train)
	count := b.Crossing()
	if count.Sentences == 0 {
		return nil
	}
	if c.Crossing == "refuse" {
		i := 0
		for trees.Projective(b.Tree(i).Heads) {
			i++
		}
		return structured.BadInput("%s: arcs cross in this tree, and in %d of %d; train with --tree nonprojective, or let --crossing lift them",
			d.Train.Where(i), count.Sentences, d.Train.Len())
	}
	count = b.Projectivise()
	d.Crossing = &count
	return nil
}

// fitTrees is fitInputs for treebanks.
func (c *Config) fitTrees(train *structured.Dataset) (Inputs, error) {
	linear := c.Net == "linear" || c.Net == "auto" && c.Features != "none"
	switch {
	case !linear && c.Template != "":
		return Inputs{}, structured.BadInput("--template %s makes attributes of arcs, which --net %s does not read; use --net linear", c.Template, c.Net)
	case linear && c.Features == "none":
		return Inputs{}, structured.BadInput("--net linear reads attributes of arcs, but --features none makes none; use --features parse, a --template, or --net biaffine")
	case !linear:
		in := Inputs{Features: "none"}
		if err := in.fitWords(c, wordsOf(train)); err != nil {
			return Inputs{}, err
		}
		return in, in.encodeTrees(train)
	}
	text, name, set := arcs.Builtin(), "parse"+templateSuffix, "parse"
	if c.Template != "" {
		content, err := os.ReadFile(c.Template)
		if err != nil {
			return Inputs{}, structured.BadInput("--template: %w", err)
		}
		text, name, set = string(content), c.Template, "auto"
	}
	t, err := arcs.Parse(text, name)
	if err != nil {
		return Inputs{}, err
	}
	o := arcs.Options{HashBits: c.HashBits, Threads: host.Threads(c.Threads)}
	if c.HashBits == 0 {
		o.MinCount = cmp.Or(c.MinCount, defaultArcCount)
	}
	in, err := fitArcs(t, train, o)
	return Inputs{Features: set, arcs: in}, err
}

// defaultArcCount is the default least count, on gold arcs, of an attribute with weights.
const defaultArcCount = 2

// encodeTrees numbers the words and characters of a treebank.
func (in Inputs) encodeTrees(d *structured.Dataset) error {
	words := wordsOf(d)
	if err := in.encode(words); err != nil {
		return err
	}
	d.Ids, d.Vocab, d.Characters = words.Ids, words.Vocab, words.Characters
	return nil
}

// structure returns the trees that c predicts.
func (c Config) structure() trees.SpanningTree {
	return trees.SpanningTree{NonProjective: c.Tree == "nonprojective"}
}
