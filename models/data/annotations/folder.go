package annotations

import (
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/structured/images"
)

// ReadFolder returns the PNG and JPEG images of a folder, or one image, without annotations. They are numbered as VOC.Read does. With skip,
// images that cannot be read are left out (images.Files).
func ReadFolder(path string, skip func(error)) (*Set, error) {
	dir, files, err := images.Files(path, skip)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: path}
	var names []string
	for _, f := range files {
		m := Image{Path: filepath.Join(dir, f)}
		m.Place = m.Path
		if m.Width, m.Height, err = images.Size(m.Path); err != nil {
			return nil, err
		}
		s.Images = append(s.Images, m)
		names = append(names, strings.TrimSuffix(f, filepath.Ext(f)))
	}
	for k, id := range numbered(names) {
		s.Images[k].ID = id
	}
	s.sort()
	return s, nil
}
