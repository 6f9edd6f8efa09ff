package training

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// file writes a temporary file and returns its path.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const trainConll = "the DT O\nbig JJ B-X\ndog NN I-X\n\na DT O\ndog NN B-X\n"

func textConfig(train string) config.Config {
	c := config.Default()
	c.Task, c.Train, c.Columns = "tag", train, "word=0,pos=1,label=-1"
	return c
}

// partialText has tokens of three labels, each determined by the word; some are hidden.
const partialText = "x A\ny ?\nz C\n\ny B\nx A|B\n\nz _\nz C|A\nx A\n\ny B\nz C\nx A\n\n"

func partialConfig(t *testing.T) config.Config {
	c := textConfig(file(t, "train.conll", partialText))
	c.Columns = ""
	c.Format, c.Partial, c.Out, c.Quiet = "conll", true, t.TempDir(), true
	return c
}

// toyData are chains of lengths 0 to 4 with 3 labels and 2 features per position.
func toyData() *structured.Dataset {
	rng := rand.New(rand.NewPCG(1, 0))
	d := &structured.Dataset{Name: "toy", Alphabet: structured.NewAlphabet("a", "b", "ç"), Dim: 2, Offsets: []int{0}}
	for i := range 9 {
		for range i % 5 {
			d.Features = append(d.Features, rng.Float32(), rng.Float32()-0.5)
			d.Labels = append(d.Labels, rng.Int32N(3))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// toyModel is a small untrained network on d.
func toyModel(t *testing.T, d *structured.Dataset, change func(*config.Config)) *models.Model {
	t.Helper()
	c := config.Default()
	c.Net, c.Hidden = "mlp", settings.Sizes{4}
	change(&c)
	m, err := models.NewModel(c, &models.Data{Train: d})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
