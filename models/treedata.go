package models

import (
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/trees/synthetic"
)

// drawTrees draws the treebanks of the parse task.
func drawTrees(c *config.Config) (*Data, error) {
	o, plain := synthetic.DefaultOptions(), config.Default()
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
func (d *Data) projectivise(c *config.Config) error {
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
