package scenes

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/structured"
)

func TestScenes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.Seed, o.Classes = rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]int{2, 4}).Draw(t, "classes")
		o.Width, o.Height = rapid.IntRange(smallest, 60).Draw(t, "width"), rapid.IntRange(smallest, 60).Draw(t, "height")
		o.Difficulty = rapid.Float64Range(0, 5).Draw(t, "difficulty")
		p := o.Parts()[rapid.IntRange(0, 2).Draw(t, "part")]
		m, mask := p.scene(3)
		if m.Width != o.Width || m.Height != o.Height || len(m.Pixels) != 3*o.Width*o.Height || mask.Width != o.Width ||
			len(mask.Labels) != o.Width*o.Height {
			t.Fatalf("an image of %d × %d", m.Width, m.Height)
		}
		if err := mask.Check(o.Classes, "mask", ""); err != nil {
			t.Fatal(err)
		}
		for i, l := range mask.Labels { // labels meet only across void pixels
			if right := i + 1; l != masks.Void && right%o.Width > 0 && mask.Labels[right] != masks.Void &&
				mask.Labels[right] != l {
				t.Fatalf("pixel %d has label %d, the next one %d", i, l, mask.Labels[right])
			}
		}
		again, maskAgain := p.scene(3)
		if !reflect.DeepEqual(m, again) || !reflect.DeepEqual(mask, maskAgain) {
			t.Fatal("the same scene differs")
		}
	})
}

// Seeds, sets and numbers give different scenes, difficulties the same shapes.
func TestScenesDiffer(t *testing.T) {
	o := DefaultOptions()
	_, first := o.Parts()[0].scene(0)
	other, harder := o, o
	other.Seed, harder.Difficulty = 2, 2
	for name, p := range map[string]struct {
		part  Part
		scene int
	}{"number": {o.Parts()[0], 1}, "set": {o.Parts()[1], 0}, "seed": {other.Parts()[0], 0}} {
		if _, mask := p.part.scene(p.scene); slices.Equal(mask.Labels, first.Labels) {
			t.Errorf("another %s gives the same shapes", name)
		}
	}
	if _, mask := harder.Parts()[0].scene(0); !slices.Equal(mask.Labels, first.Labels) {
		t.Error("another difficulty gives other shapes")
	}
}

// Without difficulty, a pixel has the colour of its class, up to its pattern.
func TestPlainScene(t *testing.T) {
	o := DefaultOptions()
	o.Classes, o.Difficulty = 4, 0
	m, mask := o.Parts()[0].scene(1)
	for i, l := range mask.Labels {
		if l == masks.Void {
			continue
		}
		for k, base := range materials[l].base {
			if v := float64(m.Pixels[3*i+k]) / 255; math.Abs(v-base) > 0.11 {
				t.Fatalf("pixel %d of %s has %v in channel %d, expected %v", i, materials[l].name, v, k, base)
			}
		}
	}
}

// Moss covers the share of pixels that the difficulty says.
func TestMoss(t *testing.T) {
	o := DefaultOptions()
	o.Width, o.Height, o.Classes = 300, 300, 4
	covered, looks := 0.0, [4]float64{}
	const scenes = 5
	for k := range scenes {
		m := newMoss(o, o.Parts()[k%3].rng(k))
		for i := range m.where {
			if class := m.over(1, i); class != 1 {
				covered++
				looks[class]++
			}
		}
	}
	n := float64(scenes * o.Width * o.Height)
	if want := 0.9 * 0.75 * (1 - math.Exp(-1)); math.Abs(covered/n-want) > 0.03 {
		t.Errorf("moss covers %v, expected %v", covered/n, want)
	}
	for class, c := range looks {
		if class != 1 && math.Abs(c/covered-1./3) > 0.06 {
			t.Errorf("moss looks like %v by class, expected a third each", looks)
		}
	}
}

// What is written is what is drawn.
func TestWrite(t *testing.T) {
	o := DefaultOptions()
	o.Train, o.Dev, o.Test, o.Width, o.Height, o.Classes = 3, 0, 2, 48, 40, 4
	dir := t.TempDir()
	if err := Write(dir, o); err != nil {
		t.Fatal(err)
	}
	names, err := masks.ReadNames(filepath.Join(dir, "labels.txt"))
	if err != nil || !slices.Equal(names.Names(), o.Labels().Names()) {
		t.Fatal(err, names)
	}
	for _, p := range o.Parts() {
		in := filepath.Join(dir, p.part)
		if p.Scenes == 0 {
			if _, err := os.Stat(in); err == nil {
				t.Errorf("%s has a folder", p.part)
			}
			continue
		}
		folder, err := segmentation.OpenFolder(filepath.Join(in, "images"), filepath.Join(in, "masks"), nil)
		if err != nil || folder.Len() != p.Scenes {
			t.Fatal(err)
		}
		read := func(source segmentation.Source) *structured.Dataset {
			d, err := segmentation.Reader{Division: segmentation.DefaultDivision(), Labels: names}.Read(context.Background(),
				source)
			if err != nil {
				t.Fatal(err)
			}
			d.Name = ""
			return d
		}
		if !reflect.DeepEqual(read(folder), read(p)) {
			t.Errorf("%s: other data in files than in memory", p.part)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "scenes.png")); err != nil || info.Size() < 1000 {
		t.Errorf("contact sheet: %v", err)
	}
}

func TestOptions(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(o *Options){
		func(o *Options) { o.Dev = -1 }, func(o *Options) { o.Width = 15 }, func(o *Options) { o.Height = 5000 },
		func(o *Options) { o.Classes = 3 }, func(o *Options) { o.Difficulty = -0.1 }, func(o *Options) {
			o.Difficulty = math.NaN()
		},
	} {
		o := DefaultOptions()
		change(&o)
		if err := o.Validate(); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
		if err := Write(t.TempDir(), o); !structured.IsBadInput(err) {
			t.Errorf("%+v was written: %v", o, err)
		}
	}
}

func BenchmarkScene(b *testing.B) {
	p, i := DefaultOptions().Parts()[0], 0
	for b.Loop() {
		p.scene(i)
		i++
	}
}
