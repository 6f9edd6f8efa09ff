package sweep

import (
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
)

// SharedData reads files once for all configurations that read them alike, and fits inputs once for all that fit them alike. It keeps
// them until it is dropped itself. Its methods may be called from several goroutines.
type SharedData struct{ sets *dataSets }

// ShareData returns a SharedData that holds nothing yet.
func ShareData() *SharedData {
	c := Default()
	return &SharedData{newDataSets(&c)}
}

// Of returns the data sets of a resolved configuration. Built-in data are drawn from the seed of c.
func (s *SharedData) Of(c *config.Config) (*models.Data, error) { return s.sets.of(c, whole) }
