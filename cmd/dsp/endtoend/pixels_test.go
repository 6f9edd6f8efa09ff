package endtoend

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// pixelStack writes a stack that reads the pixels of regions, and their features beside them.
func pixelStack(t *testing.T) string {
	t.Helper()
	return write(t, "pixels.yaml", `
- pixels:
  - conv: {channels: 3, kernel: 3, stride: 2, activation: elu}
  - pool
  - flatten
- features
- dense: {units: 4, activation: elu}
`)
}

// fewScenes are the flags of a run on few drawn scenes.
var fewScenes = []string{"train", "--task", "segment", "--examples", "5,1,2", "--baselines", "off", "--quiet",
	"--passes", "4"}

// smallCrops is a small network that reads pixels.
var smallCrops = []string{"--net", "conv-crop", "--region-pixels", "8", "--channels", "6", "--hidden", "8"}

// Networks that read pixels learn, from folders and from drawn scenes, on cells and on superpixels; models keep how
// pixels are read.
func TestSegmentPixels(t *testing.T) {
	t.Parallel()
	data := drawnTextures(t)
	in := func(part, kind string) string { return filepath.Join(data, part, kind) }
	stack := pixelStack(t)
	for name, flags := range map[string][]string{
		"crops":       smallCrops,
		"pixels only": with(smallCrops, "--features", "pixels", "--region-context", "4", "--edges", "typed"),
		"superpixels": with(smallCrops, "--superpixels", "60", "--edge-units", "3"),
		"stack":       {"--net", stack, "--region-pixels", "12"},
		"image":       {"--net", write(t, "image.yaml", "- features\n- image\n- conv: {channels: 4, stride: 4, activation: elu}\n- flatten\n"), "--features", "pixels", "--edges", "own"},
		"sgd":         with(smallCrops, "--method", "sgd", "--submodular", "softplus"),
		"linear":      {"--features", "pixels+descriptor", "--region-pixels", "4"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			args := []string{"train", "--task", "segment", "--train", in("train", "images"), "--masks", in("train", "masks"), "--passes", "6", "--quiet", "--out", dir}
			dsp(t, with(args, flags...)...).ok()
			var m map[string]any
			dsp(t, "eval", "--model", dir, "--data", in("test", "images"), "--masks", in("test", "masks"), "--json").ok().json(&m)
			if m["pixel_accuracy"].(float64) < 0.72 {
				t.Errorf("got %v", m)
			}
			to := filepath.Join(t.TempDir(), "masks")
			dsp(t, "predict", "--model", dir, "--input", in("test", "images"), "--to", to).ok()
			dsp(t, "eval", "--model", dir, "--data", in("test", "images"), "--masks", to, "--json").ok().json(&m)
			if m["pixel_accuracy"].(float64) != 1 {
				t.Errorf("masks that predict wrote: %v", m)
			}
			potentials := filepath.Join(t.TempDir(), "p.npz")
			dsp(t, "export", "--model", dir, "--data", in("test", "images"), "--to", potentials).ok()
			f, err := npz.Open(potentials)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if h := f.Header("node.npy"); h == nil || h.Descr.Shape[1] != 2 {
				t.Errorf("exported %v", f.Keys())
			}
			if o := dsp(t, "info", dir).ok(); name == "crops" && !strings.Contains(o.stdout, "convolution conv1.weight") {
				t.Errorf("no convolution in\n%s", o.stdout)
			}
		})
	}
}

