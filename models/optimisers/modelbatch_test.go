package optimisers

import (
	"testing"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// Models of prox-linear are of batches, of as many examples as leave 128 models to a pass and at most 8, unless a
// setting is for models of all examples.
func TestModelsOfBatches(t *testing.T) {
	net := func(n int) *engine.Objective { return traintest.NetProblem(n, 1, 1).Objective }
	linear := traintest.NoisyProblem(300, engine.Hinge, traintest.Entropy, 0.1).Objective
	sparse := *linear
	sparse.L1 = 0.1
	crf := *net(300)
	crf.Loss = engine.CRF
	centred := *net(300)
	centred.Center = make([]float32, centred.Scorer.Dim())
	for name, c := range map[string]struct {
		o     *engine.Objective
		set   func(s *Settings)
		batch settings.ModelBatch
		inner string
	}{
		"few":              {net(10), func(s *Settings) {}, 1, "auto"},
		"127":              {net(127), func(s *Settings) {}, 1, "auto"},
		"more":             {net(300), func(s *Settings) {}, 2, "auto"},
		"many":             {net(2000), func(s *Settings) {}, 8, "auto"},
		"given":            {net(300), func(s *Settings) { s.ModelBatch = 5 }, 5, "auto"},
		"linear":           {linear, func(s *Settings) {}, settings.AllExamples, BCFW.Name},
		"linear, sparse":   {&sparse, func(s *Settings) {}, 2, "auto"},
		"batch":            {net(300), func(s *Settings) { s.Batch = 4 }, settings.AllExamples, BCFW.Name},
		"inner passes":     {net(300), func(s *Settings) { s.InnerPasses = 2 }, settings.AllExamples, BCFW.Name},
		"inner gap":        {net(300), func(s *Settings) { s.InnerGap = 0.1 }, settings.AllExamples, BCFW.Name},
		"warm-up":          {net(300), func(s *Settings) { s.WarmUp = -1 }, settings.AllExamples, BCFW.Name},
		"constant μ":       {net(300), func(s *Settings) { s.ConstantMu = true }, settings.AllExamples, BCFW.Name},
		"inner":            {net(300), func(s *Settings) { s.Inner = "svrg" }, settings.AllExamples, "svrg"},
		"inner, then":      {net(300), func(s *Settings) { s.Inner, s.Finish = "svrg", 1 }, 2, "svrg"},
		"a finish":         {net(300), func(s *Settings) { s.Finish = 1 }, 2, BCFW.Name},
		"a finish of crf":  {&crf, func(s *Settings) { s.Finish = 1 }, 2, Casimir.Name},
		"all, crf":         {&crf, func(s *Settings) { s.ModelBatch = settings.AllExamples }, settings.AllExamples, Casimir.Name},
		"around a model":   {&centred, func(s *Settings) {}, settings.AllExamples, BCFW.Name},
		"all, as is given": {net(300), func(s *Settings) { s.ModelBatch = settings.AllExamples }, settings.AllExamples, BCFW.Name},
	} {
		s := Default()
		c.set(&s)
		resolveProxLinear(&s, c.o)
		if s.ModelBatch != c.batch || s.Inner != c.inner {
			t.Errorf("%s: models of %v, inner %s, expected %v and %s", name, s.ModelBatch, s.Inner, c.batch, c.inner)
		}
		parts, by := ProxLinear.Parts(&s)
		switch {
		case s.onBatches():
			if len(parts) != 1 || parts[0] != batchSteps || by != "--model-batch "+s.ModelBatch.String() {
				t.Errorf("%s: %d parts by %s", name, len(parts), by)
			}
		case len(parts) != 1 || parts[0].Name != c.inner || by != "--inner "+c.inner:
			t.Errorf("%s: %d parts by %s", name, len(parts), by)
		}
	}
	s := Default()
	s.ModelBatch = settings.AllExamples
	if open, by := ProxLinear.Parts(&s); len(open) < 4 || by != "--inner auto" {
		t.Errorf("an open choice has %d parts by %s", len(open), by)
	}
}
