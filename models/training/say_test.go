package training

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
)

// A log that warns of labels which only the development data have says where the cure is: data whose types are known
// under other tags are of another notation; types that no training tag has are not.
func TestUnknownLabelsOfAnotherNotationNameTheCure(t *testing.T) {
	for dev, want := range map[string]bool{
		"Ann I-PER\nLee B-PER\n": true,
		"Ann I-LOC\nsees O\n":    false,
		"Ann I-PER\nsees O\n":    false,
	} {
		c, dir := config.Default(), t.TempDir()
		c.Train, c.Dev, c.Out, c.Passes = filepath.Join(dir, "x.conll"), filepath.Join(dir, "dev.conll"), filepath.Join(dir, "run"), 1
		for path, text := range map[string]string{c.Train: "Ann I-PER\nLee I-PER\nsees O\n", c.Dev: dev} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var log bytes.Buffer
		if _, err := Train(t.Context(), c, TrainOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(log.String(), "--scheme iob2") && strings.Contains(log.String(), "tags=I-PER"); said != want {
			t.Errorf("%q: the log is %s", dev, log.String())
		}
	}
}
