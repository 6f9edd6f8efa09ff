package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured/boxes"
)

// Results for images without annotations number the class as the training data did.
func TestClassNumber(t *testing.T) {
	t.Parallel()
	data, dir := drawnObjects(t), filepath.Join(t.TempDir(), "run")
	text, err := os.ReadFile(filepath.Join(data, "train.json"))
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Images      []map[string]any `json:"images"`
		Annotations []map[string]any `json:"annotations"`
		Categories  []map[string]any `json:"categories"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		t.Fatal(err)
	}
	for _, a := range set.Annotations {
		a["category_id"] = a["category_id"].(float64) + 40
	}
	for _, c := range set.Categories {
		c["id"] = c["id"].(float64) + 40
	}
	if text, err = json.Marshal(set); err != nil {
		t.Fatal(err)
	}
	train := write(t, "train.json", string(text))
	dsp(t, "train", "--train", train, "--images", data, "--class", "ladybird", "--passes", "1", "--quiet", "--out", dir).ok()
	o := dsp(t, "predict", "--model", dir, "--input", filepath.Join(data, "test")).ok()
	if strings.Count(o.stdout, `"category_id":41,`) != 8 {
		t.Errorf("not 8 boxes of class 41:\n%s", o.stdout)
	}
	dsp(t, "predict", "--model", dir, "--input", filepath.Join(data, "test"), "--truncate").refused(exitBadInput, "--truncate is for cuts")
}

// Features that stay outside memory give the same model, and the log says what bounds a pass.
func TestLocaliseArrays(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	c := &arrays.Candidates{Offsets: []int{0}}
	for range 12 {
		gold := boxes.Box{X: float64(r.IntN(50)), Y: float64(r.IntN(30)), Width: 20, Height: 15}
		for k := range 20 {
			b := gold
			if k != 7 {
				b = boxes.Box{X: float64(r.IntN(50)), Y: float64(r.IntN(30)), Width: 20, Height: 15}
			}
			c.Boxes = append(c.Boxes, b)
		}
		c.Offsets, c.Sizes, c.Gold = append(c.Offsets, len(c.Boxes)), append(c.Sizes, [2]int{80, 60}), append(c.Gold, gold)
	}
	w := arrays.CandidateWriter{Shape: []int{4, 2, 2}, Half: true, Features: func(image int, dst []float32) error {
		for k := range dst {
			dst[k] = r.Float32() + float32(c.Boxes[c.Offsets[image]+k/16].IoU(c.Gold[image]))
		}
		return nil
	}}
	var content bytes.Buffer
	if err := w.Write(&content, c); err != nil {
		t.Fatal(err)
	}
	path := write(t, "candidates.npz", content.String())
	for _, net := range []string{"linear", "conv-map"} {
		inside, outside := filepath.Join(t.TempDir(), "inside"), filepath.Join(t.TempDir(), "outside")
		flags := []string{"train", "--task", "localise", "--class", "cat", "--train", path, "--net", net, "--passes", "3"}
		dsp(t, with(flags, "--out", inside)...).ok()
		o := dsp(t, with(flags, "--out", outside, "--stream")...).ok()
		if !bytes.Equal(modelOf(t, inside), modelOf(t, outside)) {
			t.Errorf("%s: another model where features stay on disk", net)
		}
		if !strings.Contains(o.stderr, "bound_by") {
			t.Errorf("%s: nothing says what bounds a pass:\n%s", net, o.stderr)
		}
		var m map[string]float64
		dsp(t, "eval", "--model", inside, "--data", path, "--json").ok().json(&m)
		if m["corloc"] < 0.8 || m["oracle_iou"] != 1 {
			t.Errorf("%s: got %v", net, m)
		}
	}
	dsp(t, "train", "--task", "localise", "--train", write(t, "short.npz", content.String()[:content.Len()/2])).refused(exitBadInput, "short.npz")
	dsp(t, "train", "--task", "localise", "--train", path, "--search", "windows").refused(exitBadInput, "--search windows")
	dsp(t, "predict", "--model", locator(t), "--input", path).refused(exitBadInput, "[4 2 2]", "[18 2 2]")
}

// Data that are wrong, and settings that contradict each other, are refused with what was found, and leave no folder.
func TestLocaliseRefusals(t *testing.T) {
	t.Parallel()
	data := drawnObjects(t)
	good, err := os.ReadFile(filepath.Join(data, "train.json"))
	if err != nil {
		t.Fatal(err)
	}
	annotated := func(images, annotations string) string {
		return write(t, "a.json", fmt.Sprintf(`{"images":[%s],"annotations":[%s],"categories":[{"id":1,"name":"cat"}]}`, images, annotations))
	}
	const image = `{"id":1,"file_name":"00001.png","width":96,"height":72}`
	box := func(corners string) string { return `{"id":1,"image_id":1,"category_id":1,"bbox":[` + corners + `]}` }
	for _, c := range []struct {
		name     string
		flags    []string
		messages []string
	}{
		{"truncated JSON", []string{"--train", write(t, "t.json", string(good[:len(good)/2]))}, []string{"t.json"}},
		{"outside", []string{"--train", annotated(image, box("90,10,50,5"))}, []string{"a.json", "96"}},
		{"empty", []string{"--train", annotated(image, box("10,10,0,5"))}, []string{"a.json"}},
		{"inverted", []string{"--train", annotated(image, box("10,10,-5,5"))}, []string{"a.json"}},
		{"no such class", []string{"--train", annotated(image, box("1,2,30,40")), "--class", "dog"}, []string{`"dog"`, "cat"}},
		{"no class chosen", []string{"--train", filepath.Join(data, "train.json")}, []string{"--class", "ladybird", "beetle"}},
		{"no image file", []string{"--train", annotated(`{"id":1,"file_name":"none.png","width":96,"height":72}`, box("1,2,30,40"))}, []string{"none.png"}},
		{"another size", []string{"--train", annotated(`{"id":1,"file_name":"00001.png","width":97,"height":72}`, box("1,2,30,40"))}, []string{"97", "96"}},
		{"no object", []string{"--train", annotated(image, "")}, []string{"a.json"}},
		{"no candidates", []string{"--train", annotated(image, box("1,2,30,40")), "--boxes", write(t, "none.json", "[]")}, []string{"no candidate box"}},
		{"candidate outside", []string{"--train", annotated(image, box("1,2,30,40")),
			"--boxes", write(t, "far.json", `[{"image_id":1,"bbox":[200,1,5,5]}]`)}, []string{"far.json"}},
		{"truncated XML", []string{"--train", vocFolder(t, "<annotation><filename>a.png</filename><size>"), "--class", "cat"}, []string{"a.xml"}},
		{"images alone", []string{"--train", filepath.Join(data, "train"), "--task", "localise"}, []string{"train: a folder of images alone has no boxes to train on; expected annotations, in the format coco or voc"}},
		{"other task", []string{"--train", filepath.Join(data, "train.json"), "--task", "tag"}, []string{"--task localise"}},
		{"text", []string{"--task", "localise", "--train", write(t, "x.conll", sentences)}, []string{"conll", "coco"}},
		{"cells", []string{"--task", "localise", "--search-grid", "1", "--search", "windows"}, []string{"--search-grid 1"}},
		{"cells of candidates", []string{"--task", "localise", "--search-grid", "8"}, []string{"--search-grid 8", "--search windows"}},
		{"crop", []string{"--task", "localise", "--candidate-pixels", "20"}, []string{"--candidate-pixels 20", "multiple of 8"}},
		{"attributes", []string{"--task", "localise", "--features", "ner"}, []string{"--features ner", "descriptor"}},
		{"more cells than pixels", []string{"--task", "localise", "--search", "windows", "--search-grid", "200", "--examples", "2,1,1"}, []string{"fewer cells", "200"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.HasSuffix(c.flags[1], "a.json") {
				c.flags = append(c.flags, "--images", filepath.Join(data, "train"))
			}
			o, out := begin(t, c.flags...)
			o.refused(exitBadInput, c.messages...)
			if _, err := os.Stat(out); err == nil {
				t.Error("a refused run left a folder")
			}
		})
	}
	dsp(t, "data", "objects").refused(exitBadInput, "--out")
	dsp(t, "data", "objects", "--out", t.TempDir(), "--pixels", "5,5").refused(exitBadInput, "pixels")
	dsp(t, "predict", "--model", locator(t), "--input", write(t, "x.conll", sentences)).refused(exitBadInput, "coco")
	dsp(t, "eval", "--model", locator(t), "--data", filepath.Join(data, "test")).refused(exitBadInput, "without boxes")
}

// vocFolder writes a folder with one XML file.
func vocFolder(t *testing.T, text string) string {
	t.Helper()
	return filepath.Dir(write(t, "a.xml", text))
}

// Images with several objects or none of the class are counted and not used, in PASCAL VOC's format too.
func TestVOC(t *testing.T) {
	t.Parallel()
	dir, image := t.TempDir(), filepath.Join(drawnObjects(t), "train", "00001.png")
	content, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	object := func(class string) string {
		return "<object><name>" + class + "</name><bndbox><xmin>5</xmin><ymin>5</ymin><xmax>40</xmax><ymax>40</ymax></bndbox></object>"
	}
	for name, objects := range map[string]string{"1": object("cat"), "2": object("cat") + object("cat"), "3": object("dog"), "4": object("cat") + object("dog")} {
		text := "<annotation><filename>" + name + ".png</filename><size><width>96</width><height>72</height></size>" + objects + "</annotation>"
		if err := os.WriteFile(filepath.Join(dir, name+".xml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".png"), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "cats")
	o := dsp(t, "train", "--train", dir, "--class", "cat", "--candidates", "30", "--candidate-pixels", "8", "--passes", "3", "--out", out).ok()
	if !strings.Contains(o.stderr, "2 images with one cat") || !strings.Contains(o.stderr, "1 with several") || !strings.Contains(o.stderr, "1 without") {
		t.Errorf("printed\n%s", o.stderr)
	}
	all := jsonLines[boxJSON](t, dsp(t, "predict", "--model", out, "--input", dir, "--json").ok().stdout)
	if len(all) != 4 || all[0].IoU == nil || all[1].IoU != nil {
		t.Errorf("predicted %+v", all)
	}
}
