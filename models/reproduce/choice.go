package reproduce

import (
	"math"
	"regexp"
	"strconv"
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// choice says how values of tuned settings are compared: by the least objective over the passes, among those whose best
// metric is within a share of the best one, if a metric is given (section 7.3 of the paper, "Tuning Criteria"). The
// zero value compares objectives only.
type choice struct {
	within float64 // share of the best metric
	metric quantity
}

var choicePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^objective(?: within ([0-9.]+) ?% of (dev .+))?$`)
})

func parseChoice(text string) (choice, error) {
	found := choicePattern().FindStringSubmatch(text)
	if found == nil {
		return choice{}, structured.BadInput("expected objective, or objective within N%% of dev METRIC, found %q", text)
	}
	if found[1] == "" {
		return choice{}, nil
	}
	percent, err := strconv.ParseFloat(found[1], 64)
	if err != nil || percent > 100 {
		return choice{}, structured.BadInput("%q: expected a share in percent", text)
	}
	q, err := parseQuantity(found[2])
	return choice{percent / 100, q}, err
}

// best returns the index of the best run; −1 if all of them diverged.
func (c choice) best(runs []*Run) int {
	admitted := math.NaN()
	if c.metric != (quantity{}) {
		top := math.NaN()
		for _, r := range runs {
			if x := (measure{kind: "best", quantity: c.metric}).of(r); r.Diverged == "" &&
				!math.IsNaN(x) && !(x*c.sign() <= top) {
				top = x * c.sign()
			}
		}
		admitted = top - c.within*math.Abs(top)
	}
	best, least := -1, math.Inf(1)
	for k, r := range runs {
		x := measure{kind: "best", quantity: c.metric}.of(r) * c.sign()
		if r.Diverged != "" || x < admitted {
			continue
		}
		if f := (measure{kind: "best", quantity: quantity{name: "objective"}}).of(r); f < least {
			best, least = k, f
		}
	}
	return best
}

// sign is −1 for metrics that are better when they are smaller.
func (c choice) sign() float64 {
	if c.metric.rises() {
		return 1
	}
	return -1
}
