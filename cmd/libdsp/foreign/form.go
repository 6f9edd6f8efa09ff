package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/oracles"
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
	"github.com/dsp-go/dsp/structured/transcripts"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/windows"
)

// Settings are what a caller says of a structure, as JSON: its name, and the sizes that its potentials depend on. A
// structure reads the settings that its line in the table of structures names; others must be left out.
type Settings struct {
	Structure string `json:"structure"`

	Labels      int  `json:"labels"`       // Y
	Tags        int  `json:"tags"`         // of segments: two per label, one less if the last label has segments of one position only
	Longest     int  `json:"longest"`      // positions of the longest segment
	Ends        bool `json:"ends"`         // segments have the part "end", chains "start" and "end"
	Whole       bool `json:"whole"`        // segments have the part "segment"
	PerPosition bool `json:"per_position"` // transitions differ from position to position
	Moves       bool `json:"moves"`        // monotone alignments have the part "move"

	Nonterminals int  `json:"nonterminals"` // of a grammar
	Preterminals int  `json:"preterminals"`
	PerExample   bool `json:"per_example"` // examples have rules and roots of their own

	Roots     bool   `json:"roots"`     // trees may have several roots
	Edges     string `json:"edges"`     // of graphs: own, typed or potts
	Types     int    `json:"types"`     // of edges, if they are typed
	Inference string `json:"inference"` // of graphs: exact, cut or relaxed
	Height    int    `json:"height"`    // of a window's map, in cells
	Width     int    `json:"width"`
	Limit     int    `json:"limit"` // sets of boxes that a search may examine; 0: no limit
}

// mostNumbers bounds every size, and every product of sizes that gives the width of a row.
const mostNumbers = 1 << 28

// structure is how a caller's settings become a form, and what its examples and outputs are checked for.
type structure struct {
	settings string // the JSON names of the settings that it reads
	form     func(s Settings) (structured.Form, error)
	check    func(e example) error            // that the sizes of an example fit each other
	output   func(e example, y []int32) error // that y is an output of the example
}

// structures are those that a caller can ask for, by the names of the registry.
var structures = map[string]structure{}

func declare(name, settings string, form func(s Settings) (structured.Form, error), check func(e example) error,
	output func(e example, y []int32) error) {
	structures[name] = structure{settings, form, check, output}
}

// Names returns the names of all structures, in order.
func Names() []string { return slices.Sorted(maps.Keys(structures)) }

