package config

import (
	"maps"
	"reflect"
	"slices"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// What a run that continues a model takes from the model's settings. Other settings say where data are and how to
// train, and are the run's own.
var (
	// inherited are taken where the run does not give them.
	inherited = []string{
		"task", "columns", "comments", "label", "scheme", "structure", "order", "max-length", "segment-ends", "tree", "search", "search-limit", "class", "search-grid", "candidate-pixels", "candidates", "unmatched",
		"cell-pixels", "superpixels", "neighbours", "void", "mask-values", "oracle", "constraints", "net", "features", "template", "clusters", "gazetteer", "hash-bits",
		"vectors", "freeze-vectors", "encoder", "encoder-layers", "pieces", "encoder-rows", "encoder-precision", "tune-encoder", "freeze-layers", "adapter",
	}
	// Where the run has the model's kind of network, the settings of the group Network are taken, too, but for
	// ownOfNetwork.
	ownOfNetwork = []string{"init", "dropout"}
	// fixed are those of inherited that must not differ: they say what the model reads.
	fixed = []string{
		"task", "structure", "max-length", "segment-ends", "features", "template", "clusters", "gazetteer", "hash-bits", "vectors", "freeze-vectors", "search", "search-grid", "candidate-pixels", "cell-pixels",
		"superpixels", "neighbours",
	}
)

// Inherit takes from the configuration of a model what a run on c needs to continue it: what the model reads, its
// network and the names of what it predicts. Settings that c gives win, but must not contradict what the model reads.
// name is the setting that gives the model, whose file is path. sameFormat says that the data have the format of the
// model's: else the places of columns are the run's own.
func (c *Config) Inherit(base Config, name, path string, sameFormat bool) error {
	def := Default()
	plain, of := Settings(&def), Settings(&base)
	net := c.Net
	for i, s := range Settings(c) {
		mine, models := s.Value.Interface(), of[i].Value.Interface()
		if path, is := mine.(string); reflect.DeepEqual(mine, models) || is && slices.Contains(PathSettings, s.Name) && path != "" && FileNames(path) == FileNames(base.must(s.Name).Value.String()) {
			continue
		}
		open := !s.GivenBeside(plain[i])
		network := s.Group == "Network" && (net == def.Net || net == base.Net) && !slices.Contains(ownOfNetwork, s.Name)
		switch {
		case s.Name == OwnSettingsName: // those that c leaves open
			own := maps.Clone(base.TaskSettings)
			if own == nil {
				own = settings.Texts{}
			}
			maps.Copy(own, c.TaskSettings)
			c.TaskSettings = own
		case (s.Name == "columns" || s.Name == "comments" || s.Name == "label") && !sameFormat:
		case s.Name == "loss" && open && c.takesLoss(base.Loss):
			s.Value.Set(of[i].Value)
		case !network && !slices.Contains(inherited, s.Name):
		case open:
			s.Value.Set(of[i].Value)
		case slices.Contains(fixed, s.Name):
			return structured.BadInput("--%s %v: the model of --%s %s has %v, which it keeps; leave --%s out", s.Name, mine, name, path, orNone(models), s.Name)
		}
	}
	return nil
}

// takesLoss reports whether the method minimises a loss.
func (c *Config) takesLoss(loss string) bool {
	d, chosen := c.Optimiser()
	return !chosen || d.Losses.Takes(loss)
}

// orNone returns a value for a message.
func orNone(value any) any {
	if value == "" {
		return "none"
	}
	return value
}
