package training

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
)

// vast is a scorer with more weights than any memory holds.
type vast struct{ nets.Scorer }

func (vast) Dim() int { return 1 << 45 }

// Weights and steps that do not fit into memory are refused before training.
func TestTooManyWeightsForMemory(t *testing.T) {
	if _, known := host.AvailableMemory(); !known {
		t.Skip("nobody knows here how much memory there is")
	}
	c := textConfig(file(t, "train.conll", trainConll))
	data, err := models.ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRun(c, data, TrainOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSteps(&r.config, r.problem); err != nil {
		t.Error(err)
	}
	r.problem.Scorer = vast{r.problem.Scorer}
	if err := checkSteps(&r.config, r.problem); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "lower --batch") {
		t.Errorf("got %v", err)
	}
}
