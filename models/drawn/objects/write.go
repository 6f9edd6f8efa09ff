package objects

import (
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models/data/annotations"
	"github.com/dsp-go/dsp/models/pictures/boxpicture"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Write draws the three sets and writes them into dir: the images as train/00001.png and so on, COCO's annotations as
// train.json, dev.json and test.json, and a contact sheet of scenes at growing difficulty as scenes.png.
func Write(dir string, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	for _, p := range o.Parts() {
		if err := p.write(dir); err != nil {
			return err
		}
	}
	return o.writeSheet(filepath.Join(dir, "scenes.png"))
}

func (p Part) write(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, p.Name), 0o777); err != nil {
		return err
	}
	set := p.newSet()
	for i := range p.Scenes {
		s := p.scene(i)
		path := filepath.Join(dir, p.file(i))
		if err := host.WriteFile(path, func(w io.Writer) error { return png.Encode(w, s.Image) }); err != nil {
			return err
		}
		set.Images = append(set.Images, p.image(i, s))
	}
	return host.WriteFile(filepath.Join(dir, p.Name+".json"), func(w io.Writer) error {
		return annotations.WriteCOCO(w, set, "")
	})
}

// writeSheet draws four scenes at each of several difficulties.
func (o Options) writeSheet(path string) error {
	sheet := boxpicture.Sheet{Title: "Find the ladybird", Columns: 4}
	for _, level := range []float64{0, 0.5, 1, 2} {
		o.Difficulty = level
		for i := range 4 {
			s := o.Parts()[0].scene(i)
			sheet.Panels = append(sheet.Panels, boxpicture.Panel{
				Image: s.Image, Gold: &s.Objects[0].Box, Caption: fmt.Sprintf("scene %d, difficulty %v", i+1, level),
			})
		}
	}
	return sheet.Write(path)
}
