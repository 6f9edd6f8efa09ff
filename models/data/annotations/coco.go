package annotations

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// COCO reads COCO's annotations of objects: one JSON file with the lists images, annotations and categories, in any
// order.
type COCO struct {
	Images  string           // folder of the images; "" is the folder of the file
	Remarks *remarks.Remarks // on images and annotations; nil refuses bad ones
}

type (
	cocoImage struct {
		ID       *int64 `json:"id"`
		FileName string `json:"file_name"`
		Width    int    `json:"width"`
		Height   int    `json:"height"`
	}
	cocoAnnotation struct {
		ID         *int64    `json:"id"`
		ImageID    *int64    `json:"image_id"`
		CategoryID *int64    `json:"category_id"`
		Box        []float64 `json:"bbox"`
		Area       float64   `json:"area"`
		Crowd      int       `json:"iscrowd"`
	}
	cocoCategory struct {
		ID   *int64 `json:"id"`
		Name string `json:"name"`
	}
)

// Read reads a file.
func (c COCO) Read(path string) (*Set, error) {
	f, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	folder := c.Images
	if folder == "" {
		folder = filepath.Dir(path)
	}
	return readCOCO(f, path, folder, c.Remarks)
}

// cocoReader collects what a file says; annotations may come before the images and the classes that they are about.
type cocoReader struct {
	jsonFile
	folder  string
	set     *Set
	images  map[int64]int // index in set.Images by number
	classes map[int64]string
	pending []pendingObject
	numbers map[int64]int // indices of the annotations by number
}

// pendingObject is an annotation whose image and class may not be known yet.
type pendingObject struct {
	cocoAnnotation
	file  string
	index int
}

func (o *pendingObject) Place() string { return place(o.file, "annotations", o.index) }

func readCOCO(r io.Reader, name, folder string, say *remarks.Remarks) (*Set, error) {
	in := &cocoReader{
		jsonFile: jsonFile{json.NewDecoder(r), name, say}, folder: folder, set: &Set{Name: name},
		images: map[int64]int{}, classes: map[int64]string{}, numbers: map[int64]int{},
	}
	const what = "an object with the lists images, annotations and categories of COCO"
	if err := in.opening('{', name, what); err != nil {
		return nil, err
	}
	lists := map[string]bool{}
	for in.d.More() {
		key, err := in.d.Token()
		if err != nil {
			return nil, in.failure(name, err)
		}
		field := key.(string)
		if lists[field] {
			return nil, structured.BadInput("%s: there are two fields %q", name, field)
		}
		lists[field] = true
		switch field {
		case "images":
			err = list(in.jsonFile, field, in.addImage)
		case "annotations":
			err = list(in.jsonFile, field, in.addAnnotation)
		case "categories":
			err = list(in.jsonFile, field, in.addCategory)
		default:
			var skipped json.RawMessage
			if err = in.d.Decode(&skipped); err != nil {
				err = in.failure(name+": "+field, err)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := in.d.Token(); err != nil {
		return nil, in.failure(name, err)
	}
	if err := in.end(); err != nil {
		return nil, err
	}
	for _, want := range []string{"images", "annotations", "categories"} {
		if !lists[want] {
			return nil, structured.BadInput("%s: no list %q, expected %s", name, want, what)
		}
	}
	for k := range in.pending {
		if err := in.attach(&in.pending[k]); err != nil {
			if err = say.Bad(err); err != nil {
				return nil, err
			}
			if m, known := in.images[*in.pending[k].ImageID]; known {
				in.set.Images[m].bad = true
			}
		}
	}
	if len(in.set.Images) == 0 && say.Skips() {
		return nil, structured.BadInput("%s: no image is left", name)
	}
	in.set.sort()
	return in.set, nil
}

func (in *cocoReader) addImage(index int, m cocoImage) error {
	place := place(in.name, "images", index)
	switch {
	case m.ID == nil || m.FileName == "":
		return structured.BadInput("%s: no id or no file_name", place)
	case m.Width < 1 || m.Height < 1:
		return structured.BadInput("%s: width %d and height %d, expected at least one pixel", place, m.Width, m.Height)
	}
	if k, known := in.images[*m.ID]; known {
		return structured.BadInput("%s: id %d is that of %s, too", place, *m.ID, in.set.Images[k].Place)
	}
	in.images[*m.ID] = len(in.set.Images)
	in.set.Images = append(in.set.Images, Image{
		ID: *m.ID, Path: filepath.Join(in.folder, filepath.FromSlash(m.FileName)), Width: m.Width,
		Height: m.Height, Place: place, folder: in.folder, named: m.FileName,
	})
	return nil
}

func (in *cocoReader) addCategory(index int, c cocoCategory) error {
	place := place(in.name, "categories", index)
	if c.ID == nil || c.Name == "" {
		return structured.BadInput("%s: no id or no name", place)
	}
	if name, known := in.classes[*c.ID]; known {
		return structured.BadInput("%s: id %d is that of %s, too", place, *c.ID, name)
	}
	if slices.ContainsFunc(in.set.Classes, func(k Class) bool { return k.Name == c.Name }) {
		return structured.BadInput("%s: there are two categories %q", place, c.Name)
	}
	in.classes[*c.ID] = c.Name
	in.set.Classes = append(in.set.Classes, Class{*c.ID, c.Name})
	return nil
}

func (in *cocoReader) addAnnotation(index int, a cocoAnnotation) error {
	o := pendingObject{a, in.name, index}
	if a.ImageID == nil || a.CategoryID == nil {
		return structured.BadInput("%s: no image_id or no category_id", o.Place())
	}
	if a.ID != nil {
		if other, known := in.numbers[*a.ID]; known {
			return structured.BadInput("%s: id %d is that of annotations[%d], too", o.Place(), *a.ID, other)
		}
		in.numbers[*a.ID] = index
	}
	in.pending = append(in.pending, o)
	return nil
}

func (in *cocoReader) attach(o *pendingObject) error {
	k, known := in.images[*o.ImageID]
	if !known {
		return structured.BadInput("%s: image_id %d is not in images", o.Place(), *o.ImageID)
	}
	class, known := in.classes[*o.CategoryID]
	if !known {
		return structured.BadInput("%s: category_id %d is not in categories: %s", o.Place(), *o.CategoryID,
			structured.SomeOf(in.set.ClassNames()))
	}
	box, err := cornerAndSize(o.Box, o)
	if err != nil {
		return err
	}
	m := &in.set.Images[k]
	m.Objects = append(m.Objects, Object{Class: class, Box: box, Area: o.Area, Crowd: o.Crowd != 0, Place: o.Place()})
	return nil
}
