package config

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/documents"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// ReadStack reads the layers of a stack if net names a file of them. Net becomes stack: the run and its model need the
// file no more.
func (c *Config) ReadStack() error {
	switch {
	case nets.IsStackFile(c.Net):
		text, err := host.ReadText(c.Net, documents.MostBytes)
		if err != nil {
			return structured.BadInput("--net: %w", err)
		}
		c.Net, c.Stack, c.stackFile = nets.StackNet, string(text), c.Net
	case c.Net == nets.StackNet && c.Stack == "":
		return structured.BadInput("--net stack needs its layers: give --net FILE.yaml (docs/guide/stacks.md)")
	}
	return nil
}
