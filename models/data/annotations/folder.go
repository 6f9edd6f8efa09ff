package annotations

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// ReadFolder returns the PNG and JPEG images of a folder, without annotations. They are numbered as VOC.Read does.
func ReadFolder(dir string) (*Set, error) {
	files, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, structured.BadInput("%w, expected a folder of images", err)
	}
	s := &Set{Name: dir}
	var names []string
	for _, f := range files {
		kind := strings.ToLower(filepath.Ext(f.Name()))
		if f.IsDir() || !slices.Contains([]string{".png", ".jpg", ".jpeg"}, kind) {
			continue
		}
		m := Image{Path: filepath.Join(dir, f.Name())}
		m.Place = m.Path
		if m.Width, m.Height, err = images.Size(m.Path); err != nil {
			return nil, err
		}
		s.Images = append(s.Images, m)
		names = append(names, strings.TrimSuffix(f.Name(), filepath.Ext(f.Name())))
	}
	if len(s.Images) == 0 {
		return nil, structured.BadInput("%s: no images, expected files ending in .png, .jpg or .jpeg", dir)
	}
	for k, id := range numbered(names) {
		s.Images[k].ID = id
	}
	s.sort()
	return s, nil
}
