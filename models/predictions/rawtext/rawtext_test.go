package rawtext_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/predictions/rawtext"
	"github.com/dsp-go/dsp/models/training"
)

// tagger trains a small model on words.
func tagger(t *testing.T) *models.Model {
	t.Helper()
	dir := t.TempDir()
	c := config.Default()
	c.Train, c.Out, c.Passes, c.Quiet = filepath.Join(dir, "train.conll"), filepath.Join(dir, "run"), 5, true
	if err := os.WriteFile(c.Train, []byte(strings.Repeat("the O\nred B-X\nfox I-X\nruns O\n\nred B-X\n\n", 20)),
		0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := training.Train(context.Background(), c, training.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Text that is read as a whole, as for a GPU, is answered as text that arrives in pieces.
func TestWhole(t *testing.T) {
	r, err := rawtext.NewReader(tagger(t))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("The red fox runs. See the [red]\nfox!\n\nIt runs\n \n", 50)
	for _, o := range []rawtext.Options{
		{}, {JSON: true, Options: predictions.Options{Spans: true, Probability: true}}, {Inline: true},
		{Rules: tokens.Rules{Lines: true}}, {Options: predictions.Options{NBest: 2}},
	} {
		o.Rules.Splitter = tokens.Unicode{}
		var pieces, whole bytes.Buffer
		if err := r.Predict(context.Background(), iotest.OneByteReader(strings.NewReader(text)),
			"text", &pieces, o); err != nil {
			t.Fatal(err)
		}
		o.Whole = true
		if err := r.Predict(context.Background(), strings.NewReader(text), "text", &whole, o); err != nil {
			t.Fatal(err)
		}
		if pieces.Len() < len(text) || pieces.String() != whole.String() {
			t.Errorf("%+v: %d bytes in pieces, %d as a whole", o, pieces.Len(), whole.Len())
		}
	}
	d, err := r.Read(strings.NewReader(text), "text", tokens.Rules{Splitter: tokens.Unicode{}})
	if err != nil || d.Len() != 150 || d.Ranges[1] != [2]int64{4, 7} {
		t.Errorf("%d sentences, %v", d.Len(), err)
	}
}
