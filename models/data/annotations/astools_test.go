package annotations

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// Annotations name images as the machine did that they were made on.
func TestImagesElsewhere(t *testing.T) {
	for named, file := range map[string]string{
		"000012": "000012.jpg", "000012.png": "000012.jpg", `C:\data\000012.jpg`: "000012.jpg",
		"/home/me/JPEGImages/000012.jpg": "000012.jpg", "000012.jpg": "000012.JPG", "renamed.jpg": "dog.jpeg", "": "dog.png",
		`sub\000012.png`: "sub/000012.png", "a/b/000012.jpg": "b/000012.jpg",
	} {
		dir := write(t, map[string]string{"dog.xml": strings.Replace(vocDog, "000012.jpg", named, 1), file: ""})
		say := remarks.New(false)
		s, err := VOC{Remarks: say}.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if some, _, err := s.Single("dog", false, false, say); err != nil ||
			some[0].Path != filepath.Join(dir, filepath.FromSlash(file)) {
			t.Errorf("%s in place of %s: %v, %+v", file, named, err, some)
		}
	}
	dir := write(t, map[string]string{"nine.png": "", "four.png": "", "five.png": ""})
	text := strings.NewReplacer(`"nine.png"`, `"/data/coco/train/nine.png"`, "sub/four.png",
		"D:\\\\x\\\\four.png").Replace(cocoPets)
	s, err := readCOCO(strings.NewReader(text), "a.json", dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if some, _, err := s.Single("dog", false, false, nil); err != nil || some[0].Path != filepath.Join(dir, "nine.png") {
		t.Errorf("an absolute file_name: %v, %+v", err, some)
	}
}

// Annotations have encodings and numbers as programs write them.
func TestVOCOfOtherTools(t *testing.T) {
	chinese, err := simplifiedchinese.GBK.NewEncoder().String(strings.NewReplacer("<name>dog", "<name>狗",
		"someone", "某人").Replace(vocDog))
	if err != nil {
		t.Fatal(err)
	}
	wide := func(order unicode.Endianness, class string) string {
		xml := `<?xml version="1.0" encoding="UTF-16"?>` + strings.Replace(vocDog, "<name>dog", "<name>"+class, 1)
		text, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(xml)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for class, xml := range map[string]string{
		"dog":       strings.Replace(vocDog, "<width>500<", "<width> 500.0 <", 1),
		"caf\u00e9": `<?xml version="1.0" encoding="ISO-8859-1"?>` + strings.Replace(vocDog, "<name>dog", "<name>caf\xe9", 1),
		"狗":         `<?xml version="1.0" encoding="gb2312"?>` + chinese, "犬": wide(unicode.BigEndian, "犬"),
		"кот": wide(unicode.LittleEndian, "кот"),
	} {
		m, err := readVOC(strings.NewReader(xml), "a.xml", ".", nil)
		if err != nil || m.Width != 500 || m.Objects[0].Class != class {
			t.Errorf("%s: %v, %+v", class, err, m)
		}
	}
	for xml, want := range map[string]string{strings.Replace(vocDog, "500<", "500.5<",
		1): `"500.5", expected a whole number of pixels`, `<?xml version="1.0" encoding="no-such"?>` +
		vocDog: `encoding "no-such", expected UTF-8`} {
		if _, err := readVOC(strings.NewReader(xml), "a.xml", ".", nil); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// Boxes without area are no objects; files and annotations that are bad are left out where that is asked for.
func TestBadAnnotations(t *testing.T) {
	flat := strings.NewReplacer("<ymax>270", "<ymax>96", "<name>cat", "<name>dog", "<difficult>1",
		"<difficult>0").Replace(vocDog)
	dir := write(t, map[string]string{"flat.xml": flat, "000012.jpg": ""})
	say := remarks.New(false)
	s, err := VOC{}.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if some, counts, err := s.Single("dog", false, false, say); err != nil || counts.Used != 1 ||
		some[0].Gold.Box.Width != 500 {
		t.Errorf("a box of no height: %v, %+v", err, counts)
	}
	if _, _, err := s.Single("dog", false, true, nil); err == nil && len(s.Images[0].Objects) != 2 {
		t.Error("the flat box is gone")
	}
	dir = write(t, map[string]string{"a.xml": vocDog, "b.xml": "<html/>",
		"c.xml": strings.Replace(vocDog, "000012.jpg", "c.jpg", 1), "000012.jpg": ""})
	if _, err := (VOC{}).Read(dir); !structured.IsBadInput(err) {
		t.Error(err)
	}
	say = remarks.New(true)
	if s, err = (VOC{Remarks: say}).Read(dir); err != nil || len(s.Images) != 2 {
		t.Fatal(err)
	}
	if some, counts, err := s.Single("dog", false, false, say); err != nil || len(some) != 1 ||
		counts.Bad != 1 || len(say.Reasons()) != 2 {
		t.Errorf("%v, %+v, %q", err, counts, say.Reasons())
	}
	say = remarks.New(true)
	dir = write(t, map[string]string{"nine.png": "", "sub/four.png": "", "five.png": ""})
	text := strings.NewReplacer(`"bbox": [10.5, 20, 30.25, 40]`, `"bbox": [10.5, 20]`, `"image_id": 4, "category_id": 17`,
		`"image_id": 44, "category_id": 17`, `{"id": 19, "name": "emu"}`, `{"id": "x", "name": "emu"}`).Replace(cocoPets)
	s, err = readCOCO(strings.NewReader(text), "a.json", dir, say)
	if err != nil || len(say.Reasons()) != 3 {
		t.Fatalf("%v, %q", err, say.Reasons())
	}
	// nobody knows how many dogs image 9 has
	if _, counts, err := s.Single("dog", false, false, say); err == nil || counts.Bad != 1 {
		t.Errorf("%v, %+v", err, counts)
	}
}
