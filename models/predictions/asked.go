package predictions

import (
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Asked are options as a user gives them: flags of dsp predict and eval, or options of a request to a server.
type Asked struct {
	Options
	Truncate bool `yaml:"truncate" help:"with cuts, unless --truncate=false: lower the scores of edges that do not favour equal labels until they do, and say how many there were; with --truncate=false they are an error"`

	Given settings.Given
}

// Ask returns the options of an asker who has given none yet.
func Ask(by settings.Asker) Asked {
	return Asked{Options: Options{Asker: by, Decode: Best, SampleTemperature: 1}, Truncate: true}
}

// Check refuses settings with values that they do not take, and those that do not go with each other. all are the
// settings of a that the user may give.
func (a *Asked) Check(all []settings.Setting) error {
	by, p := a.Asker, a.MinProbability
	switch given := a.Given.Has; {
	case given("min-probability") && !a.Spans:
		return structured.BadInput("%s is for %s, which lists entities", by.Name("min-probability", p), by.Name("spans"))
	case given("min-probability") && !(p > 0 && p <= 1):
		return structured.BadInput("%s: expected more than 0, and at most 1", by.Name("min-probability", p))
	case a.EntityThreshold > 0 && a.Decode != EntityF1:
		return structured.BadInput("%s is for %s, which chooses entities by their probabilities",
			by.Name("threshold", a.EntityThreshold), by.Name("decode", EntityF1))
	}
	for _, name := range []string{"temperature", "seed"} {
		if a.Given.Has(name) && a.Samples == 0 {
			return structured.BadInput("%s is for %s, which draws outputs at random", by.Name(name), by.Name("samples"))
		}
	}
	for _, s := range all {
		if err := s.Check(); err != nil {
			return err
		}
	}
	a.Exact = !a.Truncate
	return nil
}
