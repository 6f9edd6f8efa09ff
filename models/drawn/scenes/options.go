// Package scenes draws scenes of textured shapes that hide one another, with their masks. Patches of moss, about as
// large as a cell, make a part of a shape look like another class, so that neighbours help. It is a task of
// segmentation on data that anyone can generate.
package scenes

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// Options set the number and the properties of the scenes.
type Options struct {
	Train, Dev, Test int     // number of scenes
	Width, Height    int     // of a scene in pixels
	Classes          int     // 2: ground and stone; 4: water and leaf too
	Difficulty       float64 // moss, noise, light, and how much colours vary: 0 is plain, 1 the default, 2 hard for people
	Seed             uint64  // the same seed gives the same scenes
}

// DefaultOptions are sized for a first run of a few seconds.
func DefaultOptions() Options {
	return Options{Train: 100, Dev: 30, Test: 50, Width: 160, Height: 120, Classes: 2, Difficulty: 1, Seed: 1}
}

// smallest and largest bound the sides of a scene in pixels.
const smallest, largest = 16, 4096

// Validate returns a bad-input error about the first field that is out of range.
func (o Options) Validate() error {
	for _, p := range o.Parts() {
		if p.Scenes < 0 {
			return structured.BadInput("scenes: %d to %s, expected 0 or more", p.Scenes, p.part)
		}
	}
	switch {
	case min(o.Width, o.Height) < smallest || max(o.Width, o.Height) > largest:
		return structured.BadInput("scenes: %d × %d pixels, expected sides from %d to %d", o.Width,
			o.Height, smallest, largest)
	case o.Classes != 2 && o.Classes != 4:
		return structured.BadInput("scenes: %d classes, expected 2 or 4", o.Classes)
	case !(o.Difficulty >= 0 && o.Difficulty <= 5):
		return structured.BadInput("scenes: difficulty %v, expected a number from 0 (easy) to 5; 1 is the default",
			o.Difficulty)
	}
	return nil
}

// Labels returns the names of the classes.
func (o Options) Labels() *structured.Alphabet {
	names := structured.NewAlphabet()
	for _, m := range materials[:o.Classes] {
		names.Add(m.name)
	}
	return names
}

// Part is a set of scenes: a segmentation.Source.
type Part struct {
	Scenes  int
	part    string // train, dev or test
	options Options
	stream  uint64
}

var _ segmentation.Source = Part{}

// Parts returns the three sets.
func (o Options) Parts() [3]Part {
	return [3]Part{{o.Train, "train", o, 0}, {o.Dev, "dev", o, 1}, {o.Test, "test", o, 2}}
}

// scene draws scene i. It depends only on the options, the set and i. The options must be valid.
func (p Part) scene(i int) (*images.Image, *masks.Mask) {
	return draw(p.options, p.rng(i))
}

// rng returns the random numbers of scene i.
func (p Part) rng(i int) *rand.Rand {
	return rand.New(rand.NewPCG(p.options.Seed, p.stream<<32+uint64(i)))
}

func (p Part) Name() string { return "scenes (" + p.part + ")" }

func (p Part) Len() int { return p.Scenes }

func (p Part) Masks() bool { return true }

// id returns the name of scene i, which counts from 1.
func (p Part) id(i int) string { return fmt.Sprintf("%05d", i+1) }

func (p Part) Load(i int) (segmentation.Example, error) {
	m, mask := p.scene(i)
	return segmentation.Example{ID: p.id(i), Image: m, Mask: mask, Place: fmt.Sprintf("scene %d of %s", i+1, p.part)}, nil
}
