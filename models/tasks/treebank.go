package tasks

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/models/drawn/dependencies"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// treebankSizes are how many sentences are drawn where the settings do not say.
func treebankSizes() settings.Sizes {
	o := dependencies.DefaultOptions()
	return settings.Sizes{o.Train, o.Dev, o.Test}
}

func drawTrees(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	o := dependencies.DefaultOptions()
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	o.Seed = c.Seed
	if err := o.Validate(); err != nil {
		return nil, nil, nil, err
	}
	var names *structured.Alphabet
	for k, to := range []**structured.Dataset{&train, &dev, &test} {
		b, err := o.Parts()[k].Treebank(names)
		if err != nil {
			return nil, nil, nil, err
		}
		names = b.Names
		*to = b.Dataset()
	}
	return train, dev, test, nil
}

// projectivise lifts the crossing arcs of the training trees, or refuses them, as c says.
func projectivise(c *config.Config, train *structured.Dataset) (*Change, error) {
	if c.Tree != "projective" {
		return nil, nil
	}
	b := treebank.Of(train)
	count := b.Crossing()
	if count.Sentences == 0 {
		return nil, nil
	}
	if c.Crossing == "refuse" {
		i := 0
		for trees.Projective(b.Tree(i).Heads) {
			i++
		}
		return nil, structured.BadInput("%s: arcs cross in this tree, and in %d of %d; train with --tree nonprojective, or "+
			"let --crossing lift them",
			train.Where(i), count.Sentences, train.Len())
	}
	count = b.Projectivise()
	return &Change{"lifted crossing arcs", []any{"sentences", count.Sentences, "arcs", count.Arcs, "lifts", count.Lifts}},
		nil
}