func init() {
	declare("chain", "labels per_position ends", func(s Settings) (structured.Form, error) {
		chain := chains.Form(s.Labels, s.PerPosition)
		if s.Ends {
			chain = endsForm(chain, s.Labels)
		}
		return chain, sizes("labels", s.Labels, 2)
	}, func(e example) error {
		if e.form.Settings.PerPosition {
			if err := e.expect(1, e.numbers); err != nil {
				return err
			}
		}
		return e.expect(0, e.numbers)
	}, labelsOnly)
	declare("second-order chain", "labels", func(s Settings) (structured.Form, error) {
		if err := sizes("labels", s.Labels, 3); err != nil {
			return structured.Form{}, err
		}
		return chains.SecondForm(fullSteps(s.Labels)), nil
	}, func(e example) error { return e.expect(0, e.numbers) }, labelsOnly)
	for _, counted := range []bool{false, true} {
		name, of := segments.Segments{}.Name(), segments.Form
		if counted {
			name, of = segments.Counted{}.Name(), segments.CountedForm
		}
		declare(name, "tags longest ends whole per_position", func(s Settings) (structured.Form, error) {
			if err := sizes("tags", s.Tags, 2); err != nil {
				return structured.Form{}, err
			}
			if s.Longest < 1 || s.Longest > mostNumbers/s.Tags {
				return structured.Form{}, fmt.Errorf("longest is %d, expected 1 to %d", s.Longest, mostNumbers/s.Tags)
			}
			return of(s.Tags, s.Longest, segments.Optional{Ends: s.Ends, Whole: s.Whole, PerPosition: s.PerPosition}), nil
		}, checkSegments, segmentOutput)
	}
	declare("transcript", "labels", func(s Settings) (structured.Form, error) {
		if err := sizes("labels", s.Labels, 1); err != nil {
			return structured.Form{}, err
		}
		return transcripts.Form(s.Labels - 1), nil
	}, func(e example) error { return e.expect(0, e.numbers) }, labelsOnly)
	for _, t := range []trees.SpanningTree{{}, {NonProjective: true}, {Siblings: true}} {
		declare(t.Name(), "labels roots", func(s Settings) (structured.Form, error) {
			if s.Roots && t.Siblings {
				return structured.Form{}, fmt.Errorf("roots: the siblings of several roots have no scores; leave it out")
			}
			return t.Form(s.Labels), sizes("labels", s.Labels, 1)
		}, checkTree, treeOutput)
	}
	declare("constituent tree", "labels", func(s Settings) (structured.Form, error) {
		return constituents.Form(s.Labels), sizes("labels", s.Labels, 1)
	}, func(e example) error {
		if n := constituents.Words(e.numbers); n*n != e.numbers {
			return fmt.Errorf("an output of %d numbers, expected the square of a number of words", e.numbers)
		}
		if err := e.expect(0, e.numbers); err != nil {
			return err
		}
		return e.expect(1, e.numbers)
	}, constituentOutput)
	declare("PCFG", "nonterminals preterminals per_example", func(s Settings) (structured.Form, error) {
		if s.Nonterminals < 1 || s.Preterminals < 1 || s.Nonterminals > mostNumbers || s.Preterminals > mostNumbers {
			return structured.Form{}, fmt.Errorf("%d nonterminals and %d preterminals, expected at least 1", s.Nonterminals, s.Preterminals)
		}
		symbols := float64(s.Nonterminals) + float64(s.Preterminals)
		if rules := float64(s.Nonterminals) * symbols * symbols; rules > mostNumbers {
			return structured.Form{}, fmt.Errorf("%d nonterminals and %d preterminals have %.0f rules, expected at most %d",
				s.Nonterminals, s.Preterminals, rules, mostNumbers)
		}
		return pcfg.Form(s.Nonterminals, s.Preterminals, s.PerExample), nil
	}, checkGrammar, func(e example, y []int32) error {
		if n, m := e.form.Settings.Nonterminals, e.form.Settings.Preterminals; !pcfg.Walk(y, n, m, func(int, int) {}) {
			return fmt.Errorf("numbers %v are no binary tree of %d nonterminals and %d preterminals", y, n, m)
		}
		return nil
	})
	declare("matching", "", func(Settings) (structured.Form, error) { return matchings.Matching{}.Form(), nil }, checkMatching, matchingOutput)
	declare("complete matching", "", func(Settings) (structured.Form, error) {
		return matchings.Matching{Complete: true}.Form(), nil
	}, checkMatching, matchingOutput)
	declare("monotone alignment", "moves", func(s Settings) (structured.Form, error) {
		return monotone.Alignment{Moves: s.Moves}.Form(), nil
	}, checkMonotone, monotoneOutput)
	declare("choice", "", func(Settings) (structured.Form, error) { return choices.Form(), nil }, func(e example) error {
		if want := min(1, e.rows(0)); e.numbers != want {
			return fmt.Errorf("an output of %d numbers, expected %d", e.numbers, want)
		}
		return nil
	}, func(e example, y []int32) error { return below(y, e.rows(0), "candidate") })
	declare("graph", "labels edges types inference", graphForm, checkGraph, labelsOnly)
	declare("window", "height width limit", func(s Settings) (structured.Form, error) {
		if s.Height < 1 || s.Width < 1 || s.Height > mostNumbers/s.Width || s.Limit < 0 {
			return structured.Form{}, fmt.Errorf("a map of %d by %d cells and a limit of %d, expected at least 1 by 1 and 0", s.Height, s.Width, s.Limit)
		}
		return windows.Window{Height: s.Height, Width: s.Width, Limit: s.Limit}.Form(), nil
	}, func(e example) error {
		numbers, cells := 4, e.form.Settings.Height*e.form.Settings.Width
		if e.rows(0) == 0 {
			numbers, cells = 0, 0
		}
		if e.numbers != numbers {
			return fmt.Errorf("an output of %d numbers, expected %d", e.numbers, numbers)
		}
		if err := e.expect(0, cells); err != nil {
			return err
		}
		return e.expect(2, 1)
	}, windowOutput)
}

// sizes refuses a number n whose power is the width of a row, if it is not at least 1 or its power is too large.
func sizes(name string, n, power int) error {
	if most := int(math.Pow(mostNumbers, 1/float64(power))); n < 1 || n > most {
		return fmt.Errorf("%s is %d, expected 1 to %d", name, n, most)
	}
	return nil
}

