// Package annotations reads boxes of objects in images from PASCAL VOC's XML and COCO's JSON, chooses the images with
// exactly one object of a class, and reads and writes COCO's results.
package annotations

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/images"
)

// Set is a set of annotated images.
type Set struct {
	Name    string  // file or folder, for messages
	Images  []Image // ordered by ID
	Classes []Class // those of the file (COCO), or those that occur, sorted (VOC)
}

// Class is a class of objects.
type Class struct {
	ID   int64
	Name string
}

// Image is an image with its annotated objects.
type Image struct {
	ID            int64
	Path          string // of the image's file
	Width, Height int    // in pixels
	Objects       []Object
	Place         string // of the image in the annotations, for messages: "train.json: images[3]"

	folder, named string // where its file was looked for, and under which name; empty where that is its Path
	bad           bool   // something that is annotated of it was left out, so that nobody knows how many objects it has

	// Annotated says of what the annotations are, once Example.Upright has looked: of the upright image (0), or of the
	// image as its file stores it.
	Annotated images.Orientation
}

// Object is an annotated object.
type Object struct {
	Class     string
	Box       boxes.Box // as annotated; Single checks those that it chooses
	Area      float64   // of the outline in square pixels (COCO), or 0
	Crowd     bool      // a region with several objects (COCO)
	Difficult bool      // hard to recognise without the rest of the image (VOC)
	Place     string    // of the object in the annotations
}

// Truth returns the object as the metrics want it.
func (o Object) Truth() boxes.Truth { return boxes.Truth{Box: o.Box, Area: o.Area, Crowd: o.Crowd} }

// Example is an image with exactly one object of the chosen class.
type Example struct {
	*Image
	Gold Object // its box is inside the image
}

// Find looks for the file of the image once it is needed.
func (m *Image) Find(say *remarks.Remarks) {
	if m.named == "" {
		return
	}
	found := find(m.folder, m.named, stem(m.Place))
	if plain := filepath.Join(m.folder, filepath.FromSlash(m.named)); found != plain {
		say.Done(remarks.Elsewhere, m.Place+": "+m.named+" is "+found)
	}
	m.Path, m.named = found, ""
}

// Load reads the image and checks its size.
func (e Example) Load() (*images.Image, error) { return images.ReadSized(e.Path, e.Width, e.Height) }

// Upright looks how the image's file stores its pixels. Sizes and boxes mean the upright image, as programs that
// annotate show it. But where the annotated size is that of the stored pixels, and another one than that of the upright
// image, the boxes are of the stored pixels, too: then the size and the gold box are turned with the image. Upright
// ignores a file that it cannot read: loading the image reports it.
func (e *Example) Upright(say *remarks.Remarks) {
	h, err := images.ReadHeader(e.Path)
	if err != nil || !h.Stored.Turns() {
		return
	}
	say.Done(remarks.Turned, e.Path)
	if width, height := h.Stored.Size(e.Width, e.Height); h.Stored.Swaps() && e.Width != e.Height &&
		width == h.Width && height == h.Height {
		say.Doubt(remarks.TurnedBox, e.Place)
		e.Gold.Box = h.Stored.TurnBox(e.Gold.Box, e.Width, e.Height)
		e.Width, e.Height, e.Annotated = h.Width, h.Height, h.Stored
	}
}

// upright returns a box of the annotations, or of candidates for them, inside the upright image.
func (m *Image) upright(b boxes.Box, place string) (boxes.Box, error) {
	width, height := m.Annotated.Size(m.Width, m.Height)
	b, err := b.Inside(width, height, place)
	return m.Annotated.TurnBox(b, width, height), err
}

// Counts tells what became of the images.
type Counts struct {
	Used      int // exactly one object of the class
	None      int // no object of the class
	Several   int // more than one
	Crowd     int // one annotation, which marks a crowd
	Bad       int // something that is annotated of the image was left out
	Difficult int // one object, marked as difficult
}

// Add adds the counts of more images.
func (c *Counts) Add(more Counts) {
	c.Used += more.Used
	c.None += more.None
	c.Several += more.Several
	c.Crowd += more.Crowd
	c.Bad += more.Bad
	c.Difficult += more.Difficult
}

