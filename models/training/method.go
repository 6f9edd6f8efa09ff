package training

import (
	"fmt"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// objective forms what is minimised, with λ = C/n.
func objective(c *config.Config, m *models.Model, data *structured.Dataset) (*engine.Objective, error) {
	if c.Constraints != "none" {
		if err := chains.CheckScheme(data, c.Constraints); err != nil {
			return nil, structured.BadInput("%w; convert the labels as they are read with --scheme %s, or leave out --constraints %s",
				err, c.Constraints, c.Constraints)
		}
	}
	loss, err := engine.ParseLoss(c.Loss)
	if err != nil {
		return nil, err
	}
	var task structured.TaskLoss // the structure's own
	if own := tasks.Of(c).Loss; own != nil {
		if task, err = own(c, m.Labels); err != nil {
			return nil, err
		}
	}
	if data, err = weighted(c, data, m.Labels); err != nil {
		return nil, err
	}
	o := &engine.Objective{
		Scorer: m.Net, Data: data, Loss: loss, Task: task,
		Lambda: float64(tasks.ChooseReg(c)) / float64(max(1, data.Len())), L1: c.L1 / float64(max(1, data.Len())),
		Center: m.Prior,
	}
	o.Radius = c.Radius
	if low, high, ok := c.Bounds.Ends(); ok {
		o.Bounds = &engine.Bounds{Low: low, High: high}
	}
	if m.Constraints != nil {
		o.Constraints = m.Constraints
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	if loss == engine.Quadratic && c.Edges != nets.EdgesNone {
		return nil, structured.BadInput("--loss %v fits the score of each label alone; give --edges none", loss)
	}
	return o, nil
}

// weighted returns data with examples weighted by the classes of their labels, if c has class weights.
func weighted(c *config.Config, data *structured.Dataset, labels *structured.Alphabet) (*structured.Dataset, error) {
	if len(c.ClassWeights) == 0 {
		return data, nil
	}
	weights, err := tasks.NumberedWeights("class-weights", c.ClassWeights, labels)
	if err != nil {
		return nil, err
	}
	d := *data
	d.Weights = data.ClassWeights(weights)
	for i, x := range d.Weights {
		if !structured.ValidWeight(x) {
			return nil, structured.BadInput("%s: --class-weights makes the weight %v, expected 0, or a number from %g to %g", data.Where(i), x, structured.LeastWeight, structured.MostWeight)
		}
	}
	return &d, nil
}

// chooseMethod returns the optimiser for o; why gives the reason of an automatic choice.
func chooseMethod(c *config.Config, o *engine.Objective, ranks int) (d *optimisers.Descriptor, why string) {
	if d, ok := c.Optimiser(); ok {
		return d, ""
	}
	kind, _, err := config.ParseDevice(c.Device)
	d, why = optimisers.Auto(c.Run(), o, netOf(c), err == nil && kind == config.CUDA)
	if given := onlyCasimirTakes(c); d == optimisers.NSlack && given != "" {
		d, why = optimisers.Casimir, "of the methods for the hinge it is one that takes --"+given
	}
	if by, because := optimisers.ForRanks(d, o); ranks > 1 && because != "" {
		return by, because
	}
	return d, why
}

// netOf names the network of a run in the reason of a choice.
func netOf(c *config.Config) string {
	if c.TuneEncoder {
		return fmt.Sprintf("net %q on an encoder that is trained along", c.Net)
	}
	return fmt.Sprintf("net %q", c.Net)
}

// onlyCasimirTakes returns a setting that is given and that casimir takes, where n-slack does not; empty if there is
// none.
func onlyCasimirTakes(c *config.Config) string {
	for _, s := range config.Settings(c) {
		casimir := s.Name == "k" || optimisers.Casimir.Takes(s.Name) // k is for smoothing, whatever the method
		if casimir && c.Gives(s.Name) && !optimisers.NSlack.Takes(s.Name) {
			return s.Name
		}
	}
	return ""
}

// checkMethod refuses a method that needs more than the objective has.
func checkMethod(c *config.Config, d *optimisers.Descriptor, method train.Method, o *engine.Objective) error {
	if method.Traits().Convex {
		if err := train.CheckConvex(c.Method, o.Scorer); err != nil {
			return adviseMethod(c, err)
		}
	}
	if o.L1 > 0 && !o.Scorer.Affine() && !d.TakesL1() {
		return structured.BadInput("--l1 %v needs scores that are linear in the weights; net %q is not. Use --net linear, --method prox-linear, or leave out --l1", c.L1, c.Net)
	}
	if err := train.CheckTerms(method, o, false); err != nil {
		return adviseMethod(c, err)
	}
	if !d.Partial {
		if err := train.CheckLabels(c.Method, o); err != nil {
			return adviseMethod(c, err)
		}
	}
	oracle, name := registry.Of(o.Scorer.Form().Structure).Oracle(), o.Scorer.Form().Structure.Name()
	_, sums := oracle.(oracles.Summer)
	_, ranks := oracle.(oracles.Ranker)
	switch {
	case !sums && c.Smoothing == "entropy":
		return structured.BadInput("--smoothing entropy needs sums over all outputs, which the oracle of a %s does not compute; use --smoothing l2", name)
	case !ranks && sums && (c.Smoothing == "l2" || c.Gives("k")):
		return structured.BadInput("--smoothing l2 and --k need the best outputs in order, which the oracle of a %s does not find; use --smoothing entropy", name)
	}
	if c.Gap > 0 && o.Partial() {
		return structured.BadInput("--gap %v needs a certificate, which partial labels do not allow; use --passes", c.Gap)
	}
	return nil
}

// chooseSmoothing returns the name of how the hinge's max is smoothed, for the method that calls the oracle; auto where
// nothing is.
func chooseSmoothing(c *config.Config, d *optimisers.Descriptor, o *engine.Objective) string {
	how, oracle := d.Oracle(&c.Settings).Smoothing, registry.Of(o.Scorer.Form().Structure).Oracle()
	_, ranks := oracle.(oracles.Ranker)
	_, sums := oracle.(oracles.Summer)
	switch {
	case c.Smoothing != "auto" || o.Loss.Smooth() || how == optimisers.NotSmoothed || how == optimisers.MaySmooth && c.Mu == 0:
		return c.Smoothing
	case c.Gives("k"):
		return "l2"
	case !sums && ranks:
		return "l2"
	case !sums:
		return "none"
	}
	return "entropy"
}

// smoothing returns how the hinge's max is smoothed.
func smoothing(c *config.Config) (oracles.Smoothing, error) {
	if c.Smoothing == "auto" {
		return oracles.Smoothing{}, nil
	}
	kind, err := oracles.ParseKind(c.Smoothing)
	if err != nil {
		return oracles.Smoothing{}, err
	}
	if d, ok := c.Optimiser(); ok && kind != oracles.None && d.Oracle(&c.Settings).Smoothing == optimisers.MaySmooth && c.Mu == 0 {
		return oracles.Smoothing{}, structured.BadInput("--smoothing %s with --method %s needs to know how much: give --mu", c.Smoothing, c.Method)
	}
	return oracles.Smoothing{Kind: kind, Mu: c.Mu, K: int(c.K)}, nil
}
