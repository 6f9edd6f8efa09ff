package scenes

import (
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/pictures/regionpicture"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Write writes the scenes into a folder: train/images/00001.png, train/masks/00001.png and so on, and the same of dev
// and test; the names of the labels as labels.txt; and a sheet of scenes at growing difficulty as scenes.png. A set
// without scenes has no folders.
func Write(dir string, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, p := range o.Parts() {
		if err := p.write(filepath.Join(dir, p.part)); err != nil {
			return err
		}
	}
	names := strings.Join(o.Labels().Names(), "\n") + "\n"
	err := host.WriteFile(filepath.Join(dir, "labels.txt"), func(w io.Writer) error {
		_, err := io.WriteString(w, names)
		return err
	})
	if err != nil {
		return err
	}
	return o.writeSheet(filepath.Join(dir, "scenes.png"))
}

func (p Part) write(dir string) error {
	if p.Scenes == 0 {
		return nil
	}
	for _, of := range []string{"images", "masks"} {
		if err := os.MkdirAll(filepath.Join(dir, of), 0o777); err != nil {
			return err
		}
	}
	for i := range p.Scenes {
		m, mask := p.scene(i)
		name := p.id(i) + ".png"
		if err := host.WriteFile(filepath.Join(dir, "images", name),
			func(w io.Writer) error { return png.Encode(w, m) }); err != nil {
			return err
		}
		if err := mask.Write(filepath.Join(dir, "masks", name)); err != nil {
			return err
		}
	}
	return nil
}

// writeSheet draws two scenes, with and without their masks, at each of several difficulties.
func (o Options) writeSheet(path string) error {
	sheet := regionpicture.Sheet{Title: "Textured shapes, and what they are", Columns: 4, Labels: o.Labels()}
	for _, level := range []float64{0, 0.5, 1, 2} {
		o.Difficulty = level
		for i := range 2 {
			m, mask := o.Parts()[0].scene(i)
			sheet.Panels = append(sheet.Panels,
				regionpicture.Panel{Image: m, Caption: fmt.Sprintf("scene %d, difficulty %v", i+1, level)},
				regionpicture.Panel{Image: regionpicture.Flat(mask), Caption: "mask (void is white)"})
		}
	}
	return sheet.Write(path)
}
