package arcs

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/features/templates"
)

func fitted(t testing.TB, template *Template, data Columns, offsets []int, heads []int32,
	o templates.Options) (*Dictionary, *Extractor) {
	t.Helper()
	d, err := template.Fit(data, offsets, heads, o)
	if err != nil {
		t.Fatal(err)
	}
	e := NewExtractor(template, d)
	if err := e.Open(data); err != nil {
		t.Fatal(err)
	}
	return d, e
}

// randomTemplate draws lines of all kinds.
func randomTemplate(t testing.TB, rng *rand.Rand) *Template {
	cells := []string{"%x[@,word]", "%x[@,upos]", "%lower.suffix1[@,word]", "%key:Case[@,feats]",
		"%x[@,feats]", "%shape[@,word]"}
	arc := []string{"%dir", "%dist", "%set[between,upos]", "%count:B[between,upos]", "%set[between,feats]"}
	var text strings.Builder
	text.WriteString("A bias\n")
	for i := range 1 + rng.IntN(12) {
		fmt.Fprintf(&text, "%s%s %d", []string{"A", "L", "AL"}[rng.IntN(3)], []string{"", "*"}[rng.IntN(2)], i)
		for range rng.IntN(4) {
			place := []string{"h", "d", "h-1", "h+1", "d-2", "d+1"}[rng.IntN(6)]
			text.WriteString("|" + strings.Replace(cells[rng.IntN(len(cells))], "@", place, 1))
		}
		if rng.IntN(3) == 0 {
			text.WriteString("|" + arc[rng.IntN(len(arc))])
		}
		if rng.IntN(4) == 0 {
			text.WriteString("|" + strings.Replace(cells[rng.IntN(len(cells))], "@", "between", 1))
		}
		text.WriteByte('\n')
	}
	return mustParse(t, text.String())
}

// randomText draws sentences, some of them empty, with any heads.
func randomText(rng *rand.Rand) (Columns, []int, []int32) {
	c := Columns{Name: "random", Names: []string{"upos", "word", "feats"}, Cells: make([][]string, 3)}
	offsets, heads := []int{0}, []int32(nil)
	for range 1 + rng.IntN(30) {
		n := rng.IntN(14)
		for range n {
			for k, cells := range [][]string{{"A", "B", "C", "_"}, {"ab", "Ac", "d", "_", "É"}, {"_", "Case=X", "Case=Y|Z=1"}} {
				c.Cells[k] = append(c.Cells[k], cells[rng.IntN(len(cells))])
			}
			heads = append(heads, int32(rng.IntN(n)))
		}
		offsets = append(offsets, len(heads))
	}
	return c, offsets, heads
}

