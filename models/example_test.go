package models_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/training"
)

// A model is trained from a Config, kept as one file, and loaded wherever labels are wanted.
func Example() {
	dir, err := os.MkdirTemp("", "dsp")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	c := config.Default()
	c.Examples = settings.Sizes{50, 10, 3} // drawn words to train on, to choose by, and to test on
	c.Net, c.Method, c.Passes, c.Baselines = "linear", "bcfw", 5, "off"
	c.Out = filepath.Join(dir, "run")
	result, err := training.Train(context.Background(), c, training.TrainOptions{})
	if err != nil {
		panic(err)
	}

	m, err := models.Load(result.Model)
	if err != nil {
		panic(err)
	}
	words, err := m.ReadData(models.Request{Path: "builtin", Labels: true})
	if err != nil {
		panic(err)
	}
	err = m.Predict(context.Background(), words, predictions.Options{}, func(i int, p *predictions.Prediction) error {
		fmt.Println(words.ID(i), len(p.Labels), "letters read")
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// test-0-with 4 letters read
	// test-1-change 6 letters read
	// test-2-oil 3 letters read
}
