package sweep

import (
	"log/slog"

	"github.com/dsp-go/dsp/models"
)

// SharedData reads files once for all configurations that read them alike, and fits inputs once for all that fit them
// alike. It keeps them until it is dropped itself. Its methods may be called from several goroutines.
type SharedData struct{ sets *dataSets }

// ShareData returns a SharedData that holds nothing yet.
func ShareData() *SharedData {
	c := Default()
	return &SharedData{newDataSets(&c, slog.New(slog.DiscardHandler))}
}

// Of returns the data sets of resolved settings. Built-in data are drawn from their seed.
func (s *SharedData) Of(r *models.Resolved) (*models.Data, error) { return s.sets.of(r, whole) }
