package localisation

import (
	"cmp"
	"errors"
	"slices"

	"github.com/dsp-go/dsp/models/data/annotations"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/drawn/objects"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/images"
)

// ErrNoClass says that data have several classes of objects and none is chosen.
var ErrNoClass = errors.New("no class is chosen")

// Options say what is looked for, and what a network reads.
type Options struct {
	Class      string // of the object; empty: the only class that there is
	ClassID    int64  // COCO's number of the class where the data does not say it; 0: 1
	Windows    bool   // look for the best box of a grid, not for the best candidate
	Grid       int    // cells per side of an image, for windows
	Pixels     bool   // inputs of candidates are pixels, not features of cells
	Crop       int    // pixels per side that a candidate is resized to
	Candidates int    // the most candidates per image
	Boxes      string // file with candidates in COCO's format of results; empty: sliding windows
	// data are training data: their candidates and inputs are made by Complete, which learns sliding windows
	Learn     bool
	Sliding   *boxes.Windows // that are candidates; nil: those of boxes.DefaultWindows
	Images    string         // folder of the images; empty: beside the annotations
	Unlabeled bool           // use all images, with gold boxes or not
	Shape     []int          // of the features of candidates from npz, if the training data determine it
	Stream    bool           // read or compute features whenever they are needed, even if they fit in memory
	Threads   int

	Strict  bool             // an annotated box without area is bad input
	Remarks *remarks.Remarks // on images; nil refuses bad ones
}

// CellPixels is how many pixels of a resized candidate make a side of a cell.
const CellPixels = 8

// shape returns the map that the inputs of a position are: height, width and channels. The cells of a grid are maps of
// one cell.
func (o Options) shape() [3]int {
	switch {
	case o.Windows:
		return [3]int{1, 1, images.CellFeatures}
	case o.Pixels:
		return [3]int{o.Crop, o.Crop, 3}
	}
	return [3]int{o.Crop / CellPixels, o.Crop / CellPixels, images.CellFeatures}
}

// Positions returns how many candidates, or cells, an image has at most.
func (o Options) Positions() int {
	if o.Windows {
		return o.Grid * o.Grid
	}
	return o.Candidates
}

// Scenes draws a part of the scenes as a data set.
func (o Options) Scenes(p objects.Part) (*structured.Dataset, error) {
	set, scenes := p.Draw()
	o.Class = cmp.Or(o.Class, objects.Ladybird)
	s := &Set{Class: o.Class, ClassID: set.ClassID(o.Class)}
	if o.Class != objects.Ladybird {
		return nil, structured.BadInput("class %s: drawn scenes have exactly one %s each", o.Class, objects.Ladybird)
	}
	for k, scene := range scenes {
		m := &set.Images[k]
		truth := m.Objects[0].Truth()
		s.Images = append(s.Images, Image{ID: m.ID, Width: m.Width, Height: m.Height, Gold: &truth, pixels: scene})
	}
	return o.dataset(set.Name, s)
}

// Decoded makes a data set of images in memory, whose objects are unknown. Their numbers count from 1.
func (o Options) Decoded(name string, all []*images.Image) (*structured.Dataset, error) {
	s := &Set{Class: cmp.Or(o.Class, "object"), ClassID: cmp.Or(o.ClassID, 1)}
	for k, m := range all {
		s.Images = append(s.Images, Image{ID: int64(k + 1), Width: m.Width, Height: m.Height, pixels: m})
	}
	return o.dataset(name, s)
}

// COCO reads the annotations in a file in COCO's format.
func (o Options) COCO(path string) (*structured.Dataset, error) {
	set, err := annotations.COCO{Images: o.Images, Remarks: o.Remarks}.Read(path)
	if err != nil {
		return nil, err
	}
	return o.annotated(set)
}

// VOC reads a folder with the XML files of PASCAL VOC.
func (o Options) VOC(dir string) (*structured.Dataset, error) {
	set, err := annotations.VOC{Images: o.Images, Remarks: o.Remarks}.Read(dir)
	if err != nil {
		return nil, err
	}
	return o.annotated(set)
}

// Folder reads a folder of images, or one image, without annotations.
func (o Options) Folder(dir string) (*structured.Dataset, error) {
	if !o.Unlabeled {
		return nil, structured.BadInput("%s: images without boxes, expected a folder of PASCAL VOC's XML files, or "+
			"a file in COCO's format", dir)
	}
	set, err := annotations.ReadFolder(dir, o.Remarks)
	if err != nil {
		return nil, err
	}
	return o.annotated(set)
}

