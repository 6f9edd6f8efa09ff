package annotations

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/htmlindex" // annotations of other tools have other encodings
	"golang.org/x/text/encoding/unicode"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// VOC reads PASCAL VOC's annotations: one XML file per image.
type VOC struct {
	// folder of the images; "" is JPEGImages beside the folder of the annotations, or else that folder itself
	Images  string
	Remarks *remarks.Remarks // on annotations; nil refuses bad ones
}

// Read reads the annotations in a folder, or in Annotations in it if the folder has no XML files of its own. Images are
// numbered by the digits of their names ("2008_000015" is 2008000015), or from 1 in the order of the names if some have
// no digits or two have the same.
func (v VOC) Read(dir string) (*Set, error) {
	if own, _ := host.FilesIn(dir, "*.xml"); len(own) == 0 {
		if inside := filepath.Join(dir, "Annotations"); isFolder(inside) {
			dir = inside
		}
	}
	files, err := host.FilesIn(dir, "*.xml") // sorted
	if err != nil || len(files) == 0 {
		return nil, structured.BadInput("%s: no XML files, expected one per image as in PASCAL VOC's Annotations", dir)
	}
	names := make([]string, len(files))
	for k, path := range files {
		names[k] = strings.TrimSuffix(filepath.Base(path), ".xml")
	}
	slices.Sort(names)
	folder := v.Images
	if folder == "" {
		folder = filepath.Join(filepath.Dir(filepath.Clean(dir)), "JPEGImages")
		if !isFolder(folder) {
			folder = dir
		}
	}
	s := &Set{Name: dir}
	ids, classes := numbered(names), map[string]bool{}
	for k, name := range names {
		path := filepath.Join(dir, name+".xml")
		f, err := host.Open(path)
		if err != nil {
			return nil, err
		}
		m, err := readVOC(f, path, folder, v.Remarks)
		_ = f.Close()
		if err != nil {
			if err = v.Remarks.Bad(err); err != nil {
				return nil, err
			}
			continue
		}
		m.ID = ids[k]
		for _, o := range m.Objects {
			classes[o.Class] = true
		}
		s.Images = append(s.Images, m)
	}
	if len(s.Images) == 0 {
		return nil, structured.BadInput("%s: no annotation can be read", dir)
	}
	for name := range classes {
		s.Classes = append(s.Classes, Class{Name: name})
	}
	slices.SortFunc(s.Classes, func(a, b Class) int { return strings.Compare(a.Name, b.Name) })
	for k := range s.Classes {
		s.Classes[k].ID = int64(k + 1)
	}
	s.sort()
	return s, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// numbered returns the numbers of the images of these names.
func numbered(names []string) []int64 {
	ids, seen := make([]int64, len(names)), map[int64]bool{}
	digits := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}
	for k, name := range names {
		id, err := strconv.ParseInt(strings.Map(digits, name), 10, 64)
		if err != nil || seen[id] {
			for k := range ids {
				ids[k] = int64(k + 1)
			}
			return ids
		}
		ids[k], seen[id] = id, true
	}
	return ids
}

// The elements of an annotation that matter. Pointers tell what is missing.
type (
	vocSize struct {
		Width  pixelCount `xml:"width"`
		Height pixelCount `xml:"height"`
	}
	vocObject struct {
		Name      string      `xml:"name"`
		Difficult string      `xml:"difficult"` // "1" means yes
		Corners   *vocCorners `xml:"bndbox"`
	}
	vocCorners struct {
		XMin *coordinate `xml:"xmin"`
		YMin *coordinate `xml:"ymin"`
		XMax *coordinate `xml:"xmax"`
		YMax *coordinate `xml:"ymax"`
	}
)

// decimal parses a finite number, for which strconv.ParseFloat takes more than there is in annotations.
func decimal(text string) (float64, error) {
	x, ok := host.Decimal(text, 64)
	if !ok {
		return 0, &strconv.NumError{Func: "Decimal", Num: text, Err: strconv.ErrSyntax}
	}
	return x, nil
}

// coordinate is a number, which an empty element is not.
type coordinate float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *coordinate) UnmarshalText(text []byte) error {
	x, err := decimal(strings.TrimSpace(string(text)))
	*c = coordinate(x)
	return err
}

// pixelCount is a number of pixels, which some programs write as 160.0.
type pixelCount int

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *pixelCount) UnmarshalText(text []byte) error {
	number := strings.TrimSpace(string(text))
	x, err := decimal(number)
	if err != nil {
		return err
	}
	if x != math.Trunc(x) || math.Abs(x) > math.MaxInt32 {
		return structured.BadInput("%q, expected a whole number of pixels", number)
	}
	*n = pixelCount(x)
	return nil
}

