package annotations

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// The annotations come first, as in some files, and there are fields that do not matter.
const cocoPets = `{"info": {"year": 2017, "x": [1, {"y": null}]},
"annotations": [
  {"id": 1, "image_id": 9, "category_id": 18, "bbox": [10.5, 20, 30.25, 40], "area": 800.5, "iscrowd": 0, "segmentation": [[1, 2, 3]]},
  {"id": 2, "image_id": 4, "category_id": 18, "bbox": [0, 0, 50, 50], "area": 2000, "iscrowd": 1},
  {"id": 3, "image_id": 4, "category_id": 17, "bbox": [1, 2, 3, 4], "area": 12},
  {"id": 4, "image_id": 5, "category_id": 17, "bbox": [1, 2, 3, 4], "area": 12},
  {"id": 5, "image_id": 5, "category_id": 17, "bbox": [60, 2, 3, 4], "area": 12}
],
"images": [
  {"id": 9, "file_name": "nine.png", "width": 100, "height": 80, "license": 3},
  {"id": 4, "file_name": "sub/four.png", "width": 64, "height": 64},
  {"id": 5, "file_name": "five.png", "width": 64, "height": 64}
],
"categories": [{"id": 17, "name": "cat", "supercategory": "animal"}, {"id": 18, "name": "dog"}, {"id": 19, "name": "emu"}]
}
`

