package annotations

import (
	"encoding/json"
	"io"
	"path/filepath"
)

// WriteCOCO writes a set in COCO's format. File names are relative to the folder, which is the one of the file by
// default (COCO.Images). Annotations are numbered from 1.
func WriteCOCO(w io.Writer, s *Set, folder string) error {
	file := struct {
		Images      []cocoImage      `json:"images"`
		Annotations []cocoAnnotation `json:"annotations"`
		Categories  []cocoCategory   `json:"categories"`
	}{[]cocoImage{}, []cocoAnnotation{}, []cocoCategory{}}
	number := int64(0)
	for _, m := range s.Images {
		name, err := filepath.Rel(folder, m.Path)
		if err != nil {
			return err
		}
		file.Images = append(file.Images, cocoImage{&m.ID, filepath.ToSlash(name), m.Width, m.Height})
		for _, o := range m.Objects {
			number++
			id, class, area, crowd := number, s.ClassID(o.Class), o.Area, 0
			if area == 0 {
				area = o.Box.Area()
			}
			if o.Crowd {
				crowd = 1
			}
			box := []float64{o.Box.X, o.Box.Y, o.Box.Width, o.Box.Height}
			file.Annotations = append(file.Annotations, cocoAnnotation{&id, &m.ID, &class, box, area, crowd})
		}
	}
	for _, c := range s.Classes {
		file.Categories = append(file.Categories, cocoCategory{&c.ID, c.Name})
	}
	out := json.NewEncoder(w)
	out.SetIndent("", " ")
	return out.Encode(file)
}
