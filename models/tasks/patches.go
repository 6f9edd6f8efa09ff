package tasks

import (
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// What segment reads of a region.
const (
	descriptorFeatures = "descriptor"
	pixelFeatures      = "pixels"
	bothFeatures       = pixelFeatures + "+" + descriptorFeatures
)

// patches returns what a network reads of a region: features alone, or also the pixels around it.
func patches(c *config.Config) segmentation.Inputs {
	switch regionFeatures(c) {
	case pixelFeatures:
		return segmentation.Inputs{Patch: c.Patch, Context: c.Context}
	case bothFeatures:
		return segmentation.Inputs{Patch: c.Patch, Context: c.Context, Both: true}
	}
	return segmentation.Inputs{}
}

// regionFeatures returns the features of regions, as --features has them, where the network decides.
func regionFeatures(c *config.Config) string {
	n := c.Network()
	switch {
	case c.Features != "auto":
		return c.Features
	case n.ReadsBeside():
		return bothFeatures
	case n.ReadsPixels():
		return pixelFeatures
	}
	return descriptorFeatures
}

// checkPatches refuses features that regions do not have, and settings of pixels where none are read.
func checkPatches(c *config.Config) error {
	switch regionFeatures(c) {
	case descriptorFeatures:
		if c.Gives("region-pixels") || c.Gives("region-context") {
			return structured.BadInput("--region-pixels and --region-context are those of pixels, which are not read; use "+
				"--net conv-crop, or --features %s", bothFeatures)
		}
		if c.Network().ReadsPixels() {
			net := "--net " + c.Net
			if c.Net == nets.StackNet { // from a file
				net = "the stack of --net"
			}
			return structured.BadInput("%s reads pixels; use --features %s or %s", net, pixelFeatures, bothFeatures)
		}
	case pixelFeatures, bothFeatures:
	default:
		return structured.BadInput("--features %s makes attributes of words; for regions of images use %s", c.Features,
			strings.Join([]string{descriptorFeatures, pixelFeatures, bothFeatures}, ", "))
	}
	return patches(c).Validate()
}

// checkSegmentNet refuses networks that do not score the regions of images.
func checkSegmentNet(net string) error {
	if p, ok := nets.FindPreset(net); ok && !p.CanScore(nets.ScoresNodes) {
		return structured.BadInput("--net %s does not score regions of images; use --net linear, mlp, conv-crop or FILE.yaml",
			net)
	}
	return nil
}
