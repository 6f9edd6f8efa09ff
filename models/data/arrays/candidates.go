package arrays

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// Candidates are the candidate boxes of images, with their features, from an npz archive whose arrays are
//
//	features     [ΣC×D]      numbers of any precision or booleans: a row per candidate; or
//	maps         [ΣC×C×H×W]  the same as feature maps, channels first
//	boxes        [ΣC×4]      numbers: x, y, width, height in pixels, as in COCO
//	sizes        [images]    integers ≥ 1, the number of candidates of each image
//	image_sizes  [images×2]  integers ≥ 1, the width and the height of each image in pixels
//	gold         [images×4]  numbers: the object's box
//	ids          [images]    strings or integers; optional
//
// The features stay in the file; read them with Features.Read.
type Candidates struct {
	Name     string
	Features *Rows       // a row per candidate of shape [D] or [C H W]
	Offsets  []int       // [images+1]; image i owns candidates Offsets[i] to Offsets[i+1]-1
	Boxes    []boxes.Box // [ΣC]
	Sizes    [][2]int    // [images] width and height
	Gold     []boxes.Box // [images], or nil if they were not asked for
	IDs      []string    // [images], or nil

	Faults map[int]error // of the images that are to be left out
	file   sizedFile
}

// CandidateReader opens Candidates.
type CandidateReader struct {
	Shape     []int // of a candidate's features, if the training data determines it, else nil
	Unlabeled bool  // ignore the array gold, which is then optional

	// that leave bad images out; nil refuses them. Errors of what says where images begin and end are of the whole file
	Remarks *remarks.Remarks
}

