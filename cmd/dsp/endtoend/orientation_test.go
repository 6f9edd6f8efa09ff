package endtoend

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured/images/exiftest"
)

// stored writes the PNG files of a folder as JPEG and as PNG files that store their pixels in all orientations, one
// after the other from the given one on, and as JPEG files that store them upright. Only the two kinds of files that
// show the same pixels to the last bit can be compared so.
func stored(t *testing.T, dir string, first int) (turned, asJPEG, upright string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	turned, asJPEG, upright = t.TempDir(), t.TempDir(), t.TempDir()
	for k, file := range files {
		m := decodePNG(t, file)
		o, name := 1+(first-1+k)%exiftest.Orientations, filepath.Base(file)
		order := exiftest.Orders[k%2]
		jpg := strings.TrimSuffix(name, ".png") + ".jpg"
		for path, content := range map[string][]byte{
			filepath.Join(turned, name): exiftest.PNG(m, o, order, k%3 == 0), filepath.Join(asJPEG, jpg): exiftest.JPEG(m, o, order), filepath.Join(upright, jpg): exiftest.JPEG(m, 1, order),
		} {
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return turned, asJPEG, upright
}

func decodePNG(t *testing.T, path string) image.Image {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// turnedOnce checks that the log says once that so many images were turned.
func turnedOnce(t *testing.T, o outcome, images int) {
	t.Helper()
	if strings.Count(o.stderr, "turned upright, as their EXIF orientation says") != 1 || !strings.Contains(o.stderr, fmt.Sprintf("times=%d ", images)) {
		t.Errorf("the log does not say once that %d images were turned:\n%s", images, o.stderr)
	}
}

// posted answers an image as a server does.
func posted(t *testing.T, s *served, query, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	code, got := s.post("predict"+query, asJSON(t, map[string]string{"id": "x", "image": base64.StdEncoding.EncodeToString(content)}))
	if code != 200 {
		t.Fatalf("%s: %d %s", path, code, got)
	}
	return got
}

// Boxes are found in images of all orientations as in upright ones, with annotations of the upright images, with those
// of the stored pixels, and by a server.
func TestOrientedBoxes(t *testing.T) {
	t.Parallel()
	run, data := locator(t), drawnObjects(t)
	test := filepath.Join(data, "test.json")
	turned, asJPEG, upright := stored(t, filepath.Join(data, "test"), 1)
	root := t.TempDir() // file_name has the folder test
	if err := os.CopyFS(filepath.Join(root, "test"), os.DirFS(turned)); err != nil {
		t.Fatal(err)
	}
	want := dsp(t, "predict", "--model", run, "--input", test, "--json").ok().stdout
	got := dsp(t, "predict", "--model", run, "--input", test, "--images", root, "--json").ok()
	if turnedOnce(t, got, 7); got.stdout != want {
		t.Errorf("%s\nexpected\n%s", got.stdout, want)
	}
	sideways := jsonLines[boxJSON](t, dsp(t, "predict", "--model", run, "--input", asJPEG, "--json").ok().stdout)
	for k, one := range jsonLines[boxJSON](t, dsp(t, "predict", "--model", run, "--input", upright, "--json").ok().stdout) {
		if k%2 == 0 && sideways[k].Box != one.Box { // JPEG does not give every pixel the same value
			t.Errorf("image %s: %v, expected %v", one.ID, sideways[k].Box, one.Box)
		}
	}

	// Annotations of the pixels as they are stored.
	var coco struct {
		Images []map[string]any `json:"images"`
		Boxes  []struct {
			ID    int        `json:"id"`
			Image int        `json:"image_id"`
			Class int        `json:"category_id"`
			Box   [4]float64 `json:"bbox"`
			Area  float64    `json:"area"`
		} `json:"annotations"`
		Classes []any `json:"categories"`
	}
	content, err := os.ReadFile(test)
	if err == nil {
		err = json.Unmarshal(content, &coco)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Where the sides change places, and where the stored row 0 and column 0 are seen: 5 left and top, 6 right and top,
	// 7 right and bottom, 8 left and bottom.
	back := func(b [4]float64, o int, w, h float64) [4]float64 {
		x, y := b[0], b[1]
		if o == 6 || o == 7 {
			x = w - b[0] - b[2]
		}
		if o == 7 || o == 8 {
			y = h - b[1] - b[3]
		}
		return [4]float64{y, x, b[3], b[2]}
	}
	orientation := map[float64]int{}
	for k, m := range coco.Images {
		orientation[m["id"].(float64)] = 1 + k%exiftest.Orientations
		if k%exiftest.Orientations >= 4 {
			m["width"], m["height"] = m["height"], m["width"]
		}
	}
	for k := range coco.Boxes {
		if o := orientation[float64(coco.Boxes[k].Image)]; o >= 5 {
			coco.Boxes[k].Box = back(coco.Boxes[k].Box, o, 96, 72)
		}
	}
	asStored := write(t, "stored.json", asJSON(t, coco))
	got = dsp(t, "predict", "--model", run, "--input", asStored, "--images", root, "--json").ok()
	was := jsonLines[boxJSON](t, want)
	for k, one := range jsonLines[boxJSON](t, got.stdout) {
		box := was[k].Box
		if k%exiftest.Orientations >= 4 {
			box = back(box, 1+k, 96, 72)
		}
		if one.Box != box || one.IoU == nil || *one.IoU != *was[k].IoU {
			t.Errorf("image %s, annotated as stored: %+v, expected the box %v and IoU %v", one.ID, one, box, *was[k].IoU)
		}
	}
	if !strings.Contains(got.stderr, "warn: annotations give the size of the image as its file stores it") || !strings.Contains(got.stderr, "times=4 ") {
		t.Error(got.stderr)
	}

	s := serve(t, "--model", run)
	for k := range 8 {
		name := fmt.Sprintf("%05d.png", k+1)
		if got, want := posted(t, s, "", filepath.Join(turned, name)), posted(t, s, "", filepath.Join(data, "test", name)); got != want {
			t.Errorf("served, orientation %d: %s, expected %s", k+1, got, want)
		}
	}
}

// Masks of images of all orientations are those of the upright ones, whether gold masks are upright, stored as the
// image is with EXIF of their own, or without.
func TestOrientedMasks(t *testing.T) {
	t.Parallel()
	data, dir := filepath.Join(t.TempDir(), "scenes"), filepath.Join(t.TempDir(), "run")
	dsp(t, "data", "scenes", "--out", data, "--examples", "4,1,8", "--pixels", "56,40").ok()
	in := func(part, kind string) string { return filepath.Join(data, part, kind) }
	dsp(t, "train", "--task", "segment", "--train", in("train", "images"), "--masks", in("train", "masks"), "--label-names", filepath.Join(data, "labels.txt"), "--passes", "5", "--quiet", "--out", dir).ok()
	turned, asJPEG, _ := stored(t, in("test", "images"), 1)
	withEXIF, _, _ := stored(t, in("test", "masks"), 1)
	bare := t.TempDir() // masks that a program made of the stored pixels, where their size tells
	files, err := filepath.Glob(filepath.Join(in("test", "masks"), "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for k, file := range files {
		m := decodePNG(t, file)
		if k >= 4 {
			m = exiftest.Stored(m, k+1)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bare, filepath.Base(file)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	evaluated := func(images, masks string) outcome {
		return dsp(t, "eval", "--model", dir, "--data", images, "--masks", masks, "--json").ok()
	}
	want := evaluated(in("test", "images"), in("test", "masks")).stdout
	for _, masks := range []string{in("test", "masks"), withEXIF, bare} {
		got := evaluated(turned, masks)
		if turnedOnce(t, got, 7); got.stdout != want {
			t.Errorf("%s\nexpected\n%s", got.stdout, want)
		}
		if says := strings.Contains(got.stderr, "warn: masks have the size of their image as its file stores it"); says != (masks == bare) {
			t.Error(got.stderr)
		}
	}
	var m, upright map[string]any
	evaluated(asJPEG, in("test", "masks")).json(&m)
	if err := json.Unmarshal([]byte(want), &upright); err != nil || m["pixel_accuracy"].(float64) < upright["pixel_accuracy"].(float64)-0.02 {
		t.Errorf("JPEG: %v, expected %v; %v", m["pixel_accuracy"], upright["pixel_accuracy"], err)
	}
	to, wanted := t.TempDir(), t.TempDir()
	dsp(t, "predict", "--model", dir, "--input", turned, "--to", to).ok()
	dsp(t, "predict", "--model", dir, "--input", in("test", "images"), "--to", wanted).ok()
	s := serve(t, "--model", dir)
	for k := range 8 {
		name := fmt.Sprintf("%05d.png", k+1)
		checkSameMask(t, filepath.Join(to, name), filepath.Join(wanted, name))
		if got, want := posted(t, s, "", filepath.Join(turned, name)), posted(t, s, "", filepath.Join(in("test", "images"), name)); got != want {
			t.Errorf("served, orientation %d: %s, expected %s", k+1, got, want)
		}
	}
}

// Lines of text are read upright, in training and prediction, and by a server.
func TestOrientedLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dsp(t, "data", "lines", "--out", dir, "--examples", "24,1,8", "--difficulty", "0").ok()
	train, test := filepath.Join(dir, "train"), filepath.Join(dir, "test")
	trainTurned, _, _ := stored(t, train, 1)
	turned, asJPEG, upright := stored(t, test, 1)
	for from, to := range map[string]string{train: trainTurned, test: turned} {
		listing, err := os.ReadFile(filepath.Join(from, "lines.txt"))
		if err != nil || os.WriteFile(filepath.Join(to, "lines.txt"), listing, 0o666) != nil {
			t.Fatal("no listing", err)
		}
	}
	var losses []string
	for _, data := range []string{train, trainTurned} {
		run := filepath.Join(t.TempDir(), "run")
		o := dsp(t, "train", "--train", data, "--channels", "8", "--window", "3", "--passes", "2", "--json", "--out", run).ok()
		if data == trainTurned {
			turnedOnce(t, o, 21)
		}
		var r struct{ Objective float64 }
		o.json(&r)
		losses = append(losses, fmt.Sprint(r.Objective))
		dir = run
	}
	if losses[0] != losses[1] {
		t.Errorf("objectives %v of the same lines", losses)
	}
	answer := func(folder string) []string {
		lines := strings.Split(dsp(t, "predict", "--model", dir, "--input", folder, "--score").ok().stdout, "\n")
		for k, line := range lines {
			_, lines[k], _ = strings.Cut(line, "\t")
		}
		return lines
	}
	if got, want := answer(turned), answer(test); !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	fromJPEG := answer(asJPEG)
	for k, line := range answer(upright) {
		text, _, _ := strings.Cut(line, "\t")
		if got, _, _ := strings.Cut(fromJPEG[k], "\t"); got != text {
			t.Errorf("JPEG, orientation %d: %q, expected %q", k+1, got, text)
		}
	}
	s := serve(t, "--model", dir)
	for k := range 8 {
		name := fmt.Sprintf("test-%04d.png", k+1)
		if got, want := posted(t, s, "?beam=5", filepath.Join(turned, name)), posted(t, s, "?beam=5", filepath.Join(test, name)); got != want {
			t.Errorf("served, orientation %d: %s, expected %s", k+1, got, want)
		}
	}
}
