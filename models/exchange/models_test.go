package exchange

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

// file writes a file into a new folder and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// toyData are chains of lengths 0 to 4 with 3 labels and 2 features per position.
func toyData(seed uint64) *structured.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0))
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

// toyModel is a small network on d with random weights.
func toyModel(t *testing.T, d *structured.Dataset, change func(*config.Config)) *models.Model {
	t.Helper()
	c := config.Default()
	c.Net, c.Hidden = "mlp", settings.Sizes{4}
	if change != nil {
		change(&c)
	}
	m, err := models.NewModel(c, &models.Data{Train: d})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range m.W {
		m.W[i] = float32(rng.NormFloat64())
	}
	return m
}