func TestCOCO(t *testing.T) {
	dir := write(t, map[string]string{"pets.json": cocoPets, "nine.png": "", "sub/four.png": ""})
	s, err := COCO{}.Read(filepath.Join(dir, "pets.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Images) != 3 || s.Images[0].ID != 4 || s.Images[2].ID != 9 ||
		s.Images[0].Path != filepath.Join(dir, "sub", "four.png") {
		t.Fatalf("images %+v", s.Images)
	}
	dogs, counts, err := s.Single("dog", false, true, nil)
	if err != nil || counts != (Counts{Used: 1, None: 1, Crowd: 1}) ||
		dogs[0].Gold.Truth() != (boxes.Truth{Box: boxes.Box{X: 10.5, Y: 20, Width: 30.25, Height: 40}, Area: 800.5}) {
		t.Errorf("dogs: %v, %+v, %+v", err, counts, dogs)
	}
	if got := counts.Describe("dog"); got != "1 image with one dog; not used: 1 with a crowd, 1 without" {
		t.Error(got)
	}
	cats, counts, err := s.Single("cat", false, true, nil)
	if err != nil || counts != (Counts{Used: 1, None: 1, Several: 1}) || cats[0].ID != 4 {
		t.Errorf("cats: %v, %+v, %+v", err, counts, cats)
	}
	if got := counts.Describe("cat"); got != "1 image with one cat; not used: 1 with several, 1 without" {
		t.Error(got)
	}
	var b bytes.Buffer
	if err := WriteCOCO(&b, s, dir); err != nil {
		t.Fatal(err)
	}
	again, err := readCOCO(&b, "again", dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Set{s, again} {
		s.Name = ""
		for k := range s.Images {
			m := &s.Images[k]
			m.Place, m.folder, m.named = "", "", ""
			for j := range m.Objects {
				m.Objects[j].Place = ""
			}
		}
	}
	if !reflect.DeepEqual(s, again) {
		t.Errorf("written and read again:\n%+v\nexpected\n%+v", again, s)
	}
}

// An image may have one pixel, and one that is all box; one without pixels is refused.
func TestCOCOOfOnePixel(t *testing.T) {
	for size, fine := range map[string]bool{`"width": 1, "height": 1`: true, `"width": 1, "height": 0`: false,
		`"width": 0, "height": 1`: false} {
		text := `{"images": [{"id": 1, "file_name": "a.png", ` + size + `}], "categories": [{"id": 1, "name": "dot"}],
			"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "area": 1}]}`
		dir := write(t, map[string]string{"a.json": text, "a.png": ""})
		if _, err := (COCO{}).Read(filepath.Join(dir, "a.json")); fine != (err == nil) || err != nil &&
			!strings.Contains(err.Error(), "expected at least one pixel") {
			t.Errorf("%s: %v", size, err)
		}
	}
}

func TestBadCOCO(t *testing.T) {
	instead := func(old, new string) string {
		if !strings.Contains(cocoPets, old) {
			t.Fatalf("%q does not occur", old)
		}
		return strings.Replace(cocoPets, old, new, 1)
	}
	dir := write(t, map[string]string{"nine.png": "", "sub/four.png": ""})
	for _, c := range []struct{ json, want string }{
		{"", "a.json: the file ends too early"},
		{"[]", "a.json: [, expected {: an object with the lists images, annotations and categories"},
		{cocoPets[:300], "a.json: annotations[2]: the file ends too early, after byte"},
		{cocoPets[:len(cocoPets)-4], "a.json: categories: the file ends too early"},
		{cocoPets + "{}", "expected the end of the file"},
		{instead(`"images"`, `"pictures"`), `a.json: no list "images"`},
		{instead(`"info"`, `"images"`), "a.json: images: {, expected ["},
		{instead(`"categories": [`, `"annotations": [`), `two fields "annotations"`},
		{instead(`"id": 4, "file_name"`, `"id": 9, "file_name"`),
			"a.json: images[1]: id 9 is that of a.json: images[0], too"},
		{instead(`"id": 2, "image_id"`, `"id": 1, "image_id"`), "a.json: annotations[1]: id 1 is that " +
			"of annotations[0], too"},
		{instead(`"id": 19`, `"id": 18`), "a.json: categories[2]: id 18 is that of dog, too"},
		{instead(`"emu"`, `"dog"`), `a.json: categories[2]: there are two categories "dog"`},
		{instead(`"image_id": 9`, `"image_id": 10`), "a.json: annotations[0]: image_id 10 is not in images"},
		{instead(`"category_id": 17`, `"category_id": 16`), "a.json: annotations[2]: category_id 16 is not in " +
			"categories: cat, dog, emu"},
		{instead(`"image_id": 9, `, ``), "a.json: annotations[0]: no image_id"},
		{instead(`[1, 2, 3, 4]`, `[1, 2, 3]`), "a.json: annotations[2]: bbox has 3 numbers, expected 4"},
		{instead(`[1, 2, 3, 4]`, `[1, 2, 0, 4]`), "a.json: annotations[2]: box [x 1, y 2, width 0, height 4] is empty"},
		{instead(`[1, 2, 3, 4]`, `[1, 2, 3, -4]`), "a.json: annotations[2]: box [x 1, y 2, width 3, height -4] is inverted"},
		{instead(`[1, 2, 3, 4]`, `[62.5, 2, 3, 4]`), "is outside the image, expected it within 64 × 64 pixels"},
		{instead(`"nine.png"`, `9`), "a.json: images[0]: file_name is a JSON number, expected a string"},
		{instead(`"bbox": [1, 2, 3, 4]`, `"bbox": "1 2 3 4"`), "a.json: annotations[2]: bbox is a JSON string, " +
			"expected a list of numbers"},
		{instead(`"width": 100`, `"width": 0`), "a.json: images[0]: width 0 and height 80"},
		{instead(`"file_name": "nine.png", `, ``), "a.json: images[0]: no id or no file_name"},
		{instead(`"image_id": 9,`, `"image_id": 9;`), "a.json: annotations[0]: byte"},
	} {
		s, err := readCOCO(strings.NewReader(c.json), "a.json", dir, nil)
		if err == nil {
			_, _, err = s.Single("cat", false, true, nil)
		}
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v\nexpected %s", err, c.want)
		}
	}
}

// An empty box of an object that nobody asks for is no error.
func TestBoxThatDoesNotMatter(t *testing.T) {
	dir := write(t, map[string]string{"nine.png": "", "sub/four.png": ""})
	text := strings.Replace(cocoPets, "[60, 2, 3, 4]", "[60, 2, 0, 0]", 1)
	s, err := readCOCO(strings.NewReader(text), "a.json", dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, counts, err := s.Single("cat", false, true, nil); err != nil || counts.Used != 1 {
		t.Errorf("%v, %+v", err, counts)
	}
}

func FuzzCOCO(f *testing.F) {
	f.Add(cocoPets)
	f.Add(vocDog)
	f.Add(`[{"image_id": 9, "category_id": 17, "bbox": [1, 0, 9, 9], "score": 0.5}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := readCOCO(strings.NewReader(text), "a.json", ".", nil); err != nil && !structured.IsBadInput(err) {
			t.Error(err)
		}
		if _, err := readResults(strings.NewReader(text), "a.json"); err != nil && !structured.IsBadInput(err) {
			t.Error(err)
		}
		if _, err := readVOC(strings.NewReader(text), "a.xml", ".", nil); err != nil && !structured.IsBadInput(err) {
			t.Error(err)
		}
	})
}
