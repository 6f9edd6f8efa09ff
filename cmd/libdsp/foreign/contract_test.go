package foreign

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/pcfg"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/windows"
)

// settingsOf returns the settings with which a caller describes the form of θ.
func settingsOf(θ *structured.Potentials) Settings {
	s := Settings{Structure: θ.Structure.Name(), Labels: θ.Parts[0].Width}
	switch of := θ.Structure.(type) {
	case chains.Chain:
		s.PerPosition = θ.Parts[1].Offsets != nil
	case segments.Segments, segments.Counted:
		shape := segments.ShapeOf(θ.Parts)
		s = Settings{
			Structure: s.Structure, Tags: shape.Tags, Longest: shape.Longest,
			Ends: shape.End > 0, Whole: shape.Whole > 0, PerPosition: shape.PerPosition,
		}
	case trees.SpanningTree:
		s.Labels = θ.Parts[1].Width
	case graphs.Pairwise:
		s.Structure, s.Edges, s.Inference = "graph", of.Edges.String(), of.By.String()
		if of.Edges == graphs.Typed {
			s.Types = θ.Parts[1].Width / (s.Labels * s.Labels)
		}
	case windows.Window:
		s = Settings{Structure: s.Structure, Height: of.Height, Width: of.Width, Limit: of.Limit}
	case constituents.Tree:
		s.Labels = θ.Parts[1].Width - 1
	case pcfg.Tree:
		n, m := pcfg.Sizes(θ.Parts)
		s = Settings{Structure: s.Structure, Nonterminals: n, Preterminals: m, PerExample: θ.Parts[2].Offsets != nil}
	case monotone.Alignment:
		s = Settings{Structure: monotone.Alignment{}.Name(), Moves: of.Moves}
	case matchings.Matching, choices.Choice:
		s.Labels = 0
	}
	return s
}

// given writes settings without those that are zero, as callers do.
func (s Settings) given() []byte {
	text, _ := json.Marshal(s)
	var all, some map[string]any
	json.Unmarshal(text, &all)
	some = map[string]any{}
	for name, value := range all {
		if value != "" && value != false && value != 0.0 {
			some[name] = value
		}
	}
	text, _ = json.Marshal(some)
	return text
}

// asked is an oracle whose answers come from a batch, with some number of threads and some budget.
type asked struct {
	form    *Form
	given   string
	threads int
	roots   bool // trees may have several
}

func (o *asked) batch(θ *structured.Potentials) (*Batch, [][]float32) {
	settings := settingsOf(θ)
	settings.Roots = o.roots
	given := settings.given()
	if o.form == nil || string(given) != o.given {
		form, err := NewForm(given)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", given, err))
		}
		o.form, o.given = form, string(given)
	}
	var values [][]float32
	for _, p := range θ.Parts {
		values = append(values, p.Values)
	}
	b, err := o.form.NewBatch(layoutOf(θ))
	if err != nil {
		panic(err)
	}
	o.threads = o.threads%3 + 1
	return b, values
}

// whole asks in pieces until all examples are answered.
func (o *asked) whole(t *Batch, ask func(run Run) (int, error)) {
	for run := (Run{Threads: o.threads, Budget: 1}); ; {
		next, err := ask(run)
		if err != nil {
			panic(err)
		}
		if next == t.Len() {
			return
		}
		if next <= run.First {
			panic("a call answered for no example")
		}
		run.First = next
	}
}

func (o *asked) Max(θ *structured.Potentials, y []int32, value []float64) {
	t, values := o.batch(θ)
	o.whole(t, func(run Run) (int, error) { return t.Max(values, run, y, value) })
}

func (o *asked) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	t, values := o.batch(θ)
	best.Resize(θ, k)
	y := make([]int32, k*t.Numbers())
	o.whole(t, func(run Run) (int, error) { return t.TopK(values, run, k, y, best.Score, best.Count) })
	unpack(θ, k, best.Count, y, best.Output)
}

func unpack(θ *structured.Potentials, k int, count []int, y []int32, to func(j, lo, hi int) []int32) {
	for b, n := range count {
		lo, hi := θ.Outputs[b], θ.Outputs[b+1]
		for j := range n {
			copy(to(j, lo, hi), y[k*lo+j*(hi-lo):])
		}
	}
}

type askedSums struct{ asked }

func (o *askedSums) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	t, values := o.batch(θ)
	var to [][]float32
	if u != nil {
		u.Like(θ)
		for k := range u.Parts {
			to = append(to, u.Parts[k].Values)
		}
	}
	o.whole(t, func(run Run) (int, error) { return t.Exp(values, run, μ, value, to) })
}

func (o *askedSums) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, s *oracles.Samples) {
	t, values := o.batch(θ)
	s.Resize(θ, n)
	y := make([]int32, n*t.Numbers())
	o.whole(t, func(run Run) (int, error) { return t.Sample(values, run, μ, n, seed, y, s.Count) })
	unpack(θ, n, s.Count, y, s.Output)
}

// Answers through the memory of a caller satisfy the contract of oracles, for every registered structure.
func TestContract(t *testing.T) {
	declared := map[string]bool{}
	for _, kind := range registry.All {
		if _, second := kind.Structure.(chains.Second); second {
			kind.Small = smallSecond // callers cannot forbid steps but by −∞
		}
		declared[settingsOf(kind.Small(rand.New(rand.NewPCG(1, 1)))).Structure] = true
		o := kind.Oracle()
		if r, is := o.(oracles.Relaxed); is && r.Relaxed() != "" {
			continue // TestBounds
		}
		t.Run(kind.Name(), func(t *testing.T) {
			if _, sums := o.(oracles.Summer); sums {
				oracletest.Run(t, kind, &askedSums{})
				return
			}
			oracletest.Run(t, kind, &asked{})
		})
	}
	for _, name := range Names() {
		if !declared[name] {
			t.Errorf("%s is no registered structure", name)
		}
	}
}

func smallSecond(r *rand.Rand) *structured.Potentials {
	y, lengths := 1+r.IntN(3), []int{0}
	for range 1 + r.IntN(3) {
		lengths = append(lengths, lengths[len(lengths)-1]+r.IntN(5))
	}
	θ := new(structured.Potentials)
	θ.Reshape(chains.SecondForm(fullSteps(y)), lengths, func(string) []int { return lengths })
	return θ
}

// The oracles have their own tests: here few repetitions of the contract show that arguments and answers arrive.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("RAPID_CHECKS") == "" {
		flag.Set("rapid.checks", "8")
	}
	os.Exit(m.Run())
}
