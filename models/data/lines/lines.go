// Package lines reads lines of text as images of varying width, or as frames of features, with what they read.
package lines

import (
	"bytes"
	"errors"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Reader makes frames of images and symbols of texts.
type Reader struct {
	Height, Columns int  // of a frame in pixels; images are scaled to that height
	Words           bool // symbols are separated by blanks; otherwise each character is one

	Remarks *remarks.Remarks // on images; nil refuses bad ones
}

// Listing is the file of a folder of images that says what they read: the name of an image, a tab and a text on each
// line.
const Listing = "lines.txt"

// IsFolder reports whether a folder has a Listing.
func IsFolder(path string) bool {
	info, err := os.Stat(filepath.Join(path, Listing))
	return err == nil && !info.IsDir()
}

// Set marks data whose frames are pixels: Columns columns of Height pixels each, from left to right, ink 1 on paper 0.
type Set struct {
	Height, Columns int
	Median          int // of the heights that the images had, in pixels
}

func (s *Set) Subset(*structured.Dataset, []int) structured.TaskData { return s }

// Join implements the interface of package union.
func (s *Set) Join([]structured.TaskData) (structured.TaskData, error) { return s, nil }

// Image returns example i of d as an image; false for frames that are no pixels.
func Image(d *structured.Dataset, i int) (*image.Gray, bool) {
	s, ok := d.TaskData.(*Set)
	if !ok {
		return nil, false
	}
	page := image.NewGray(image.Rect(0, 0, d.Length(i)*s.Columns, s.Height))
	for k, ink := range d.Features[d.Offsets[i]*d.Dim : d.Offsets[i+1]*d.Dim] {
		page.Pix[k%s.Height*page.Stride+k/s.Height] = uint8(math.Round(255 * (1 - float64(ink))))
	}
	return page, true
}

// width returns that of an image which is scaled to the height of a frame.
func (r Reader) width(width, height int) int {
	return max(1, int(math.Round(float64(width)*float64(r.Height)/float64(height))))
}

// check refuses an image that is too large as soon as it has the height of a frame: a flat one of a few bytes may be.
func (r Reader) check(name string, width, height int) error {
	if scaled := r.width(width, height); scaled > images.MaxPixels/r.Height {
		return structured.BadInput("%s: %d × %d pixels, which are %d × %d at the height of a frame, "+
			"expected at most %d in all", name, width, height, scaled, r.Height, images.MaxPixels)
	}
	return nil
}

// FramesOf returns how many frames the image in a PNG or JPEG file becomes, from its header.
func (r Reader) FramesOf(file []byte) (int, error) {
	h, err := images.HeaderOf(bytes.NewReader(file), "image")
	if err == nil {
		err = r.check("image", h.Width, h.Height)
	}
	if err != nil {
		return 0, err
	}
	return (r.width(h.Width, h.Height) + r.Columns - 1) / r.Columns, nil
}

// read reads the image in a file.
func (r Reader) read(path string) (*images.Image, error) {
	m, err := images.Read(path)
	if err == nil {
		err = r.check(path, m.Width, m.Height)
	}
	if err == nil && m.Stored.Turns() {
		r.Remarks.Done(remarks.Turned, path)
	}
	return m, err
}

// builder collects lines.
type builder struct {
	Reader
	d       *structured.Dataset
	heights []int      // of the images
	symbols [][]string // of each line
	known   bool       // what lines read is known
}

func (r Reader) builder(name string, known bool) *builder {
	return &builder{Reader: r, known: known, d: &structured.Dataset{
		Name: name, Offsets: []int{0}, IDs: []string{}, Dim: r.Height * r.Columns,
		TaskData: &Set{Height: r.Height, Columns: r.Columns},
	}}
}

func (b *builder) add(id string, m *images.Image, text string) {
	b.heights = append(b.heights, m.Height)
	b.d.Looks = append(b.d.Looks, m.Look(float64(m.Height)))
	width := b.width(m.Width, m.Height)
	if width != m.Width || b.Height != m.Height {
		m = m.Resized(width, b.Height)
	}
	frames := (width + b.Columns - 1) / b.Columns
	from := len(b.d.Features)
	b.d.Features = append(b.d.Features, make([]float32, frames*b.d.Dim)...)
	to := b.d.Features[from:]
	for x := range width {
		for y := range b.Height {
			p := m.Pixels[3*(y*width+x):][:3]
			to[x*b.Height+y] = 1 - (0.299*float32(p[0])+0.587*float32(p[1])+0.114*float32(p[2]))/255
		}
	}
	b.end(id, frames, text)
}

// end ends a line of so many frames.
func (b *builder) end(id string, frames int, text string) {
	b.d.Offsets = append(b.d.Offsets, b.d.Positions()+frames)
	b.d.IDs = append(b.d.IDs, id)
	b.symbols = append(b.symbols, b.Symbols(text))
}

func (r Reader) Symbols(text string) []string {
	if r.Words {
		return strings.Fields(text)
	}
	all := []string{}
	for _, c := range text {
		all = append(all, string(c))
	}
	return all
}

// breaks reports whether a text has symbols that would break the line on which it is printed.
func (r Reader) breaks(text string) bool { return !r.Words && strings.ContainsAny(text, "\t\r\n") }

// Joined joins symbols as a person reads them: words have blanks between them. Symbols are words if one of them is
// longer than a letter, or if one of names is and there is no blank.
func Joined(y []int32, names *structured.Alphabet) string {
	all, between := make([]string, len(y)), ""
	if names.Index(" ") < 0 && slices.ContainsFunc(names.Names(), func(s string) bool {
		return utf8.RuneCountInString(s) > 1
	}) {
		between = " "
	}
	for k, s := range y {
		if all[k] = names.Name(s); utf8.RuneCountInString(all[k]) > 1 {
			between = " "
		}
	}
	return strings.Join(all, between)
}

// finish numbers the symbols: by the given names and, after these, in alphabetical order.
func (b *builder) finish(names *structured.Alphabet) *structured.Dataset {
	d := b.d
	if s, ok := d.TaskData.(*Set); ok {
		s.Median = median(b.heights)
	}
	if names == nil {
		names = structured.NewAlphabet()
	}
	if d.Alphabet = names; !b.known {
		return d
	}
	var others []string
	for _, line := range b.symbols {
		for _, s := range line {
			if names.Index(s) < 0 {
				others = append(others, s)
			}
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		d.Alphabet = structured.NewAlphabet(append(slices.Clone(names.Names()), slices.Compact(others)...)...)
	}
	d.LabelSets = [][]int32{nil}
	d.Labels = make([]int32, d.Positions()) // of any frame, any
	for t := range d.Labels {
		d.Labels[t] = -1
	}
	for _, line := range b.symbols {
		reading := make([]int32, len(line))
		for k, s := range line {
			reading[k] = d.Alphabet.Index(s)
		}
		d.Readings = append(d.Readings, reading)
	}
	return d
}

// Lines makes data of images, whose texts are known.
func (r Reader) Lines(name string, names *structured.Alphabet,
	each func(add func(id string, m *images.Image, text string))) *structured.Dataset {
	b := r.builder(name, true)
	each(b.add)
	return b.finish(names)
}

// Unread makes data of images of which nobody knows what they read.
func (r Reader) Unread(name string, names *structured.Alphabet,
	each func(add func(id string, m *images.Image))) *structured.Dataset {
	b := r.builder(name, false)
	each(func(id string, m *images.Image) { b.add(id, m, "") })
	return b.finish(names)
}

// ReadFolder reads the images that a folder's Listing names, in its order. Without known texts, it may lack: then all
// images of the folder are lines, in the order of their names, and path may be a single image. Remarks decide on images
// that cannot be read.
func (r Reader) ReadFolder(path string, names *structured.Alphabet, known bool) (*structured.Dataset, error) {
	if !IsFolder(path) {
		switch {
		case path == "-":
			return nil, structured.BadInput("standard input: lines are read from a folder of images, or from " +
				"one image; give its path")
		case known:
			return nil, structured.BadInput("%s: no file %s, expected a folder of images with one that says what they read: a "+
				"name, a tab and a text on each line", path, Listing)
		}
		return r.readImages(path, names)
	}
	file := filepath.Join(path, Listing)
	f, err := host.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, in := r.builder(file, true), host.NewLines(f, file)
	first, bad := map[string]int{}, 0
	for {
		line, ok := in.Next()
		if !ok {
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		name, text, ok := strings.Cut(strings.TrimRight(string(line), "\r"), "\t")
		var m *images.Image
		var err error
		switch {
		case !ok || name == "":
			err = in.Bad("%.40q, expected the name of an image, a tab and what it reads", line)
		case !utf8.Valid(line):
			err = in.Bad("%.40q, expected text in UTF-8", line)
		case first[name] > 0:
			err = in.Bad("%s is there twice, first on line %d", name, first[name])
		case filepath.IsAbs(name) || strings.Contains(filepath.ToSlash(name), "../"):
			err = in.Bad("%s: expected the name of an image in this folder", name)
		case r.breaks(text):
			err = in.Bad("%.40q, expected one tab, between the name of an image and what it reads", line)
		default:
			first[name] = in.Number
			if m, err = r.read(filepath.Join(path, name)); err != nil {
				err = in.Bad("%w", err)
			}
		}
		if err != nil {
			if err = r.Remarks.Bad(err); err != nil {
				return nil, err
			}
			bad++
			continue
		}
		b.add(name, m, text)
		b.d.Lines = append(b.d.Lines, in.Number)
	}
	if in.Err() != nil {
		return nil, in.Err()
	}
	switch {
	case b.d.Len() == 0 && bad > 0:
		return nil, structured.BadInput("%s: no image can be read", path)
	case b.d.Len() == 0:
		return nil, structured.BadInput("%s: no lines, expected the name of an image, a tab and what it reads on each", file)
	}
	return b.finish(names), nil
}

// readImages reads all images of a folder, or one image.
func (r Reader) readImages(path string, names *structured.Alphabet) (*structured.Dataset, error) {
	dir, files, err := images.Files(path)
	if err != nil {
		return nil, err
	}
	b := r.builder(path, false)
	for _, name := range files {
		m, err := r.read(filepath.Join(dir, name))
		if err != nil {
			if err = r.Remarks.Bad(err); err != nil {
				return nil, err
			}
			continue
		}
		b.add(name, m, "")
		b.d.Files = append(b.d.Files, filepath.Join(dir, name))
	}
	if b.d.Len() == 0 {
		return nil, structured.BadInput("%s: no image can be read", path)
	}
	return b.finish(names), nil
}

// ReadArrays reads frames of features from an npz archive with the arrays features and lengths (arrays.Dense), texts
// [n], what each line reads, and, beside known texts, weights [n], which may lack. dim is the number of features if it
// is known, else 0.
func (r Reader) ReadArrays(path string, names *structured.Alphabet, known bool, dim int) (*structured.Dataset, error) {
	in, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, structured.BadInput("%s: %w", path, err)
	}
	d, err := arrays.Dense{Dim: dim, Unlabeled: true, Weighted: known}.Read(bytes.NewReader(content), path)
	if err != nil {
		return nil, err
	}
	texts, found, err := arrays.Texts(content, path, "texts", d.Len())
	switch {
	case err != nil:
		return nil, err
	case !found && known:
		return nil, structured.BadInput("%s: no array texts, expected [lines] strings: what each line reads", path)
	case !found:
		texts = make([]string, d.Len())
	}
	b := r.builder(path, found)
	b.d.Features, b.d.Dim, b.d.Weights, b.d.TaskData, b.d.IDs = d.Features, d.Dim, d.Weights, nil, nil
	for i, text := range texts {
		if !utf8.ValidString(text) || r.breaks(text) {
			return nil, structured.BadInput("%s: texts[%d] is %.40q, expected text in UTF-8 without tabs and ends of lines",
				path, i, text)
		}
		b.end("", d.Length(i), text)
	}
	b.d.IDs = nil
	return b.finish(names), nil
}
