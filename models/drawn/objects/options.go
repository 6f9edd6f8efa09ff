// Package objects draws scenes with one ladybird among leaves, petals, stones and beetles that resemble it, with the
// box of every insect. It is a task of localisation on data that anyone can generate: neither colour nor shape nor
// spots alone find the ladybird.
package objects

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/models/data/annotations"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// The classes of annotated objects. A scene has exactly one ladybird, and any number of beetles.
const (
	Ladybird = "ladybird"
	beetle   = "beetle"
)

// Options set the number and the properties of the scenes.
type Options struct {
	Train, Dev, Test int // number of scenes
	Width, Height    int // of a scene in pixels
	// clutter, light, noise, rotation and occlusion: 0 is a ladybird on a meadow, 1 the default, 2 hard for people
	Difficulty float64
	Seed       uint64 // the same seed gives the same scenes
}

// DefaultOptions are sized for a first run of a few seconds.
func DefaultOptions() Options {
	return Options{Train: 300, Dev: 100, Test: 100, Width: 160, Height: 120, Difficulty: 1, Seed: 1}
}

// smallest and largest bound the sides of a scene in pixels.
const smallest, largest = 32, 4096

// Validate returns an error about the first field that is out of range.
func (o Options) Validate() error {
	for _, p := range o.Parts() {
		if p.Scenes < 0 {
			return structured.BadInput("scenes: %d to %s, expected 0 or more", p.Scenes, p.Name)
		}
	}
	if min(o.Width, o.Height) < smallest || max(o.Width, o.Height) > largest {
		return structured.BadInput("scenes: %d × %d pixels, expected sides from %d to %d", o.Width,
			o.Height, smallest, largest)
	}
	if !(o.Difficulty >= 0 && o.Difficulty <= 5) {
		return structured.BadInput("scenes: difficulty %v, expected a number from 0 (easy) to 5; 1 is the default",
			o.Difficulty)
	}
	return nil
}

// Part is a set of scenes.
type Part struct {
	Name    string // train, dev or test
	Scenes  int
	options Options
	stream  uint64
}

// Parts returns the three sets.
func (o Options) Parts() []Part {
	return []Part{{"train", o.Train, o, 0}, {"dev", o.Dev, o, 1}, {"test", o.Test, o, 2}}
}

// Scene is a drawn image with the boxes of its insects, the ladybird first.
type Scene struct {
	Image   *images.Image
	Objects []annotations.Object
}

// scene draws scene i. It depends only on the seed, the size, the difficulty, the set and i. The options must be valid.
func (p Part) scene(i int) Scene {
	return draw(p.options.Width, p.options.Height, p.options.Difficulty, p.options.rng(p.stream, i))
}

// rng returns the random numbers of scene i.
func (o Options) rng(stream uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(o.Seed, stream<<32+uint64(i)))
}

// file returns the name of scene i's file, which counts from 1.
func (p Part) file(i int) string { return fmt.Sprintf("%s/%05d.png", p.Name, i+1) }

func (p Part) image(i int, s Scene) annotations.Image {
	return annotations.Image{
		ID: int64(i + 1), Path: p.file(i), Width: p.options.Width, Height: p.options.Height, Objects: s.Objects,
		Place: fmt.Sprintf("scene %d of %s", i+1, p.Name),
	}
}

// newSet returns a set without images.
func (p Part) newSet() *annotations.Set {
	return &annotations.Set{Name: "scenes (" + p.Name + ")",
		Classes: []annotations.Class{{ID: 1, Name: Ladybird}, {ID: 2, Name: beetle}}}
}

// Draw draws all scenes into memory. scenes[i] belongs to set.Images[i], whose file does not exist.
func (p Part) Draw() (set *annotations.Set, scenes []*images.Image) {
	set = p.newSet()
	for i := range p.Scenes {
		s := p.scene(i)
		set.Images = append(set.Images, p.image(i, s))
		scenes = append(scenes, s.Image)
	}
	return set, scenes
}
