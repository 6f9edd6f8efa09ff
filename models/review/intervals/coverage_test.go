package intervals

import (
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The simulations draw data sets from known distributions, so that the true metric is known. Intervals have to contain
// it with a chance of at least 92 %, and tests at 5 % must not claim a difference that is not there more often. Shares
// of simulations vary: a method that keeps to this fails with a chance below 1e-6, whatever the seed. DSP_LONG=1 draws
// ten times as many data sets, which sees smaller flaws. Of few outputs, intervals contain it more often: they allow
// for outputs that were not seen.
const (
	coverage = 0.92
	unlikely = 4.9 // standard deviations
)

// bounds returns the number of simulations, the least share of intervals that contain the truth, and the largest share
// of false alarms.
func bounds() (n int, least, most float64) {
	if n = 400; os.Getenv("DSP_LONG") != "" {
		n *= 10
	}
	slack := func(p float64) float64 { return unlikely * math.Sqrt(p*(1-p)/float64(n)) }
	return n, coverage - slack(coverage), Significant + slack(Significant)
}

// population draws an output's part and whole, of which the metric of all outputs is known.
type population struct {
	name  string
	truth float64
	draw  func(r *rand.Rand) []float64
}

func binomial(r *rand.Rand, n int, p float64) (k float64) {
	for range n {
		if r.Float64() < p {
			k++
		}
	}
	return k
}

// sentences have 5 to 30 tokens; of the hard ones, which are a third, a share of tokens is right, of the others more.
func sentences(name string, hard, other float64) population {
	return population{name, (hard + 2*other) / 3, func(r *rand.Rand) []float64 {
		n, p := 5+r.IntN(26), other
		if r.IntN(3) == 0 {
			p = hard
		}
		return []float64{binomial(r, n, p), float64(n)}
	}}
}

// entities: a sentence has 0 to 4, each found with probability q, else missed or, as often, in another place.
func entities(name string, q float64) population {
	return population{name, 2 * q / (2*q + (1-q)*1.5), func(r *rand.Rand) []float64 {
		row := []float64{0, 0}
		for range r.IntN(5) {
			switch {
			case r.Float64() < q:
				row[0], row[1] = row[0]+2, row[1]+2
			case r.IntN(2) == 0:
				row[1]++
			default:
				row[1] += 2
			}
		}
		return row
	}}
}

// overlaps are of boxes, of which some miss altogether.
func overlaps(name string, missed float64) population {
	return population{name, (1 - missed) * 0.8, func(r *rand.Rand) []float64 {
		if r.Float64() < missed {
			return []float64{0, 1}
		}
		return []float64{min(1, 0.8+0.05*r.NormFloat64()), 1}
	}}
}

// failing are sentences of which some are wrong as a whole, and others in single tokens.
func failing(name string, whole, right float64) population {
	return population{name, (1 - whole) * right, func(r *rand.Rand) []float64 {
		n := 5 + r.IntN(26)
		if r.Float64() < whole {
			return []float64{0, float64(n)}
		}
		return []float64{binomial(r, n, right), float64(n)}
	}}
}

// unequal have lengths with a heavy tail, and the longer ones are harder.
func unequal(name string, length func(r *rand.Rand) int, right func(length float64) float64) population {
	r, tokens, all := rand.New(rand.NewPCG(1, 1)), 0.0, 0.0
	for range 300_000 {
		n := float64(length(r))
		tokens, all = tokens+n*right(n), all+n
	}
	return population{name, tokens / all, func(r *rand.Rand) []float64 {
		n := length(r)
		return []float64{binomial(r, n, right(float64(n))), float64(n)}
	}}
}

func lognormal(spread float64) func(r *rand.Rand) int {
	return func(r *rand.Rand) int { return 1 + int(math.Exp(2.3+spread*r.NormFloat64())) }
}

func pareto(tail float64) func(r *rand.Rand) int {
	return func(r *rand.Rand) int { return int(min(2000, 5*math.Pow(1-r.Float64(), -1/tail))) }
}

// masks have two classes in every image, and one in an eighth of them.
func masks(name string, rare float64) population {
	return population{name, (0.9 + 0.7 + rare) / 3, func(r *rand.Rand) []float64 {
		row := make([]float64, 6)
		for k, iou := range []float64{0.9, 0.7, rare} {
			if k < 2 || r.IntN(8) == 0 {
				n := 50 + r.IntN(200)
				row[2*k], row[2*k+1] = binomial(r, n, min(1, max(0, iou+0.15*r.NormFloat64()))), float64(n)
			}
		}
		return row
	}}
}

// What makes intervals too narrow that look at the spread of what was seen alone: outputs of a rare kind, and few that
// weigh most.
func TestCoverageOfHardPopulations(t *testing.T) {
	sims, least, _ := bounds()
	mild := func(n float64) float64 { return max(0.5, 0.99-0.03*math.Log(n/5+1)) }
	steep := func(n float64) float64 { return max(0.4, 0.98-0.002*n) }
	for _, p := range []population{
		overlaps("IoU, 3 % missed", 0.03), overlaps("IoU, 10 % missed", 0.1), overlaps("IoU, 1 % missed", 0.01),
		failing("3 % of sentences wrong as a whole", 0.03, 0.99), failing("10 % of sentences wrong as a whole", 0.1, 0.97),
		unequal("lognormal lengths", lognormal(1.2), mild), unequal("wider lognormal lengths", lognormal(1.5), steep),
		unequal("Pareto lengths", pareto(1.2), mild), masks("a rare class of IoU 40 %", 0.4),
		masks("a rare class of IoU 70 %", 0.7),
	} {
		for _, n := range []int{10, 40} {
			r, contained := rand.New(rand.NewPCG(uint64(n), 4)), 0
			for range sims {
				if x := drawCounts(r, n, p).Interval(); x.Low <= p.truth && p.truth <= x.High {
					contained++
				}
			}
			if share := float64(contained) / float64(sims); share < least {
				t.Errorf("%s, %d outputs: %.3f of intervals contain it", p.name, n, share)
			}
		}
	}
}

// Where outputs of a kind that is rare and wrong as a whole may be missing, the interval contains the truth or says so.
func TestCautionsOfRareKinds(t *testing.T) {
	sims, least, _ := bounds()
	for _, p := range []population{
		failing("2 % of sentences wrong as a whole", 0.02, 0.99), failing("2 %, the others less sure", 0.02, 0.97),
		failing("4 % of sentences wrong as a whole", 0.04, 0.99),
	} {
		missed := 0
		for _, n := range []int{30, 40, 60, 80, 120} {
			r, silent := rand.New(rand.NewPCG(uint64(n), 5)), 0
			for range sims {
				x := drawCounts(r, n, p).Interval()
				switch {
				case p.truth >= x.Low && p.truth <= x.High:
				case x.Caution == "":
					silent++
				default:
					missed++
				}
			}
			if share := 1 - float64(silent)/float64(sims); share < least {
				t.Errorf("%s, %d outputs: %.3f of intervals contain it or say why they may not", p.name, n, share)
			}
		}
		if missed < sims/10 {
			t.Errorf("%s: only %d of %d intervals needed it", p.name, missed, 5*sims)
		}
	}
	r := rand.New(rand.NewPCG(8, 1))
	for range 100 { // ordinary sentences
		for n, p := range map[int]population{200: sentences("", 0.85, 0.97), 80: entities("", 0.7),
			60: sentences("", 0.6, 0.9)} {
			if x := drawCounts(r, n, p).Interval(); x.Caution != "" {
				t.Fatalf("%d ordinary outputs: %s", n, x.Caution)
			}
		}
	}
	c := make(Counts, 60)
	for i := range c {
		c[i] = []float64{float64(19 + i%2), 20}
	}
	const want = `^if 1 in [0-9]+ outputs is wrong as a whole, of which 60 outputs may hold none by chance, the true value is below$`
	if x := c.Interval(); !regexp.MustCompile(want).MatchString(x.Caution) {
		t.Errorf("%+v", x)
	}
}

// No interval covers a truth that depends on outputs larger than all that were seen, and where that may be, it says so.
// Of ordinary sentences none does.
func TestCautions(t *testing.T) {
	long := unequal("Pareto lengths, steep", pareto(1.5), func(n float64) float64 { return max(0.4, 0.98-0.002*n) })
	r, silent := rand.New(rand.NewPCG(7, 1)), 0
	for range 200 {
		if x := drawCounts(r, 200, long).Interval(); x.Caution == "" && (long.truth < x.Low || long.truth > x.High) {
			silent++
		}
		if x := drawCounts(r, 40, sentences("", 0.85, 0.97)).Interval(); x.Caution == large {
			t.Fatalf("ordinary sentences: %s", x.Caution)
		}
	}
	if silent > 20 {
		t.Errorf("%d of 200 intervals miss the truth and say nothing", silent)
	}
	absent := Counts{{9, 10, 0, 0}, {8, 10, 0, 0}}.Interval()
	if absent.Low > 0.45 || absent.High < 0.9 || absent.Caution == "" {
		t.Errorf("a class in no output: %+v", absent)
	}
	if e := (Estimate{Label: "mean class IoU", Value: 0.85, Interval: absent}); !strings.Contains(e.String(),
		"; some classes are in no output") {
		t.Error(e)
	}
}

// Errors may be more than there are things: of character accuracy, parts are negative.
func TestIntervalBelowZero(t *testing.T) {
	c := Counts{{-5, 10}, {-2, 10}, {1, 10}, {0, 10}}
	if x := c.Interval(); !(x.Low < -0.15 && x.High > -0.15 && x.High < 1) {
		t.Errorf("%+v", x)
	}
}

func drawCounts(r *rand.Rand, n int, p population) Counts {
	c := make(Counts, n)
	for i := range c {
		c[i] = p.draw(r)
	}
	return c
}

func TestCoverage(t *testing.T) {
	sims, least, _ := bounds()
	for _, p := range []population{
		sentences("accuracy 93 %", 0.85, 0.97), sentences("accuracy 80 %", 0.6, 0.9),
		sentences("accuracy 99 %", 0.976, 0.997),
		entities("F1 76 %", 0.7),
		{"sequences 90 %", 0.9, func(r *rand.Rand) []float64 { return []float64{binomial(r, 1, 0.9), 1} }},
		{"IoU 67 %", 2.0 / 3, func(r *rand.Rand) []float64 { return []float64{max(r.Float64(), r.Float64()), 1} }},
	} {
		for _, n := range []int{10, 40, 200} {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			contained, width, deviation := 0, 0.0, 0.0
			for range sims {
				x := drawCounts(r, n, p).Interval()
				if x.Low <= p.truth && p.truth <= x.High {
					contained++
				}
				width, deviation = width+x.High-x.Low, deviation+x.Deviation
			}
			if share := float64(contained) / float64(sims); share < least {
				t.Errorf("%s, %d outputs: %.3f of intervals contain it", p.name, n, share)
			}
			if n == 200 && width > 1.2*2*1.96*deviation {
				t.Errorf("%s: intervals have a width of %.4f, standard deviations %.4f", p.name,
					width/float64(sims), deviation/float64(sims))
			}
		}
	}
}

// couple draws a sentence with the outputs of two models, which share errors and each have their own.
type couple struct {
	name string
	gain float64
	draw func(r *rand.Rand) (a, b []float64)
}

// tagged has tokens that both models get wrong, most in hard sentences, and others that one of them gets wrong.
func tagged(name string, both, first, second float64) couple {
	return couple{name, (1 - both) * (second - first), func(r *rand.Rand) (a, b []float64) {
		n, hard := 5+r.IntN(26), 0.0
		if r.IntN(3) == 0 {
			hard = 3 * both
		}
		left := n - int(binomial(r, n, hard))
		all := float64(n)
		return []float64{float64(left) - binomial(r, left, first), all},
			[]float64{float64(left) - binomial(r, left, second), all}
	}}
}

// found has entities that the models find with different probabilities, and half of the time together.
func found(name string, q1, q2 float64) couple {
	f1 := func(q float64) float64 { return 2 * q / (2*q + (1-q)*1.5) }
	return couple{name, f1(q1) - f1(q2), func(r *rand.Rand) (a, b []float64) {
		a, b = []float64{0, 0}, []float64{0, 0}
		for range r.IntN(5) {
			u, v := r.Float64(), r.Float64()
			if r.IntN(2) == 0 {
				v = u
			}
			for _, x := range []struct {
				row     []float64
				finding float64
				right   bool
			}{{a, u, u < q1}, {b, v, v < q2}} {
				switch {
				case x.right:
					x.row[0] += 2
					x.row[1] += 2
				case r.IntN(2) == 0:
					x.row[1]++
				default:
					x.row[1] += 2
				}
			}
		}
		return a, b
	}}
}

// failingAndWrong has a model that fails on whole sentences, and one that errs as often in single tokens.
func failingAndWrong(name string, whole, more float64) couple {
	return couple{name, 0, func(r *rand.Rand) (a, b []float64) {
		n := 5 + r.IntN(26)
		a, b = []float64{float64(n), float64(n)}, []float64{float64(n) - binomial(r, n, whole+(1-whole)*more), float64(n)}
		if a[0] -= binomial(r, n, more); r.Float64() < whole {
			a[0] = 0
		}
		return a, b
	}}
}

func TestDifferencesCoverAndRaiseNoAlarms(t *testing.T) {
	sims, least, most := bounds()
	for _, p := range []couple{
		tagged("few errors", 0.01, 0.004, 0.004), tagged("tokens apart", 0.05, 0.05, 0.03),
		found("entities alike", 0.9, 0.9), found("entities apart", 0.8, 0.9),
		failingAndWrong("2 % of sentences, and tokens", 0.02, 0), failingAndWrong("10 % of sentences, and tokens", 0.1, 0),
		failingAndWrong("3 % of sentences and tokens, and tokens", 0.03, 0.01),
		{"IoU of boxes that miss, and of others", 0, func(r *rand.Rand) (a, b []float64) {
			return overlaps("", 0.05).draw(r), []float64{min(1, 0.76+0.05*r.NormFloat64()), 1}
		}},
		{"masks with a rare class", 0, func(r *rand.Rand) (a, b []float64) {
			a, b = masks("", 0.5).draw(r), make([]float64, 6)
			for k, iou := range []float64{0.8, 0.7, 0.6} {
				b[2*k], b[2*k+1] = binomial(r, int(a[2*k+1]), min(1, max(0, iou+0.15*r.NormFloat64()))), a[2*k+1]
			}
			return a, b
		}},
	} {
		for _, n := range []int{10, 40, 200} {
			r := rand.New(rand.NewPCG(uint64(n), 2))
			contained, claimed := 0, 0
			for range sims {
				a, b := make(Counts, n), make(Counts, n)
				for i := range a {
					a[i], b[i] = p.draw(r)
				}
				d := compare(a, b, 59)
				if d.Low <= p.gain && p.gain <= d.High {
					contained++
				}
				if d.decided() {
					claimed++
				}
				if d.decided() == (d.Low <= 0 && d.High >= 0) {
					t.Fatalf("%s: the interval %v to %v and p = %v say different things", p.name, d.Low, d.High, d.P)
				}
			}
			if share := float64(contained) / float64(sims); share < least {
				t.Errorf("%s, %d outputs: %.3f of intervals contain the difference", p.name, n, share)
			}
			switch share := float64(claimed) / float64(sims); {
			case p.gain == 0 && share > most:
				t.Errorf("%s, %d outputs: %.3f of tests claim a difference", p.name, n, share)
			case p.gain != 0 && n == 200 && share < 0.8:
				t.Errorf("%s: only %.3f of tests see the difference", p.name, share)
			}
		}
	}
}

// Of several metrics that are tested together, none is claimed to differ more often than a single one would be.
func TestTestsOfSeveralMetrics(t *testing.T) {
	sims, _, most := bounds()
	p := tagged("tokens alike", 0.05, 0.03, 0.03)
	r := rand.New(rand.NewPCG(1, 3))
	alone, together := 0, 0
	for range sims {
		var tests []*Difference
		for range 4 {
			a, b := make(Counts, 20), make(Counts, 20)
			for i := range a {
				a[i], b[i] = p.draw(r)
			}
			d := compare(a, b, 159)
			tests = append(tests, &d)
		}
		claims := func() (n int) {
			for _, d := range tests {
				if d.decided() {
					return 1
				}
			}
			return 0
		}
		alone += claims()
		Correct(tests, len(tests))
		together += claims()
		for _, d := range tests {
			if d.decided() == (d.Low <= 0 && d.High >= 0) {
				t.Fatalf("with others the interval %v to %v and p = %v say different things", d.Low, d.High, d.Adjusted)
			}
		}
	}
	if share := float64(together) / float64(sims); share > most+0.01 || alone <= 2*together {
		t.Errorf("%.3f of families claim a difference, without correction %d instead of %d", share, alone, together)
	}
}
