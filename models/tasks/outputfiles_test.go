package tasks

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured"
)

func textFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Links of two files are counted as those of a model are; either stand in pairs of the same words, or alone.
func TestCompareLinks(t *testing.T) {
	gold := textFile(t, "gold.pairs", "a b ||| c d ||| 0-0 1?1\ne ||| f ||| 0-0\n")
	alone := textFile(t, "gold.links", "0-0 1p1 0-0\n0-0\n")
	if !LinksAlone(alone) || LinksAlone(gold) || LinksAlone(textFile(t, "x", "a\t0-0\n")) || LinksAlone(textFile(t, "x", "\n")) {
		t.Error("links are taken for others, or others for links")
	}
	for k, predicted := range []string{"0-0 1-0\n\n", "a b ||| c d ||| 0-0 1-0\ne ||| f |||\n", "0-0 1-0\n\n", "a b ||| c d ||| 0-0 1-0\ne ||| f |||\n"} {
		of := []string{gold, alone}[k/2]
		r, err := compareLinks(OutputFiles{Gold: of, Predicted: textFile(t, "predicted", predicted)})
		if err != nil {
			t.Fatal(err)
		}
		m := r.General()
		// Of 2 predicted links 1 is sure; there are 2 sure ones and 3 possible ones.
		want := map[string]float64{"precision": 0.5, "recall": 0.5, "aer": 0.5, "predicted": 2, "sure": 2,
			"possible": 3, "pairs": 2}
		for name, value := range want {
			if math.Abs(m.Get(name)-value) > 1e-12 {
				t.Errorf("%q: %s is %v, expected %v", predicted, name, m.Get(name), value)
			}
		}
	}
	// The sentences may be of any length.
	for _, words := range []int{1_000, 5_000, 300_000} {
		pair := strings.Repeat("word ", words) + "||| c d ||| 0-0\n"
		long := textFile(t, "long.pairs", pair+pair)
		for _, predicted := range []string{pair + pair, "\n0-0\n", strings.Repeat("0-0 ", words) + "\n\n"} {
			if _, err := compareLinks(OutputFiles{Gold: long, Predicted: textFile(t, "predicted", predicted)}); err != nil {
				t.Errorf("%d words, predicted %.10q…: %v", words, predicted, err)
			}
		}
	}
	for predicted, want := range map[string]string{"0-0\n": "found 1 sentence pairs, expected the 2 of " + alone, "0-0\n0-x\n": `predicted:2: link "0-x"`} {
		_, err := compareLinks(OutputFiles{Gold: alone, Predicted: textFile(t, "predicted", predicted)})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", predicted, err, want)
		}
	}
	for predicted, want := range map[string]string{
		"0-0\n":                                "ends after line 1, expected 2 lines",
		"0-0\n0-1\n":                           "predicted:2: link 0-1",
		"a x ||| c d ||| 0-0\ne ||| f |||\n":   "predicted:1: other words, expected those of " + gold + ":1",
		"a b c ||| d ||| 0-0\ne ||| f |||\n":   "predicted:1: other words",
		"a b ||| c d ||| 0-0\n":                "found 1 sentence pairs, expected the 2 of " + gold,
		"a b ||| c d ||| 0-0\ne ||| f ||| x\n": `link "x"`,
	} {
		_, err := compareLinks(OutputFiles{Gold: gold, Predicted: textFile(t, "predicted", predicted)})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", predicted, err, want)
		}
	}
}