// Open opens an archive and reads all but the features. Errors name the array, what it holds and what was expected.
func (c CandidateReader) Open(path string) (*Candidates, error) {
	archive, f, err := openZip(path)
	if err != nil {
		return nil, err
	}
	in := candidateReader{archive, &Candidates{Name: path, file: f}, newFaults(c.Remarks)}
	if in.faults != nil {
		in.c.Faults = in.faults.examples
	}
	steps := []func() error{func() error { return in.features(c.Shape) }, in.sizes, in.imageSizes, in.boxes, in.ids}
	if !c.Unlabeled {
		steps = append(steps, in.gold)
	}
	if in.faults != nil {
		steps = append(steps, in.finite)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return in.c, nil
}

// Close closes the file. No more features can be read.
func (c *Candidates) Close() error { return c.file.Close() }

// Len returns the number of images.
func (c *Candidates) Len() int { return len(c.Offsets) - 1 }

type candidateReader struct {
	archive *zip.Reader
	c       *Candidates
	faults  *faults // of images that are left out; nil: a fault is an error
}

func (in candidateReader) bad(format string, args ...any) error {
	return structured.BadInput("%s: "+format, append([]any{in.c.Name}, args...)...)
}

func (in candidateReader) features(known []int) error {
	features, err := rowsOf(in.archive, in.c.file, "features")
	if err != nil {
		return err
	}
	maps, err := rowsOf(in.archive, in.c.file, "maps")
	switch {
	case err != nil:
		return err
	case features == nil && maps == nil:
		return in.bad("no array features [candidates × features] or maps [candidates × channels × height × width]")
	case features != nil && maps != nil:
		return in.bad("there are both features and maps, expected one of them")
	case features != nil && len(features.Shape()) != 1:
		return in.bad("features has rows of shape %v, expected [candidates × features]", features.Shape())
	case maps != nil && len(maps.Shape()) != 3:
		return in.bad("maps has rows of shape %v, expected [candidates × channels × height × width]", maps.Shape())
	case features == nil:
		features = maps
	}
	if known != nil && !slices.Equal(known, features.Shape()) {
		return in.bad("candidates have features of shape %v, expected %v as in the training data", features.Shape(), known)
	}
	in.c.Features = features
	return nil
}

// array reads a required array.
func (in candidateReader) array(name, shape string, read func(*npyArray) error) error {
	found, err := readNPY(in.archive, in.c.Name, name, read)
	if err == nil && !found {
		err = in.bad("no array %s %s", name, shape)
	}
	return err
}

func (in candidateReader) sizes() error {
	const shape = "[images], the number of candidates of each image"
	return in.array("sizes", shape, func(a *npyArray) error {
		if err := a.expect(shape, 1, "iu", "integers"); err != nil {
			return err
		}
		sizes, err := a.ints()
		if err != nil {
			return err
		}
		candidates := in.c.Features.Len()
		in.c.Offsets = make([]int, 1, len(sizes)+1)
		for i, n := range sizes {
			at := in.c.Offsets[i]
			if n < 1 {
				err := a.bad("[%d] is %d, expected at least one candidate", i, n)
				if n == 0 {
					err = in.faults.of(i, err)
				}
				if err != nil {
					return err
				}
			}
			if n > candidates-at {
				return a.bad(" sum to more than the %d candidates that have features, from image %d on", candidates, i)
			}
			in.c.Offsets = append(in.c.Offsets, at+n)
		}
		if sum := in.c.Offsets[len(sizes)]; sum != candidates {
			return a.bad(" sum to %d, expected the %d candidates that have features", sum, candidates)
		}
		return nil
	})
}

func (in candidateReader) imageSizes() error {
	const shape = "[images × 2], the width and the height of each image"
	return in.array("image_sizes", shape, func(a *npyArray) error {
		if err := a.expect(shape, 2, "iu", "integers"); err != nil {
			return err
		}
		if n := in.c.Len(); a.shape[0] != n || a.shape[1] != 2 || a.fortran {
			return a.bad(" has shape %v, expected [%d 2] in C's order: %s", a.shape, n, shape)
		}
		values, err := a.ints()
		if err != nil {
			return err
		}
		const most = 1 << 24
		for i := range in.c.Len() {
			width, height := values[2*i], values[2*i+1]
			if width < 1 || height < 1 || width > most || height > most {
				if err := in.faults.of(i,
					a.bad("[%d] is %d × %d, expected pixels from 1 to %d", i, width, height, most)); err != nil {
					return err
				}
			}
			in.c.Sizes = append(in.c.Sizes, [2]int{width, height})
		}
		return nil
	})
}

func (in candidateReader) boxes() error {
	image := 0
	return in.readBoxes("boxes", in.c.Features.Len(), &in.c.Boxes, func(k int) int {
		for k >= in.c.Offsets[image+1] {
			image++
		}
		return image
	})
}

func (in candidateReader) gold() error {
	return in.readBoxes("gold", in.c.Len(), &in.c.Gold, func(k int) int { return k })
}

// readBoxes reads n boxes; imageOf tells in which image box k lies.
func (in candidateReader) readBoxes(name string, n int, to *[]boxes.Box, imageOf func(k int) int) error {
	const shape = "[boxes × 4]: x, y, width and height"
	return in.array(name, shape, func(a *npyArray) error {
		if err := a.expect(shape, 2, "fiu", "numbers"); err != nil {
			return err
		}
		if a.shape[0] != n || a.shape[1] != 4 || a.fortran {
			return a.bad(" has shape %v, expected [%d 4] in C's order: %s", a.shape, n, shape)
		}
		v, err := a.numbers()
		if err != nil {
			return err
		}
		for k := range n {
			image := imageOf(k)
			size := in.c.Sizes[image]
			box := boxes.Box{X: v[4*k], Y: v[4*k+1], Width: v[4*k+2], Height: v[4*k+3]}
			if box, err = box.Inside(size[0], size[1], a.where+"["+strconv.Itoa(k)+"]"); err != nil {
				if err = in.faults.of(image, err); err != nil {
					return err
				}
			}
			*to = append(*to, box)
		}
		return nil
	})
}

// finite finds images whose features are not finite.
func (in candidateReader) finite() error {
	row := make([]float32, in.c.Features.Width())
	for k := range in.c.Features.Len() {
		if err := in.c.Features.Read(row, k, k+1); err != nil {
			if err = in.faults.at(in.c.Offsets, k, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbers reads numbers of any kind.
func (a *npyArray) numbers() ([]float64, error) {
	number := decoder(strings.TrimLeft(a.dtype, "<>|="))
	if number == nil {
		return nil, a.bad(" holds %q, expected numbers", a.dtype)
	}
	values := make([]float64, 0, min(a.elements(), 1<<20))
	err := a.each(func(order binary.ByteOrder, cell []byte) { values = append(values, number(order, cell)) })
	return values, err
}

func (in candidateReader) ids() error {
	found, err := readNPY(in.archive, in.c.Name, "ids", func(a *npyArray) error {
		if err := a.expect("[images]", 1, "USiu", "strings or integers"); err != nil {
			return err
		}
		if a.shape[0] != in.c.Len() {
			return a.bad(" has %d entries, expected %d, one per image", a.shape[0], in.c.Len())
		}
		if strings.ContainsAny(a.dtype, "US") {
			texts, err := a.texts()
			in.c.IDs = texts
			return err
		}
		numbers, err := a.ints()
		for _, n := range numbers {
			in.c.IDs = append(in.c.IDs, strconv.Itoa(n))
		}
		return err
	})
	if err != nil || !found {
		return err
	}
	seen := make(map[string]int, len(in.c.IDs))
	for i, id := range in.c.IDs {
		if at, twice := seen[id]; twice {
			if err := in.faults.of(i, in.bad("ids[%d] and ids[%d] are both %q", at, i, id)); err != nil {
				return err
			}
			continue
		}
		seen[id] = i
	}
	return nil
}
