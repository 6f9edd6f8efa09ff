package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/drawn/objects"
	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/models/drawn/scenes"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/seeds"
)

func forTask(task string) config.Config {
	c := config.Default()
	c.Task = task
	return c
}

// drawnImages are training images of every task of images, and held-out ones of the same kind.
func drawnImages(t *testing.T, seed uint64) map[string][2][]*images.Image {
	t.Helper()
	const training, heldOut = 40, 16
	all := map[string][2][]*images.Image{}
	lines := ocr.DefaultTextLines()
	lines.Seed, lines.Train, lines.Test = seed, training, heldOut
	var sets [2][]*images.Image
	for k, set := range []int{0, 2} {
		for _, l := range lines.Set(set) {
			sets[k] = append(sets[k], images.Of(l.Image))
		}
	}
	all["transcribe"] = sets
	o := objects.DefaultOptions()
	o.Seed, o.Train, o.Test, o.Width, o.Height = seed, training, heldOut, o.Width/2, o.Height/2
	_, sets[0] = o.Parts()[0].Draw()
	_, sets[1] = o.Parts()[2].Draw()
	all["localise"] = sets
	s := scenes.DefaultOptions()
	s.Seed, s.Train, s.Test, s.Width, s.Height = seed, training, heldOut, s.Width/2, s.Height/2
	sets = [2][]*images.Image{}
	for k, part := range []int{0, 2} {
		for i := range s.Parts()[part].Len() {
			e, err := s.Parts()[part].Load(i)
			if err != nil {
				t.Fatal(err)
			}
			sets[k] = append(sets[k], e.Image)
		}
	}
	all["segment"] = sets
	return all
}

// Held-out images of the kind that a model was trained on are like them, as a set and one by one; inverted, faint and
// larger ones are not.
func TestUnlikeDrawnImages(t *testing.T) {
	seed := seeds.Draw(t)
	looks := func(task string, all []*images.Image) (looks []structured.ImageLook) {
		for _, m := range all {
			if size := m.Scale(); task == "transcribe" {
				looks = append(looks, m.Look(float64(m.Height)))
			} else {
				looks = append(looks, m.Look(size))
			}
		}
		return looks
	}
	changed := func(all []*images.Image, change func(v float64) float64) (out []*images.Image) {
		for _, m := range all {
			of := &images.Image{Width: m.Width, Height: m.Height}
			for _, v := range m.Pixels {
				of.Pixels = append(of.Pixels, uint8(math.Round(change(float64(v)))))
			}
			out = append(out, of)
		}
		return out
	}
	for task, sets := range drawnImages(t, seed) {
		m := &models.Model{Config: forTask(task), Inputs: inputs.Inputs{Looks: images.SummariseLooks(looks(task, sets[0]))}}
		if got := m.Unlike(looks(task, sets[1])); got != nil {
			t.Errorf("%s: held-out images are unlike training images: %v", task, got)
		}
		for i := range sets[1] {
			if got := m.Unlike(looks(task, sets[1][i:i+1])); got != nil {
				t.Errorf("%s: held-out image %d is unlike training images: %v", task, i, got)
			}
		}
		var doubled []*images.Image
		for _, of := range sets[1] {
			doubled = append(doubled, of.Resized(2*of.Width, 2*of.Height))
		}
		for name, test := range map[string]struct {
			images []*images.Image
			want   images.Difference
		}{
			"inverted":     {changed(sets[1], func(v float64) float64 { return 255 - v }), images.OtherColours},
			"dark":         {changed(sets[1], func(v float64) float64 { return 0.3 * v }), images.OtherContrast},
			"faint":        {changed(sets[1], func(v float64) float64 { return 255 - 0.3*(255-v) }), images.OtherContrast},
			"twice larger": {doubled, images.OtherSize},
		} {
			got := m.Unlike(looks(task, test.images))
			if !slices.ContainsFunc(got, func(u models.Unlike) bool { return u.Difference == test.want }) {
				t.Errorf("%s: images that are %s: %v, expected difference %v", task, name, got, test.want)
			}
		}
		if unknown := (&models.Model{Config: m.Config}).Unlike(looks(task, doubled)); unknown != nil {
			t.Errorf("a model that does not know its training images says %v", unknown)
		}
	}
}

// Both numbers and what cures the difference are said.
func TestUnlikeMessage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	drawn := func(size float32) (all []structured.ImageLook) {
		for range 50 {
			all = append(all, structured.ImageLook{Colour: [3]float32{.8, .8, .8}, Contrast: .2 + .01*rng.Float32(), Size: size})
		}
		return all
	}
	for task, name := range map[string]string{"transcribe": "height", "segment": "size"} {
		m := &models.Model{Config: forTask(task), Inputs: inputs.Inputs{Looks: images.SummariseLooks(drawn(16))}}
		got := m.Unlike(drawn(32))
		if len(got) != 1 || !slices.Equal(got[0].Values, []any{name, "32", "training", "16"}) || !strings.Contains(got[0].Message, "another "+name) || !strings.Contains(got[0].Message, "scale them, or train on such images (dsp train --init") {
			t.Errorf("%s: %v", task, got)
		}
	}
}
