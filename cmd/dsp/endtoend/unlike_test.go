package endtoend

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repainted writes the images of a folder to another one, each pixel changed.
func repainted(t *testing.T, from string, change func(c color.NRGBA) color.NRGBA) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(from, "*.png"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	to := t.TempDir()
	for _, file := range files {
		m := decodePNG(t, file)
		out := image.NewNRGBA(m.Bounds())
		for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
			for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
				out.SetNRGBA(x, y, change(color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)))
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, out); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func inverted(c color.NRGBA) color.NRGBA { return color.NRGBA{255 - c.R, 255 - c.G, 255 - c.B, 255} }

func dimmed(c color.NRGBA) color.NRGBA {
	return color.NRGBA{uint8(0.3 * float64(c.R)), uint8(0.3 * float64(c.G)), uint8(0.3 * float64(c.B)), 255}
}

// Every task of images says that images are unlike those that the model was trained on, with both numbers; predict and
// eval whenever they read them, a server once. Of held-out images of the same kind nothing is said.
func TestImagesUnlikeTraining(t *testing.T) {
	t.Parallel()
	const other = "that the model was trained on, and predictions may be wrong"
	colours := regexp.MustCompile(`mean_colour="?\d\.\d\d \d\.\d\d \d\.\d\d"? training="?\d\.\d\d \d\.\d\d \d\.\d\d`)
	for _, test := range []struct {
		task  string
		draw  []string
		train func(dir string) []string
		test  func(dir string) string // folder of held-out images
		gold  func(dir, images string) []string
	}{
		{"transcribe", []string{"lines", "--examples", "40,1,12"},
			func(dir string) []string {
				return []string{"--train", filepath.Join(dir, "train"), "--net", "linear", "--method", "lbfgs", "--passes", "1"}
			},
			func(dir string) string { return filepath.Join(dir, "test") },
			func(dir, images string) []string {
				listing, err := os.ReadFile(filepath.Join(dir, "test", "lines.txt"))
				if err != nil || os.WriteFile(filepath.Join(images, "lines.txt"), listing, 0o666) != nil {
					t.Fatal(err)
				}
				return []string{"--data", images}
			}},
		{"segment", []string{"scenes", "--examples", "16,1,8", "--pixels", "56,40"},
			func(dir string) []string {
				return []string{"--train", filepath.Join(dir, "train", "images"), "--masks", filepath.Join(dir, "train", "masks"), "--passes", "1"}
			},
			func(dir string) string { return filepath.Join(dir, "test", "images") },
			func(dir, images string) []string {
				return []string{"--data", images, "--masks", filepath.Join(dir, "test", "masks")}
			}},
		{"localise", []string{"objects", "--examples", "24,1,12"},
			func(dir string) []string {
				return []string{"--train", filepath.Join(dir, "train.json"), "--class", "ladybird", "--candidates", "20", "--passes", "1"}
			},
			func(dir string) string { return filepath.Join(dir, "test") },
			func(dir, images string) []string {
				return []string{"--data", filepath.Join(dir, "test.json"), "--images", images}
			}},
	} {
		t.Run(test.task, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			run := filepath.Join(t.TempDir(), "run")
			dsp(t, append([]string{"data", "--out", dir, "--seed", "7"}, test.draw...)...).ok()
			dsp(t, append([]string{"train", "--task", test.task, "--out", run, "--quiet"}, test.train(dir)...)...).ok()
			alike := test.test(dir)
			negatives := repainted(t, alike, inverted)
			if test.task == "localise" { // its annotations name the folder, too
				root := t.TempDir()
				if err := os.Rename(negatives, filepath.Join(root, "test")); err != nil {
					t.Fatal(err)
				}
				negatives = filepath.Join(root, "test")
			}
			if o := dsp(t, "predict", "--model", run, "--input", alike, "--json").ok(); strings.Contains(o.stderr, other) {
				t.Errorf("held-out images: %s", o.stderr)
			}
			gold := test.gold(dir, negatives)
			if k := slices.Index(gold, "--images"); k >= 0 {
				gold[k+1] = filepath.Dir(negatives)
			}
			for _, args := range [][]string{{"predict", "--model", run, "--input", negatives, "--json"}, append([]string{"eval", "--model", run}, gold...)} {
				if o := dsp(t, args...).ok(); strings.Count(o.stderr, "of other colours, or brighter or darker, than those "+other) != 1 || !colours.MatchString(o.stderr) || !strings.Contains(o.stderr, "dsp train --init") {
					t.Errorf("%v of inverted images: %s", args, o.stderr)
				}
			}
			if o := dsp(t, "predict", "--model", run, "--input", repainted(t, alike, dimmed), "--json").ok(); !strings.Contains(o.stderr, "of another contrast than those "+other) {
				t.Errorf("dark images: %s", o.stderr)
			}
			s := serve(t, "--model", run)
			for _, folder := range []string{alike, negatives, negatives} {
				files, err := filepath.Glob(filepath.Join(folder, "*.png"))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					posted(t, s, "", file)
				}
			}
			s.stop()
			if strings.Count(s.stderr.String(), "of other colours") != 1 || !colours.MatchString(s.stderr.String()) {
				t.Errorf("served: %s", s.stderr)
			}
		})
	}
}
