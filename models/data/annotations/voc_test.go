package annotations

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

const vocDog = `<annotation>
	<folder>VOC2007</folder>
	<filename>000012.jpg</filename>
	<owner><name>someone</name></owner>
	<size><width>500</width><height>333</height><depth>3</depth></size>
	<object>
		<name>dog</name>
		<difficult>0</difficult>
		<bndbox><ymin>97</ymin><xmin>156</xmin><ymax>270</ymax><xmax>351</xmax></bndbox>
		<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></part>
	</object>
	<object>
		<name>cat</name>
		<difficult>1</difficult>
		<bndbox><xmin>1</xmin><ymin>1.5</ymin><xmax>500</xmax><ymax>333</ymax></bndbox>
	</object>
</annotation>
`

// write writes files into a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestVOC(t *testing.T) {
	second := strings.NewReplacer("000012", "000007", "cat", "dog").Replace(vocDog)
	dir := write(t, map[string]string{
		"Annotations/000012.xml": vocDog, "Annotations/000007.xml": second, "JPEGImages/000012.jpg": "",
		"JPEGImages/000007.jpg": "",
	})
	for _, folder := range []string{dir, filepath.Join(dir, "Annotations")} {
		s, err := VOC{}.Read(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Images) != 2 || s.Images[1].ID != 12 || s.Images[1].Path != filepath.Join(dir, "JPEGImages", "000012.jpg") ||
			s.Images[1].Width != 500 || s.Images[1].Height != 333 {
			t.Errorf("images %+v", s.Images)
		}
		if got := s.ClassNames(); !slices.Equal(got, []string{"cat", "dog"}) || s.ClassID("dog") != 2 {
			t.Errorf("classes %v", s.Classes)
		}
		o := s.Images[1].Objects
		if len(o) != 2 || o[0].Box != (boxes.Box{X: 155, Y: 96, Width: 196, Height: 174}) ||
			o[1].Box != (boxes.Box{X: 0, Y: 0.5, Width: 500, Height: 332.5}) || o[0].Difficult || !o[1].Difficult ||
			!strings.HasSuffix(o[1].Place, "000012.xml:12") {
			t.Errorf("objects %+v", o)
		}
		examples, counts, err := s.Single("dog", false, true, nil)
		if err != nil || len(examples) != 1 || examples[0].ID != 12 || examples[0].Gold.Class != "dog" ||
			counts != (Counts{Used: 1, Several: 1}) {
			t.Errorf("%v: dogs %+v, %+v", err, examples, counts)
		}
		if _, counts, err := s.Single("cat", false, true, nil); !structured.IsBadInput(err) ||
			counts != (Counts{Difficult: 1, None: 1}) ||
			!strings.Contains(err.Error(), "0 images with one cat; not used: 1 with a difficult one, 1 without") {
			t.Errorf("cats: %v, %+v", err, counts)
		}
		if examples, _, err := s.Single("cat", true, true, nil); err != nil || len(examples) != 1 {
			t.Errorf("difficult cats: %v", err)
		}
	}
}

// The folder around Annotations is as good as Annotations, unless it has XML files of its own.
func TestVOCFromItsRoot(t *testing.T) {
	dir := write(t, map[string]string{"Annotations/000012.xml": vocDog, "JPEGImages/000012.jpg": ""})
	s, err := VOC{}.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Images) != 1 || s.Images[0].Path != filepath.Join(dir, "JPEGImages", "000012.jpg") {
		t.Errorf("images %+v", s.Images)
	}
	if err := os.WriteFile(filepath.Join(dir, "000007.xml"), []byte("<html></html>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := (VOC{}).Read(dir); err == nil || !strings.Contains(err.Error(), "000007.xml:1: element <html>") {
		t.Errorf("a folder with its own XML file: %v", err)
	}
}

func TestVOCNumbers(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  []int64
	}{
		{[]string{"2008_000003", "2008_000015"}, []int64{2008000003, 2008000015}},
		{[]string{"a1", "b1"}, []int64{1, 2}}, {[]string{"5", "x"}, []int64{1, 2}},
		{[]string{"99999999999999999999", "7"}, []int64{1, 2}},
	} {
		if got := numbered(c.names); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, expected %v", c.names, got, c.want)
		}
	}
}

func TestBadVOC(t *testing.T) {
	without := func(part string) string { return strings.Replace(vocDog, part, "", 1) }
	instead := func(old, new string) string { return strings.Replace(vocDog, old, new, 1) }
	for _, c := range []struct{ xml, want string }{
		{vocDog[:400], ":10: the file ends too early"},
		{"", "no element <annotation>"},
		{"<html></html>", ":1: element <html>, expected <annotation>"},
		{instead("</object>", "</objects>"), ":11: element <object> closed by </objects>"},
		{instead("<width>500", "<width>0"), "0 × 333 pixels"},
		{instead("<width>500", "<width>wide"), `:5: "wide", expected a number`},
		{instead("<xmin>156", "<xmin>x"), `"x", expected a number`},
		{instead("<xmin>156", "<xmin>-inf"), `"-inf", expected a number`},
		{instead("<xmin>156", "<xmin>1_56"), `"1_56", expected a number`},
		{instead("<xmin>156", "<xmin>"), `"", expected a number`},
		{instead("<ymax>270", "<ymax> "), `"", expected a number`},
		{without("<name>dog</name>"), ":6: an object without <name>"},
		{without("<xmin>156</xmin>"), ":6: no <bndbox> with xmin"},
		{instead("<xmin>156", "<xmin>353"), ":6: box [x 352, y 96, width -1, height 174] is inverted"},
		{instead("<xmax>351", "<xmax>502"), ":6: box [x 155, y 96, width 347, height 174] is outside the image, expected " +
			"it within 500 × 333 pixels"},
		{instead("<xmax>351", "<xmax>NaN"), `"NaN", expected a number`},
		{without("<size><width>500</width><height>333</height><depth>3</depth></size>"), "no image file"},
	} {
		dir := write(t, map[string]string{"000012.xml": c.xml})
		s, err := VOC{}.Read(dir)
		if err == nil {
			err = os.WriteFile(s.Images[0].Path, nil, 0o666)
		}
		if err == nil {
			_, _, err = s.Single("dog", false, true, nil)
		}
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), filepath.Join(dir, "000012.xml")+":") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v\nexpected %s", err, c.want)
		}
	}
	if _, err := (VOC{}).Read(t.TempDir()); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "no XML files") {
		t.Errorf("error %v, expected one about no XML files", err)
	}
	dir := write(t, map[string]string{"000012.xml": vocDog})
	s, err := VOC{}.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]string{"dog": "000012.xml: no image file",
		"horse": `no class "horse", expected one of: cat, dog`} {
		if _, _, err := s.Single(class, false, true, nil); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", class, err, want)
		}
	}
}
