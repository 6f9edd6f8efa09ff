package config

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
)

// Network returns the part of c that chooses and sizes the network.
func (c Config) Network() nets.Config {
	return nets.Config{
		Net: c.Net, Hidden: c.Hidden, Activation: graph.Activation(c.Activation), Window: c.Window,
		Channels: c.Channels, Recurrent: c.Recurrent, Layers: c.Layers, Heads: c.Heads, BlockUnits: c.BlockUnits, Embed: c.Embed,
		Dropout: c.Dropout, Edges: c.Edges, EdgeUnits: c.EdgeUnits, Submodular: c.Submodular, ArcUnits: c.ArcUnits, LabelUnits: c.LabelUnits, PairUnits: c.PairUnits,
		Stack: c.Stack, StackFile: c.stackFile,
		CharEmbed: c.CharEmbed, CharWindow: c.CharWindow, CharChannels: c.CharChannels, AttributeUnits: c.AttributeUnits,
	}
}

// Preset returns the preset that c chooses; one without a name that reads and scores nothing if the choice is open, or
// a registered network.
func (c *Config) Preset() *nets.Preset {
	name := c.Net
	if nets.IsStackFile(name) {
		name = nets.StackNet
	}
	if p, ok := nets.FindPreset(name); ok {
		return p
	}
	return &nets.Preset{}
}
