package objects

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/annotations"
	"github.com/dsp-go/dsp/structured"
)

func TestScenes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.Seed = rapid.Uint64().Draw(t, "seed")
		o.Width, o.Height = rapid.IntRange(smallest, 80).Draw(t, "width"), rapid.IntRange(smallest, 80).Draw(t, "height")
		o.Difficulty = rapid.Float64Range(0, 5).Draw(t, "difficulty")
		p := o.Parts()[rapid.IntRange(0, 2).Draw(t, "part")]
		s := p.scene(3)
		if s.Image.Width != o.Width || s.Image.Height != o.Height || len(s.Image.Pixels) != 3*o.Width*o.Height {
			t.Fatalf("an image of %d × %d", s.Image.Width, s.Image.Height)
		}
		for k, b := range s.Objects {
			if inside, err := b.Box.Inside(o.Width, o.Height, ""); err != nil || inside != b.Box ||
				(b.Class == Ladybird) != (k == 0) {
				t.Fatalf("object %d of %d: %+v, %v", k, len(s.Objects), b, err)
			}
			if k > 0 && b.Box.IoU(s.Objects[0].Box) > 0.3 {
				t.Fatalf("beetle %v covers the ladybird %v", b.Box, s.Objects[0].Box)
			}
		}
		if !reflect.DeepEqual(s, p.scene(3)) {
			t.Fatal("the same scene differs")
		}
	})
}

// Seeds, sets and numbers give different scenes.
func TestScenesDiffer(t *testing.T) {
	o := DefaultOptions()
	first := o.Parts()[0].scene(0)
	other := o
	other.Seed = 2
	for name, s := range map[string]Scene{"number": o.Parts()[0].scene(1), "set": o.Parts()[1].scene(0),
		"seed": other.Parts()[0].scene(0)} {
		if reflect.DeepEqual(s.Objects[0], first.Objects[0]) {
			t.Errorf("another %s gives the same ladybird", name)
		}
	}
}

// The extent of an upright insect is that of its shell and head, by the geometry of their ellipses.
func TestBoxIsTight(t *testing.T) {
	c, rng := newCanvas(100, 90), DefaultOptions().rng(0, 0)
	b := newInsect(true, 0, rng)
	body := b.draw(c, newFrame(50, 45, 20, 0), rng)
	top, bottom := 45-20*(0.88+0.4), 45+20.
	if math.Abs(float64(body.top)-top) > 1 || math.Abs(float64(body.bottom+1)-bottom) > 1 ||
		math.Abs(float64(body.left)-(50-20*b.wide)) > 1 || math.Abs(float64(body.right+1)-(50+20*b.wide)) > 1 {
		t.Errorf("extent %+v, expected x from %v to %v and y from %v to %v", body, 50-20*b.wide, 50+20*b.wide, top, bottom)
	}
}

func TestWrite(t *testing.T) {
	o := DefaultOptions()
	o.Train, o.Dev, o.Test, o.Width, o.Height = 3, 0, 2, 48, 40
	dir := t.TempDir()
	if err := Write(dir, o); err != nil {
		t.Fatal(err)
	}
	for _, p := range o.Parts() {
		set, err := annotations.COCO{}.Read(filepath.Join(dir, p.Name+".json"))
		if err != nil || len(set.Images) != p.Scenes {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if p.Scenes == 0 {
			continue
		}
		examples, counts, err := set.Single(Ladybird, false, true, nil)
		if err != nil || counts.Used != p.Scenes {
			t.Fatalf("%s: %v, %+v", p.Name, err, counts)
		}
		drawn, scenes := p.Draw()
		for i, e := range examples {
			m, err := e.Load()
			if err != nil || !reflect.DeepEqual(m, scenes[i]) {
				t.Errorf("%s, scene %d: %v, or another image than in memory", p.Name, i, err)
			}
			if e.Gold.Box != drawn.Images[i].Objects[0].Box || e.ID != drawn.Images[i].ID {
				t.Errorf("%s, scene %d: box %v of image %d, expected %v", p.Name, i, e.Gold.Box, e.ID,
					drawn.Images[i].Objects[0].Box)
			}
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
		func(o *Options) { o.Dev = -1 }, func(o *Options) { o.Width = 31 }, func(o *Options) { o.Height = 5000 },
		func(o *Options) { o.Difficulty = -0.1 }, func(o *Options) { o.Difficulty = math.NaN() },
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