// annotated makes the data set of the images with exactly one object of the class, or of all images.
func (o Options) annotated(set *annotations.Set) (*structured.Dataset, error) {
	class := o.Class
	if class == "" && len(set.Classes) == 1 {
		class = set.Classes[0].Name
	}
	if class == "" {
		return nil, structured.BadInput("%s: %w; choose one of: %s", set.Name, ErrNoClass,
			structured.SomeOf(set.ClassNames()))
	}
	s := &Set{Class: class, ClassID: set.ClassID(class)}
	if s.ClassID < 0 {
		s.ClassID = cmp.Or(o.ClassID, 1)
	}
	examples, counts, err := set.Single(class, false, o.Strict, o.Remarks)
	if o.Unlabeled {
		examples, err = all(set, examples)
	} else {
		s.Counts = &counts
	}
	if err != nil {
		return nil, err
	}
	if examples, err = o.readable(set.Name, examples); err != nil {
		return nil, err
	}
	for _, e := range examples {
		m := Image{ID: e.ID, Path: e.Path, Width: e.Width, Height: e.Height, annotated: e.Annotated}
		if e.Gold.Class != "" {
			truth := e.Gold.Truth()
			m.Gold = &truth
		}
		s.Images = append(s.Images, m)
	}
	if o.Boxes != "" {
		if err := o.readCandidates(s, set, examples); err != nil {
			return nil, err
		}
	}
	return o.dataset(set.Name, s)
}

// readable turns examples upright and returns those whose images can be read. An unreadable image that is an error
// stays in the list: loading it reports the error.
func (o Options) readable(name string, examples []annotations.Example) ([]annotations.Example, error) {
	var good []annotations.Example
	for _, e := range examples {
		e.Find(o.Remarks)
		e.Upright(o.Remarks)
		if o.Remarks.Skips() {
			if _, err := e.Load(); err != nil {
				if err = o.Remarks.Bad(err); err != nil {
					return nil, err
				}
				continue
			}
		}
		good = append(good, e)
	}
	if len(good) == 0 {
		return nil, structured.BadInput("%s: no image can be read", name)
	}
	return good, nil
}

// all returns every image of a set as an example. Those that were chosen keep their gold object.
func all(set *annotations.Set, chosen []annotations.Example) ([]annotations.Example, error) {
	gold := map[int64]annotations.Object{}
	for _, e := range chosen {
		gold[e.ID] = e.Gold
	}
	var examples []annotations.Example
	for k := range set.Images {
		m := &set.Images[k]
		examples = append(examples, annotations.Example{Image: m, Gold: gold[m.ID]})
	}
	if len(examples) == 0 {
		return nil, structured.BadInput("%s: no images", set.Name)
	}
	return examples, nil
}

// readCandidates reads the candidates of the examples from a file in COCO's format of results.
func (o Options) readCandidates(s *Set, set *annotations.Set, examples []annotations.Example) error {
	results, err := annotations.ReadResults(o.Boxes)
	if err != nil {
		return err
	}
	found, err := set.Candidates(examples, results, s.Class, o.Candidates)
	if err != nil {
		return err
	}
	s.Offsets = []int{0}
	for _, list := range found {
		for _, d := range list {
			s.Boxes = append(s.Boxes, d.Box)
		}
		s.Offsets = append(s.Offsets, len(s.Boxes))
	}
	return nil
}

// slide makes sliding windows the candidates of images that have none yet.
func (o Options) slide(s *Set) error {
	w := boxes.DefaultWindows()
	if o.Sliding != nil {
		w = *o.Sliding
	}
	w.Most = o.Candidates
	if err := w.Validate(); err != nil {
		return err
	}
	s.Offsets, s.Slides = []int{0}, true
	sizes := map[[2]int][]boxes.Box{}
	for i := range s.Images {
		m := &s.Images[i]
		size := [2]int{m.Width, m.Height}
		if sizes[size] == nil {
			sizes[size] = w.Boxes(m.Width, m.Height)
		}
		s.Boxes = append(s.Boxes, sizes[size]...)
		s.Offsets = append(s.Offsets, len(s.Boxes))
	}
	return nil
}

// known reports whether the object of every image is known.
func (s *Set) known() bool {
	return !slices.ContainsFunc(s.Images, func(m Image) bool { return m.Gold == nil })
}
