package tasks

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/packed"
)

// PackedConfig is the metadata entry of a pack with the settings that it was made with.
const PackedConfig = "config"

// packedSettings are the settings beyond those of the group Data that decide what a pack holds.
var packedSettings = []string{"features", "template", "clusters", "gazetteer", "hash-bits", "min-count", "vectors"}

// freeSettings are those of the group Data that packs leave open.
var freeSettings = []string{"train", "dev", "test", "dense", "stream"}

// takePacked takes the settings that decide how data are read from the pack c.Train, if it is one. Other values than
// the pack's are refused; what c does not give is the pack's.
func takePacked(c *config.Config) error {
	if files := formats.Files(c.Train); len(files) > 1 {
		for _, path := range files {
			if _, ok := packed.Is(path); ok {
				return structured.BadInput("--train %s: a pack cannot be joined with other files, since it has numbers of its "+
					"own; pack all of them together", path)
			}
		}
	}
	metadata, ok := packed.Is(c.Train)
	switch {
	case !ok:
		return nil
	case metadata == nil: // it is cut short, as the error says
		_, err := packed.Open(c.Train)
		return err
	}
	was, def := config.Default(), config.Default()
	if err := json.Unmarshal([]byte(metadata[PackedConfig]), &was); err != nil {
		return structured.BadInput("%s: a pack without the settings that it was made with: %w", c.Train, err)
	}
	defaults, theirs := config.Settings(&def), config.Settings(&was)
	for k, s := range config.Settings(c) {
		decides := s.Group == "Data" && !slices.Contains(freeSettings, s.Name) || slices.Contains(packedSettings, s.Name)
		if !decides {
			continue
		}
		given, packed := text(s), text(theirs[k])
		// packs say the names of files
		if given != packed && slices.Contains(config.PathSettings, s.Name) && config.FileNames(given) == packed {
			continue
		}
		if s.GivenBeside(defaults[k]) && given != packed &&
			!(s.Name == "features" && fmt.Sprintf("%q", given) == metadata["features"]) {
			return structured.BadInput("--%s %s: %s was packed with --%s %s; leave the flag out, or pack the data again", s.Name,
				given, c.Train, s.Name, packed)
		}
		s.Value.Set(theirs[k].Value)
	}
	return takeNet(c, was)
}

func text(s settings.Setting) string { return fmt.Sprint(s.Value.Interface()) }

// takeNet takes the network that data were packed for where c leaves it open, and refuses one that reads other inputs.
// Numeric inputs are for any.
func takeNet(c *config.Config, was config.Config) error {
	words := readsWordsAlone(c.Preset()) && readsWordsAlone(was.Preset())
	linear := (c.Net == "auto" || c.Preset().Linear) && (was.Net == "auto" || was.Preset().Linear)
	f := formats.Find(was.Format)
	textual := f.Tokens || f.Lines
	switch {
	case c.Net == was.Net || words || linear || !textual && c.Net != "auto":
	case c.Net == "auto":
		c.Net = was.Net
	case textual:
		return structured.BadInput("--net %s: %s was packed with --net %s, which reads other inputs; pack the data again",
			c.Net, c.Train, was.Net)
	}
	return nil
}