// Settings of pixels without effect are refused, and so are networks and features that regions do not have.
func TestSegmentPixelRefusals(t *testing.T) {
	t.Parallel()
	on := func(flags ...string) outcome {
		return dsp(t, with([]string{"train", "--task", "segment", "--examples", "2,1,1", "--out", filepath.Join(t.TempDir(), "run")}, flags...)...)
	}
	on("--region-pixels", "8").refused(exitBadInput, "--region-pixels", "--net conv-crop")
	on("--region-context", "2", "--net", "mlp").refused(exitBadInput, "--region-context", "--net conv-crop")
	on("--net", "conv-crop", "--features", "descriptor").refused(exitBadInput, "--net conv-crop reads pixels")
	on("--net", "conv-crop", "--features", "ner").refused(exitBadInput, "--features ner", "pixels+descriptor")
	on("--net", "conv-map").refused(exitBadInput, "--net conv-map does not score regions", "conv-crop")
	on("--net", "conv-crop", "--candidate-pixels", "16").refused(exitBadInput, "--candidate-pixels", "localise")
	on("--net", "conv-crop", "--region-pixels", "2").refused(exitBadInput, "--region-pixels 2")
	on("--net", "conv-crop", "--region-pixels", "2000").refused(exitBadInput, "--region-pixels 2000: expected 4 to 1024")
	on("--net", "conv-crop", "--region-context", "0").refused(exitBadInput, "--region-context 0")
	on("--net", "conv-crop", "--cell-pixels", "1", "--region-pixels", "1000", "--region-context", "0.5").refused(exitBadInput, "scene 1 of train", "lower --region-pixels")
	on("--net", "conv-crop", "--method", "bcfw").refused(exitBadInput, "bcfw", "linear")
	on("--net", write(t, "s.yaml", "- pixels: [flatten]\n"), "--features", "descriptor").refused(exitBadInput, "the stack of --net reads pixels")
	on("--net", pixelStack(t), "--features", "pixels").refused(exitBadInput, "nothing beside the pixels")
	train := drawnGraphs(t, "train.npz", 3, 3, 1)
	dsp(t, "train", "--task", "graph", "--train", train, "--net", "conv-crop").refused(exitBadInput, "--net conv-crop does not score graphs")
	dsp(t, "train", "--task", "graph", "--train", train, "--features", "pixels").refused(exitBadInput, "--features pixels")
	dsp(t, "train", "--task", "localise", "--features", "pixels+descriptor").refused(exitBadInput, "--features pixels+descriptor", "descriptor or pixels")
	dsp(t, "train", "--task", "tag", "--region-pixels", "8").refused(exitBadInput, "--region-pixels 8 has no effect")
}

// Stacks score graphs, too.
func TestGraphStack(t *testing.T) {
	t.Parallel()
	train := drawnGraphs(t, "train.npz", 20, 3, 1)
	var r resultJSON
	dsp(t, "train", "--task", "graph", "--train", train, "--test", train, "--net", write(t, "s.yaml", "- features\n- dense: {units: 4, activation: tanh}\n"), "--edge-units", "2",
		"--passes", "5", "--quiet", "--json", "--out", filepath.Join(t.TempDir(), "run")).ok().json(&r)
	if r.Net != "stack" {
		t.Errorf("got %+v", r)
	}
}

// A sweep reads pixels for the networks that want them, and features for the others.
func TestSweepPixels(t *testing.T) {
	t.Parallel()
	o := dsp(t, "sweep", "--task", "segment", "--examples", "4,2,1", "--passes", "1", "--region-pixels", "8", "--channels", "2", "--hidden", "3", "--net", "conv-crop",
		"--grid", "features=pixels,pixels+descriptor", "--quiet", "--out", filepath.Join(t.TempDir(), "sweep")).ok()
	if !strings.Contains(o.stdout, "pixels+descriptor") {
		t.Errorf("got\n%s", o.stdout)
	}
}

// Runs on graphs and on images that are killed or interrupted between passes resume to the same bits, with any number
// of threads.
func TestResumeGraphs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	train := drawnGraphs(t, "train.npz", 30, 4, 1)
	onGraphs := []string{"train", "--task", "graph", "--train", train, "--quiet", "--passes", "8"}
	for name, flags := range map[string][]string{
		"graph":           with(onGraphs, "--net", "mlp", "--hidden", "4"),
		"graph, bcfw":     with(onGraphs, "--method", "bcfw", "--gap", "0"),
		"segment, bcpfw":  with(fewScenes, "--gap", "0"),
		"segment, pixels": with(fewScenes, smallCrops...),
		"segment, adam":   with(with(fewScenes, smallCrops...), "--method", "adam", "--superpixels", "50", "--dropout", "0.1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := filepath.Join(t.TempDir(), "whole")
			dsp(t, with(flags, "--threads", "1", "--out", whole)...).ok()
			for _, signal := range []os.Signal{os.Kill, os.Interrupt} {
				dir := filepath.Join(t.TempDir(), signal.String())
				strike(t, with(flags, "--threads", "2"), dir, signal, 0)
				dsp(t, resumed(flags, dir)...).ok()
				if !bytes.Equal(modelOf(t, dir), modelOf(t, whole)) {
					t.Errorf("%v: another model", signal)
				}
			}
		})
	}
}
