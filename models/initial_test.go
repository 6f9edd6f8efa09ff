package models

import (
	"cmp"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Net deep that continues a linear model starts with its scores.
func TestDeepStartsAsTheLinearModel(t *testing.T) {
	c := textConfig(file(t, "train.conll", trainConll))
	linear, d := attributeModel(t, c)
	path := filepath.Join(t.TempDir(), ModelFile)
	if err := linear.Save(path); err != nil {
		t.Fatal(err)
	}
	c.Net, c.Init, c.Recurrent, c.CharChannels = "deep", path, settings.Sizes{5}, 4
	more, err := ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	deep, err := NewModel(c, more)
	if err != nil {
		t.Fatal(err)
	}
	if zero := []string{"char.bias", "recurrent1.candidate-bias", "recurrent1.reset-bias", "node.weight", "node.bias", "ends"}; !slices.Equal(deep.Started.Zero, zero) || len(deep.Started.Drawn) == 0 {
		t.Errorf("%+v, expected %v to be zero", deep.Started, zero)
	}
	want, err1 := linear.Potentials(context.Background(), d.Train, 1)
	got, err2 := deep.Potentials(context.Background(), more.Train, 1)
	if err := cmp.Or(err1, err2); err != nil {
		t.Fatal(err)
	}
	for k, x := range want.Parts[0].Values {
		if math.Abs(float64(x-got.Parts[0].Values[k])) > 1e-5 {
			t.Fatalf("score %d is %v, that of the linear model %v", k, got.Parts[0].Values[k], x)
		}
	}
}

// A prior whose dense features have another scale than those of the model that the run starts from is refused: its
// weights would mean something else.
func TestPriorOfAnotherScale(t *testing.T) {
	c := textConfig(file(t, "train.conll", trainConll))
	start, _ := attributeModel(t, c)
	m, _ := attributeModel(t, c)
	prior := *start
	if err := (continuedModels{start: start, prior: &prior, setting: "init"}).begin(m); err != nil {
		t.Fatal(err)
	}
	prior.Dim, prior.Standard = 1, &inputs.Standard{Mean: []float32{0}, Scale: []float32{2}}
	if err := (continuedModels{start: start, prior: &prior, setting: "init"}).begin(m); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "scales dense features otherwise") {
		t.Errorf("error %v", err)
	}
}