// Extract agrees with the spelt names: an attribute has a number if and only if its name is on enough gold arcs, two
// attributes share a number if and only if they share name and line, and numbers fall with counts.
func TestExtractAgreesWithSpelling(t *testing.T) {
	seeds := uint64(20)
	if os.Getenv("DSP_LONG") != "" {
		seeds = 200
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		template := randomTemplate(t, rng)
		data, offsets, heads := randomText(rng)
		minCount := 1 + rng.IntN(3)
		d, e := fitted(t, template, data, offsets, heads, templates.Options{MinCount: minCount})
		var rows [2]Rows
		spelling := NewExtractor(template, d)
		if err := spelling.Open(data); err != nil {
			t.Fatal(err)
		}
		for part, numbers := range []*Numbers{d.Arc, d.Label} {
			program := []*program{&spelling.m.arc, &spelling.m.label}[part]
			counts := map[string]int{}
			spell := func(i, d, h int) []string {
				var names []string
				for _, c := range slices.Concat(program.dependents, program.heads, program.pairs, program.mixed) {
					head := h
					if h == d {
						head = -1
					}
					for _, name := range spelling.m.spell(&c, offsets[i], offsets[i+1], d, head) {
						names = append(names, fmt.Sprint(c.line.Number, " ", name))
					}
				}
				return names
			}
			for i := range len(offsets) - 1 {
				for d := range offsets[i+1] - offsets[i] {
					for _, name := range spell(i, d, int(heads[offsets[i]+d])) {
						counts[name]++
					}
				}
			}
			names := make([]string, numbers.Len())
			for i := range len(offsets) - 1 {
				lo, hi := offsets[i], offsets[i+1]
				n := hi - lo
				if err := e.Extract(lo, hi, &rows[0], &rows[1]); err != nil {
					t.Fatal(err)
				}
				if len(rows[part].Offsets) != n*n+1 {
					t.Fatalf("seed %d: %d offsets of %d tokens", seed, len(rows[part].Offsets), n)
				}
				for row := range n * n {
					var want []string
					for _, name := range spell(i, row/n, row%n) {
						if counts[name] >= minCount {
							want = append(want, name)
						}
					}
					arc, label := spelling.Names(lo, hi, row/n, row%n)
					named := [][]Named{arc, label}[part]
					if len(named) != len(want) {
						t.Fatalf("seed %d, sentence %d, row %d: %v, expected %q", seed, i, row, named, want)
					}
					var numbered []int32
					for k, a := range named {
						numbered = append(numbered, a.Number)
						if name := names[a.Number]; name != "" && name != want[k] {
							t.Fatalf("seed %d: attribute %d is %s and %s", seed, a.Number, name, want[k])
						}
						names[a.Number] = want[k]
					}
					got := slices.Sorted(slices.Values(rows[part].Row(row)))
					if slices.Sort(numbered); !slices.Equal(got, numbered) {
						t.Fatalf("seed %d, sentence %d, row %d: attributes %v, expected %v\n%s", seed, i, row, got, numbered, template)
					}
				}
			}
			if slices.Contains(names, "") || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
				t.Fatalf("seed %d: attributes without a name, or two of one name: %q", seed, names)
			}
			if !slices.IsSortedFunc(names, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) }) {
				t.Fatalf("seed %d: frequent attributes do not come first", seed)
			}
		}
	}
}

func TestHashedNumbers(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		template := randomTemplate(t, rng)
		data, offsets, heads := randomText(rng)
		d, e := fitted(t, template, data, offsets, heads, templates.Options{HashBits: 12})
		if d.Arc.Len() != 1<<12 || d.Label.Len() != 1<<12 || d.Arc.Hashes() != nil {
			t.Fatalf("%d and %d numbers of 12 bits", d.Arc.Len(), d.Label.Len())
		}
		var rows Rows
		for i := range len(offsets) - 1 {
			lo, hi := offsets[i], offsets[i+1]
			if err := e.Extract(lo, hi, &rows, nil); err != nil {
				t.Fatal(err)
			}
			for row := range (hi - lo) * (hi - lo) {
				arc, _ := e.Names(lo, hi, row/(hi-lo), row%(hi-lo))
				var want []int32
				for _, a := range arc {
					want = append(want, a.Number)
				}
				// An extractor that had other numbers before must leave nothing behind in the rows.
				got := slices.Sorted(slices.Values(rows.Row(row)))
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Fatalf("seed %d, row %d: %v, expected %v", seed, row, got, want)
				}
				if err := e.Extract(lo, hi, &rows, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestExtractAllocatesNothingOnceWarm(t *testing.T) {
	data, offsets, heads := benchText(20)
	for _, o := range []templates.Options{{MinCount: 1}, {HashBits: 10}} {
		_, e := fitted(t, mustParse(t, Builtin()), data, offsets, heads, o)
		var arc, label Rows
		all := func() {
			for i := range len(offsets) - 1 {
				if err := e.Extract(offsets[i], offsets[i+1], &arc, &label); err != nil {
					t.Fatal(err)
				}
			}
		}
		all()
		if n := testing.AllocsPerRun(3, all); n != 0 {
			t.Errorf("%+v: %g allocations", o, n)
		}
	}
}

func TestCellCacheIsBounded(t *testing.T) {
	data, offsets, heads := benchText(20)
	_, e := fitted(t, mustParse(t, Builtin()), data, offsets, heads, templates.Options{})
	_, forgetful := fitted(t, mustParse(t, Builtin()), data, offsets, heads, templates.Options{})
	var want, got Rows
	for i := range len(offsets) - 1 {
		for _, c := range forgetful.m.columns {
			c.bytes = memoryBound + 1
		}
		if e.Extract(offsets[i], offsets[i+1], &want, nil) != nil ||
			forgetful.Extract(offsets[i], offsets[i+1], &got, nil) != nil ||
			!reflect.DeepEqual(got, want) {
			t.Fatalf("sentence %d has different attributes", i)
		}
	}
}