func graphForm(s Settings) (structured.Form, error) {
	edges, err := graphs.ParseEdges(orElse(s.Edges, graphs.Own.String()))
	if err != nil {
		return structured.Form{}, err
	}
	inference, err := graphs.ParseInference(orElse(s.Inference, graphs.Exact.String()))
	if err != nil {
		return structured.Form{}, err
	}
	if err := sizes("labels", s.Labels, 2); err != nil {
		return structured.Form{}, err
	}
	if typed := edges == graphs.Typed; typed && (s.Types < 1 || s.Types > mostNumbers/(s.Labels*s.Labels)) || !typed && s.Types != 0 {
		return structured.Form{}, fmt.Errorf("%d types of %s edges, expected at least 1 if edges are typed, and else 0", s.Types, edges)
	}
	p := graphs.Pairwise{Edges: edges, By: inference}
	return p.Form(s.Labels, s.Types), p.CheckLabels(s.Labels)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// fullSteps are steps in which every label may follow every other, and every three in a row have a score: triple (a, b,
// c) has number (a·Y + b)·Y + c.
func fullSteps(y int) *chains.Steps {
	s := &chains.Steps{Labels: y, First: []int{0}, Start: []int{0}}
	for i := range y {
		for j := range y {
			s.Pairs = append(s.Pairs, int32(i*y+j))
			for k := range y {
				s.Triples = append(s.Triples, int32(k))
			}
			s.Start = append(s.Start, len(s.Triples))
		}
		s.First = append(s.First, len(s.Pairs))
	}
	return s
}

// Form is a structure with its sizes. It keeps oracles with their scratch memory, one per thread that asks. It is safe
// for concurrent use.
type Form struct {
	structured.Form
	Settings    Settings
	Description Description
	structure
	kind  registry.Kind
	lanes sync.Pool
}

// NewForm makes a form of settings in JSON, such as {"structure": "chain", "labels": 5}.
func NewForm(settings []byte) (*Form, error) {
	f := &Form{}
	decoder := json.NewDecoder(bytes.NewReader(settings))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f.Settings); err != nil {
		return nil, fmt.Errorf("settings of a structure: %v", err)
	}
	of, known := structures[f.Settings.Structure]
	if !known {
		return nil, fmt.Errorf("structure %q, expected one of: %s", f.Settings.Structure, strings.Join(Names(), ", "))
	}
	if err := of.takes(settings); err != nil {
		return nil, err
	}
	form, err := of.form(f.Settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Settings.Structure, err)
	}
	f.Form, f.structure, f.kind = form, of, registry.Of(form.Structure)
	f.lanes.New = func() any { return &lane{oracle: f.kind.Oracle()} }
	f.Description = describe(f.Form, f.kind.Oracle())
	f.Description.Hessian = f.kind.Chart != nil
	return f, nil
}

// takes refuses settings that the structure does not read.
func (s structure) takes(settings []byte) error {
	var given map[string]any
	if err := json.Unmarshal(settings, &given); err != nil {
		return fmt.Errorf("settings of a structure: %v", err)
	}
	name := given["structure"]
	delete(given, "structure")
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(strings.Fields(s.settings), key) {
			return fmt.Errorf("%v has no setting %q, expected some of: %s", name, key, s.settings)
		}
	}
	return nil
}

// Description says what a caller needs to know of a form, as JSON.
type Description struct {
	Parts []PartDescription `json:"parts"`
	Sums  bool              `json:"sums"`  // Exp and Loss answer
	Exact bool              `json:"exact"` // sums and best outputs are exact, not bounds
	Ranks bool              `json:"ranks"` // TopK answers
	Draws bool              `json:"draws"` // Sample answers

	Hessian bool `json:"hessian"` // Hessian answers
}

// PartDescription is one part of the potentials.
type PartDescription struct {
	Name  string `json:"name"`
	Width int    `json:"width"`
	Tied  bool   `json:"tied"` // one row that all examples share
}

func describe(form structured.Form, o oracles.Maximiser) Description {
	_, sums := o.(oracles.Summer)
	_, ranks := o.(oracles.Ranker)
	_, draws := o.(oracles.Sampler)
	relaxed, bounds := o.(oracles.Relaxed)
	d := Description{Sums: sums, Ranks: ranks, Draws: draws, Exact: !bounds || relaxed.Relaxed() == ""}
	for _, p := range form.Parts {
		d.Parts = append(d.Parts, PartDescription{p.Name, p.Width, p.Rows == structured.Tied})
	}
	return d
}