// Describe puts the counts into words: "120 images with one cat; not used: 3 with several, 877 without".
func (c Counts) Describe(class string) string {
	images := "images"
	if c.Used == 1 {
		images = "image"
	}
	text := fmt.Sprintf("%d %s with one %s", c.Used, images, class)
	var rest []string
	for _, r := range []struct {
		n    int
		what string
	}{{c.Several, "with several"}, {c.Crowd, "with a crowd"}, {c.Bad, "with bad annotations"},
		{c.Difficult, "with a difficult one"}, {c.None, "without"}} {
		if r.n > 0 {
			rest = append(rest, fmt.Sprintf("%d %s", r.n, r.what))
		}
	}
	if len(rest) > 0 {
		text += "; not used: " + strings.Join(rest, ", ")
	}
	return text
}

// Single returns the images with exactly one object of the class, in the order of the set, as Pillutla et al. 2019
// (section 7.1.2) use them, and counts the others. Difficult objects count, but an image whose only one is difficult is
// used only if difficult is true. A class that is not in the set, a set without such an image, and a chosen image whose
// file does not exist or whose box is outside the image are bad input. Public sets have a few boxes that are empty,
// inverted or no numbers: these are no objects, unless strict makes one of a chosen image bad input. say decides on
// images that are bad.
func (s *Set) Single(class string, difficult, strict bool, say *remarks.Remarks) ([]Example, Counts, error) {
	var chosen []Example
	var counts Counts
	if s.ClassID(class) < 0 {
		return nil, counts, s.noClass(class)
	}
	for k := range s.Images {
		m := &s.Images[k]
		only := m.single(class, difficult, strict, say, &counts)
		if only == nil {
			continue
		}
		e := Example{m, *only}
		m.Find(say)
		err := m.exists()
		if err == nil {
			e.Gold.Box, err = only.Box.Inside(m.Width, m.Height, only.Place)
		}
		if err != nil {
			if err = say.Bad(err); err != nil {
				return nil, counts, err
			}
			counts.Bad++
			continue
		}
		counts.Used++
		chosen = append(chosen, e)
	}
	if len(chosen) == 0 {
		return nil, counts, structured.BadInput("%s: %s, expected at least one", s.Name, counts.Describe(class))
	}
	return chosen, counts, nil
}

// single returns the object of the class if the image has exactly one that counts; else it counts the image and returns
// nil.
func (m *Image) single(class string, difficult, strict bool, say *remarks.Remarks, counts *Counts) *Object {
	var only *Object
	n := 0
	for j := range m.Objects {
		o := &m.Objects[j]
		if o.Class != class {
			continue
		}
		if !strict && !o.Box.HasArea() {
			say.Doubt(remarks.NoArea, o.Place+": box "+o.Box.String())
			continue
		}
		only = o
		n++
	}
	switch {
	case m.bad:
		counts.Bad++
	case n == 0:
		counts.None++
	case n > 1:
		counts.Several++
	case only.Crowd:
		counts.Crowd++
	case only.Difficult && !difficult:
		counts.Difficult++
	default:
		return only
	}
	return nil
}

// exists checks that the image's file is there.
func (m *Image) exists() error {
	switch info, err := os.Stat(m.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return structured.BadInput("%s: no image file %s", m.Place, m.Path)
	case err != nil:
		return structured.BadInput("%s: %w", m.Place, err)
	case info.IsDir():
		return structured.BadInput("%s: %s is a folder, expected an image file", m.Place, m.Path)
	}
	return nil
}

// ClassID returns the number of a class, or -1.
func (s *Set) ClassID(name string) int64 {
	for _, c := range s.Classes {
		if c.Name == name {
			return c.ID
		}
	}
	return -1
}

func (s *Set) noClass(class string) error {
	return structured.BadInput("%s: no class %q, expected one of: %s", s.Name, class, structured.SomeOf(s.ClassNames()))
}

// ClassNames returns the names of the classes in order.
func (s *Set) ClassNames() []string {
	names := make([]string, len(s.Classes))
	for k, c := range s.Classes {
		names[k] = c.Name
	}
	return names
}

// sort orders the images by their numbers, the order in which pycocotools breaks ties.
func (s *Set) sort() {
	slices.SortStableFunc(s.Images, func(a, b Image) int { return cmp.Compare(a.ID, b.ID) })
}

// stem returns the name of the file of a place without its ending, for annotations that have a file for each image; ""
// for others.
func stem(place string) string {
	if name := filepath.Base(place); filepath.Ext(name) == ".xml" {
		return strings.TrimSuffix(name, ".xml")
	}
	return ""
}
