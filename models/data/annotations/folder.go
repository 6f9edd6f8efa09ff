package annotations

import (
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// ReadFolder returns the PNG and JPEG images of a folder, or one image, without annotations. They are numbered as
// VOC.Read does. say decides on images that cannot be read.
func ReadFolder(path string, say *remarks.Remarks) (*Set, error) {
	dir, files, err := images.Files(path)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: path}
	var names []string
	for _, f := range files {
		m := Image{Path: filepath.Join(dir, f)}
		m.Place = m.Path
		header, err := images.ReadHeader(m.Path)
		if err != nil {
			if err = say.Bad(err); err != nil {
				return nil, err
			}
			continue
		}
		m.Width, m.Height = header.Width, header.Height
		s.Images = append(s.Images, m)
		names = append(names, strings.TrimSuffix(f, filepath.Ext(f)))
	}
	if len(names) == 0 {
		return nil, structured.BadInput("%s: no image can be read", path)
	}
	for k, id := range numbered(names) {
		s.Images[k].ID = id
	}
	s.sort()
	return s, nil
}
