package annotations

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

func TestResults(t *testing.T) {
	for text, results := range map[string][]Result{"[]": nil, `[
		{"image_id": 9, "category_id": 18, "bbox": [0.3333333333333333, 2, 3, 4], "score": 0.1},
		{"image_id": 4, "category_id": 17, "bbox": [0, 2, 3, 4], "score": -1e-9}
	]`: {
		{ImageID: 9, ClassID: 18,
			Detection: boxes.Detection{Box: boxes.Box{X: 1.0 / 3, Y: 2, Width: 3, Height: 4}, Score: 0.1}},
		{ImageID: 4, ClassID: 17, Detection: boxes.Detection{Box: boxes.Box{X: 0, Y: 2, Width: 3, Height: 4}, Score: -1e-9}},
	}} {
		got, err := readResults(strings.NewReader(text), "a.json")
		for k := range got {
			got[k].file, got[k].index = "", 0
		}
		if err != nil || !reflect.DeepEqual(got, results) {
			t.Errorf("%v: read %+v\nexpected %+v", err, got, results)
		}
	}
	for text, want := range map[string]string{
		`[{"image_id": 1, "bbox": [1, 2, 3, 4]}, {"bbox": [1, 2, 3, 4]}]`: "a.json: [1]: no image_id",
		`[{"image_id": 1, "bbox": [1, 2, 3]}]`:                            "a.json: [0]: bbox has 3 numbers",
		`[{"image_id": 1, "bbox": [1, 2, 3, 4]}`:                          "the file ends too early",
		`{"images": []}`:                                                  "a.json: {, expected [",
		`[{"image_id": "x"}]`: "a.json: [0]: image_id is a JSON " +
			"string, expected an integer",
	} {
		if _, err := readResults(strings.NewReader(text), "a.json"); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

func TestCandidates(t *testing.T) {
	dir := write(t, map[string]string{"pets.json": cocoPets, "nine.png": "", "sub/four.png": "", "five.png": ""})
	s, err := COCO{}.Read(filepath.Join(dir, "pets.json"))
	if err != nil {
		t.Fatal(err)
	}
	dogs, _, err := s.Single("dog", false, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) []Result {
		t.Helper()
		results, err := readResults(strings.NewReader(text), "c.json")
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	const some = `[{"image_id": 9, "bbox": [0, 0, 9, 9], "score": 2}, {"image_id": 4, "bbox": [0, 0, 900, 900]},
		{"image_id": 9, "category_id": 17, "bbox": [1, 0, 9, 9]}, {"image_id": 9, "category_id": 18, "bbox": [2, 0, 98.5, 9]},
		{"image_id": 9, "bbox": [3, 0, 9, 9]}]`
	got, err := s.Candidates(dogs, read(some), "dog", 2)
	want := [][]boxes.Detection{{
		{Box: boxes.Box{Width: 9, Height: 9}, Score: 2}, {Box: boxes.Box{X: 2, Width: 98, Height: 9}},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %v, expected %v", err, got, want)
	}
	for text, want := range map[string]string{
		`[{"image_id": 4, "bbox": [0, 0, 9, 9]}]`: "pets.json: images[0]: no candidate box of class " +
			"dog for this image (id 9)",
		`[{"image_id": 7, "bbox": [0, 0, 9, 9]}]`:   "c.json: [0]: image_id 7 is not one of",
		`[{"image_id": 9, "bbox": [95, 0, 9, 9]}]`:  "c.json: [0]: box [x 95, y 0, width 9, height 9] is outside the image",
		`[{"image_id": 9, "bbox": [95, 0, -9, 9]}]`: "inverted",
	} {
		if _, err := s.Candidates(dogs, read(text), "dog", 0); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

// The class of predicted boxes is the one that was asked for, or that they name, or the only one; classes that
// differ, unknown ones, and several without a name are refused.
func TestClassOfResults(t *testing.T) {
	two := &Set{Name: "pets.json", Classes: []Class{{ID: 17, Name: "cat"}, {ID: 18, Name: "dog"}}}
	one := &Set{Name: "dogs.json", Classes: []Class{{ID: 18, Name: "dog"}}}
	of := func(ids ...int64) (all []Result) {
		for _, id := range ids {
			all = append(all, Result{ClassID: id})
		}
		return all
	}
	for _, c := range []struct {
		set     *Set
		results []Result
		asked   string
		want    string // or a part of the message
	}{
		{two, of(0, 18, 0, 18), "", "dog"}, {two, of(17), "", "cat"}, {two, of(17), "dog", "dog"},
		{one, of(0, 0), "", "dog"}, {one, nil, "", "dog"},
		{two, of(17, 18), "", "category_id 18, expected 17"}, {two, of(3), "", "category_id 3 is not a class"},
		{two, of(0), "", "choose a class"},
		{two, of(17), "bird", "bird"},
	} {
		got, err := c.set.classOf(c.results, c.asked)
		if err != nil {
			got = err.Error()
		}
		as := got == c.want || structured.IsBadInput(err) && strings.Contains(got, c.want)
		if !as || err != nil && !structured.IsBadInput(err) {
			t.Errorf("%s, asked for %q: %q, expected %q", c.set.Name, c.asked, got, c.want)
		}
	}
}