// readVOC reads the annotation of one image, whose file is in the folder. Without the element size, the image's file
// gives the size.
func readVOC(r io.Reader, name, folder string, say *remarks.Remarks) (Image, error) {
	m := Image{Place: name}
	var size vocSize
	var objects []vocObject
	in := bufio.NewReader(r)
	first, _ := in.Peek(2)
	wide := string(first) == "\xff\xfe" || string(first) == "\xfe\xff"
	r = in
	if wide {
		r = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(in)
	}
	d := xml.NewDecoder(r)
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if wide { // the byte order mark says more than the name
			return in, nil
		}
		e, err := htmlindex.Get(charset)
		if err != nil {
			return nil, fmt.Errorf("encoding %q, expected UTF-8 or another that browsers know, such as ISO-8859-1 or GBK",
				charset)
		}
		return e.NewDecoder().Reader(in), nil
	}
	for depth := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && depth == 0 {
			return m, structured.BadInput("%s: no element <annotation>, expected an annotation of PASCAL VOC", name)
		}
		if err != nil {
			return m, brokenXML(d, name, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			line, _ := d.InputPos()
			switch {
			case depth == 0 && t.Name.Local != "annotation":
				return m, structured.BadInput("%s:%d: element <%s>, expected <annotation> of PASCAL VOC", name, line, t.Name.Local)
			case depth == 0:
				depth = 1
				continue
			case t.Name.Local == "filename":
				err = d.DecodeElement(&m.Path, &t)
			case t.Name.Local == "size":
				err = d.DecodeElement(&size, &t)
			case t.Name.Local == "object":
				var o vocObject
				err = d.DecodeElement(&o, &t)
				objects = append(objects, o)
				m.Objects = append(m.Objects, Object{Place: name + ":" + strconv.Itoa(line)})
			default:
				err = d.Skip()
			}
			if err != nil {
				return m, brokenXML(d, name, err)
			}
		case xml.EndElement: // of annotation: those of its children are read with them
			return m, m.complete(folder, size, objects, say)
		}
	}
}

// brokenXML returns an error about the syntax, or about a value that is not a number.
func brokenXML(d *xml.Decoder, name string, err error) error {
	line, _ := d.InputPos()
	var syntax *xml.SyntaxError
	var number *strconv.NumError
	switch {
	case errors.As(err, &syntax) && syntax.Msg == "unexpected EOF":
		return structured.BadInput("%s:%d: the file ends too early, expected </annotation>", name, line)
	case errors.As(err, &syntax):
		return structured.BadInput("%s:%d: %s", name, syntax.Line, syntax.Msg)
	case errors.As(err, &number):
		return structured.BadInput("%s:%d: %q, expected a number", name, line, number.Num)
	}
	return structured.BadInput("%s:%d: %w", name, line, err)
}

// complete fills in the image once its annotation has been read.
func (m *Image) complete(folder string, size vocSize, objects []vocObject, say *remarks.Remarks) error {
	file := cmp.Or(strings.TrimSpace(m.Path), stem(m.Place)) // some programs leave the name out
	m.Path, m.folder, m.named = filepath.Join(folder, filepath.FromSlash(file)), folder, file
	m.Width, m.Height = int(size.Width), int(size.Height)
	if size == (vocSize{}) {
		m.Find(say)
		err := m.exists()
		var header images.Header
		if err == nil {
			header, err = images.ReadHeader(m.Path)
		}
		if err != nil {
			return err
		}
		m.Width, m.Height = header.Width, header.Height
	}
	if m.Width < 1 || m.Height < 1 {
		return structured.BadInput("%s: an image of %d × %d pixels, expected at least one", m.Place, m.Width, m.Height)
	}
	for k, from := range objects {
		o := &m.Objects[k]
		o.Class, o.Difficult = strings.TrimSpace(from.Name), strings.TrimSpace(from.Difficult) == "1"
		if o.Class == "" {
			return structured.BadInput("%s: an object without <name>", o.Place)
		}
		c := from.Corners
		if c == nil || c.XMin == nil || c.YMin == nil || c.XMax == nil || c.YMax == nil {
			return structured.BadInput("%s: no <bndbox> with xmin, ymin, xmax and ymax for this %s", o.Place, o.Class)
		}
		o.Box = boxes.FromVOC(float64(*c.XMin), float64(*c.YMin), float64(*c.XMax), float64(*c.YMax))
	}
	return nil
}