// Masks of two folders are counted pixel by pixel. Void pixels of the gold ones do not count; 0 and 255 are a
// background and an object.
func TestCompareMasks(t *testing.T) {
	folder := func(all map[string][]uint8) string {
		dir := filepath.Join(t.TempDir(), "masks[1]*?") // no pattern
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, labels := range all {
			m := masks.New(2, len(labels)/2)
			m.Labels, m.Palette = labels, nil
			if err := m.Write(filepath.Join(dir, name+".png")); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	compared := func(gold, predicted map[string][]uint8, void string) (structured.Metrics, error) {
		r, err := compareMasks(OutputFiles{Gold: folder(gold), Predicted: folder(predicted), Void: void})
		if err != nil {
			return structured.Metrics{}, err
		}
		return r.General(), nil
	}
	for _, c := range []struct {
		gold, predicted []uint8
		void            string
		accuracy, iou   float64
	}{
		{[]uint8{0, 1, 2, 255}, []uint8{0, 1, 1, 2}, "", 2. / 3, 0.5}, // IoU 1, 1/2, 0
		{[]uint8{0, 255, 255, 0}, []uint8{0, 255, 0, 0}, "", 3. / 4, (2./3 + 1./2) / 2},
		{[]uint8{0, 1, 0, 1}, []uint8{1, 1, 0, 1}, "0", 1, 1},
	} {
		m, err := compared(map[string][]uint8{"a": c.gold}, map[string][]uint8{"a": c.predicted, "c": {1, 1}}, c.void)
		if err != nil || math.Abs(m.Get("pixel_accuracy")-c.accuracy) > 1e-12 || math.Abs(m.Get("miou")-c.iou) > 1e-12 {
			t.Errorf("%v, %v: %v, %+v", c.gold, c.predicted, err, m)
		}
	}
	for _, c := range []struct {
		predicted map[string][]uint8
		want      string
	}{
		{map[string][]uint8{"b": {0, 1}}, "no predicted mask, expected"},
		{map[string][]uint8{"a": {0, 1, 0, 1}}, "2 × 2 pixels, expected the 2 × 1 of"},
		{map[string][]uint8{"a": {0, 255}}, "the pixel at x 1, y 0 is void"},
	} {
		if _, err := compared(map[string][]uint8{"a": {0, 1}}, c.predicted, ""); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, expected %s", c.predicted, err, c.want)
		}
	}
	if _, err := compareMasks(OutputFiles{Gold: t.TempDir(), Predicted: t.TempDir()}); !structured.IsBadInput(err) {
		t.Error(err)
	}
}

// Boxes are compared in the images with exactly one object of the class; images without a predicted box are misses. The
// images need not be there.
func TestCompareBoxes(t *testing.T) {
	image := func(id string) string { return `{"id": ` + id + `, "file_name": "x.png", "width": 20, "height": 10}` }
	object := func(id, image, class, box string) string {
		return `{"id": ` + id + `, "image_id": ` + image + `, "category_id": ` + class + `, "bbox": ` + box + `}`
	}
	file := func(classes string) string {
		return textFile(t, "gold.json", `{"images": [`+image("1")+","+image("2")+","+image("7")+","+
			image("8")+`], "annotations": [`+
			object("1", "1", "3", "[0, 0, 10, 10]")+","+object("2", "2", "3", "[0, 0, 4, 4]")+","+
			object("3", "7", "3", "[0, 0, 4, 4]")+","+
			object("4", "8", "3", "[0, 0, 4, 4]")+","+object("5", "8", "3", "[9, 0, 4, 4]")+`], "categories": [`+classes+`]}`)
	}
	const beetle, bus = `{"id": 3, "name": "ladybird beetle"}`, `{"id": 4, "name": "bus"}`
	one, two := file(beetle), file(beetle+","+bus)
	folder := t.TempDir()
	for name, box := range map[string]string{"1": "1 1 10 10", "2": "1 1 4 4", "7": "1 1 4 4"} {
		v := strings.Fields(box)
		text := "<annotation><filename>" + name +
			".png</filename><size><width>20</width><height>10</height></size><object><name>ladybird " +
			"beetle</name><bndbox><xmin>" +
			v[0] + "</xmin><ymin>" + v[1] + "</ymin><xmax>" + v[2] + "</xmax><ymax>" + v[3] +
			"</ymax></bndbox></object></annotation>"
		if err := os.WriteFile(filepath.Join(folder, name+".xml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const list = `[{"image_id": 1, "category_id": %, "bbox": [0, 0, 10, 8], "score": 2}, {"image_id": 1, "category_id": %, "bbox": [9, 9, 1, 1], "score": -1},
		{"image_id": 2, "category_id": %, "bbox": [2, 0, 4, 4], "score": 3}, {"image_id": 8, "category_id": %, "bbox": [0, 0, 1, 1]}]`
	const lines = `{"id": "1", "box": [0, 0, 10, 8], "score": 2, "more": {}}` + "\n" +
		`{"id": 2, "box": [2, 0, 4, 4], "score": 3}` + "\n\n"
	of := func(class string) string { return strings.ReplaceAll(list, "%", class) }
	withoutLast := strings.Replace(of("0"), `, {"image_id": 8, "category_id": 0, "bbox": [0, 0, 1, 1]}`, "", 1)
	for name, c := range map[string]struct{ gold, predicted, class string }{
		"results": {one, of("3"), ""}, "one class of two": {two, of("3"), ""}, "no class": {one, of("0"), ""},
		"lines": {one, lines, ""}, "VOC": {folder, withoutLast, ""},
		"lines, a class is given": {two, lines, "ladybird beetle"},
		"of two predicted classes": {two, "[" + `{"image_id": 1, "category_id": 4, "bbox": [0, 0, 10, 10], "score": 9},` +
			of("3")[1:], "ladybird beetle"},
	} {
		r, err := compareBoxFiles(OutputFiles{Gold: c.gold, Predicted: textFile(t, "predicted.json", c.predicted),
			Class: c.class})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// IoU 0.8, 8/24 and none.
		m := r.General()
		if math.Abs(m.Get("corloc")-1./3) > 1e-12 || math.Abs(m.Get("mean_iou")-(0.8+1./3)/3) > 1e-12 ||
			math.Abs(m.Get("ap50")-34./101/2) > 1e-12 { // the box with the higher score is wrong
			t.Errorf("%s: %+v", name, m)
		}
		if text := r.Text(ReportOptions{}); !strings.Contains(text, "3 images with one ladybird beetle") ||
			!strings.Contains(text, "33.33 %") {
			t.Error(text)
		}
	}
	for _, c := range []struct{ gold, predicted, want string }{
		{two, lines, `choose a class with --class: "ladybird beetle", bus`},
		{one, of("5"), `predicted.json: [0]: category_id 5 is not a class of ` + one + `, which has "ladybird beetle"`},
		{two, strings.Replace(of("3"), `3, "bbox": [2`, `4, "bbox": [2`, 1),
			"predicted.json: [2]: category_id 4, expected 3 as before"},
		{two, of("4"), "expected at least one"},
		{one, `[{"image_id": 9, "bbox": [0, 0, 1, 1]}]`, "image_id 9 is not one of " + one},
		{one, `[{"image_id": 1, "bbox": [0, 0, -1, 1]}]`, "expected x, y, width and height"},
		{one, "{\"id\": \"1\", \"box\": [0, 0, 1]}", "predicted.json:1: box has 3 numbers, expected 4"},
		{one, "\n{\"id\": \"a\", \"box\": [0, 0, 1, 1]}", `predicted.json:2: id "a", expected the number of an image`},
		{one, "{\n", "predicted.json:1: "},
		{one, "x", "predicted.json"},
		{t.TempDir(), lines, "no XML files"},
	} {
		_, err := compareBoxFiles(OutputFiles{Gold: c.gold, Predicted: textFile(t, "predicted.json", c.predicted)})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", c.predicted, err, c.want)
		}
	}
}
