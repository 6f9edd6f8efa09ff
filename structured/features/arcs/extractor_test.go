package arcs

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// table reads tokens "word/upos/feats", separated by blanks.
func table(text string) Columns {
	c := Columns{Name: "a.conllu", Names: []string{"word", "upos", "feats"}, Cells: make([][]string, 3)}
	for _, token := range strings.Fields(text) {
		for k, cell := range strings.Split(token, "/") {
			c.Cells[k] = append(c.Cells[k], cell)
		}
	}
	return c
}

func fitted(t testing.TB, template *Template, data Columns, offsets []int, heads []int32, o Options) (*Dictionary, *Extractor) {
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

func TestNamesOfAnArc(t *testing.T) {
	data := table("She/PRON/Case=Nom|Number=Sing Gave/VERB/_ _/X/_ him/PRON/Case=Acc and/CCONJ/_ me/PRON/Case=Acc")
	for _, test := range []struct {
		line string
		d, h int // counted from 0, h = d of the root
		want string
	}{
		{"%x[h,upos],%x[d,upos]", 0, 1, "VERB,PRON"},
		{"%x[h-1,upos],%lower[h,word],%x[d+1,upos]", 3, 1, "PRON,gave,CCONJ"},
		{"%x[h,word] %x[h-1,upos] %x[h+1,upos] %shape[h-2,upos]", 1, 1, "_B-1 _B-2 PRON _B-3"},
		{"%x[d+2,upos]%x[h-2,upos]", 5, 0, "_B+2_B-2"},
		{"%suffix2[d,word]", 3, 1, "im"},
		{"%suffix4[d,word]", 3, 1, ""},
		{"%suffix2[h,word]", 1, 1, ""}, // the root has no spelling
		{"%key:Case[d,feats]", 0, 1, "Nom"},
		{"%lower.key:Case[d,feats]", 0, 1, ""}, // the key is case then
		{"%key:Gender[d,feats]", 0, 1, ""},
		{"%key:Number[d,feats]", 0, 0, "Sing"},
		{"%x[d,word]", 2, 1, "_"},
		{"%x[d,feats]", 1, 1, ""},
		{"b=%x[between,upos]", 5, 0, "b=VERB b=X b=PRON b=CCONJ"},
		{"b=%x[between,upos]", 0, 5, "b=VERB b=X b=PRON b=CCONJ"},
		{"b=%x[between,upos]", 1, 1, "b=PRON"},
		{"b=%x[between,upos]", 1, 0, ""},
		{"b=%x[between,feats]", 5, 1, "b=Case=Acc"},
		{"s=%set[between,upos]", 5, 0, "s=CCONJ+PRON+VERB+X"},
		{"s=%set[between,upos]", 1, 2, "s="},
		{"%count:PRON[between,upos]%count:VERB[between,upos]%lower.count:gave[between,word]", 4, 4, "211"},
		{"%prefix1.count:_[between,word]", 3, 1, "1"},
		{"%dir %dist", 0, 1, "left 1"},
		{"%dir %dist", 5, 5, "right 5-6"},
		{"%dir %dist", 0, 0, "right 1"},
		{"%%%dist%%", 5, 1, "%4%"},
	} {
		_, e := fitted(t, mustParse(t, "A %dir.\nAL "+test.line), data, []int{0, 6}, []int32{1, 1, 3, 1, 5, 3}, Options{HashBits: 8})
		arc, label := e.Names(0, 6, test.d, test.h)
		var names []string
		for _, a := range label {
			names = append(names, a.Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: %q, expected %q", test.line, got, test.want)
		}
		if len(arc) != len(label)+1 {
			t.Errorf("%s: %d attributes for the arc, %d for its label", test.line, len(arc), len(label))
		}
	}
}

func TestStar(t *testing.T) {
	data := table("a/A/_ b/B/_")
	_, e := fitted(t, mustParse(t, "A* %x[d,word]"), data, []int{0, 2}, []int32{1, 1}, Options{})
	arc, _ := e.Names(0, 2, 0, 1)
	if len(arc) != 2 || arc[0].Name != "a" || arc[1].Name != "a/left1" {
		t.Errorf("%v", arc)
	}
	if arc, _ = e.Names(0, 2, 0, 0); len(arc) != 1 || arc[0].Name != "a" { // right1 is on no gold arc
		t.Errorf("%v", arc)
	}
}

// randomTemplate draws lines of all kinds.
func randomTemplate(t testing.TB, rng *rand.Rand) *Template {
	cells := []string{"%x[@,word]", "%x[@,upos]", "%lower.suffix1[@,word]", "%key:Case[@,feats]", "%x[@,feats]", "%shape[@,word]"}
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

// What Extract numbers must be what the spelt names say: an attribute has a number if and only if its name is on enough gold
// arcs, two have one number if and only if they have one name and line, and numbers fall with counts.
func TestExtractAgreesWithSpelling(t *testing.T) {
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 1))
		template := randomTemplate(t, rng)
		data, offsets, heads := randomText(rng)
		minCount := 1 + rng.IntN(3)
		d, e := fitted(t, template, data, offsets, heads, Options{MinCount: minCount})
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
						names = append(names, fmt.Sprint(c.line.number, " ", name))
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
			numbersOf := [2][]int32{}
			for number := range names {
				numbersOf[part] = append(numbersOf[part], int32(number))
			}
			arc, label, err := spelling.NamesOf(offsets, heads, numbersOf[0], numbersOf[1])
			for number, name := range [][]string{arc, label}[part] {
				if _, want, _ := strings.Cut(names[number], " "); name != want || err != nil {
					t.Fatalf("seed %d: attribute %d is found as %q, expected %q (%v)", seed, number, name, want, err)
				}
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
		d, e := fitted(t, template, data, offsets, heads, Options{HashBits: 12})
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
				// An extractor with other numbers before must not leave anything behind.
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

// Models keep hashes, so they stay as they are.
func TestHashesNeverChange(t *testing.T) {
	data := table("She/PRON/Case=Nom saw/VERB/_ us/PRON/Case=Acc")
	template := mustParse(t, "AL* %lower[h,word],%x[d,upos]\nA b=%x[between,upos]%set[between,upos]%count:VERB[between,upos]%dir%dist")
	d, _ := fitted(t, template, data, []int{0, 3}, []int32{2, 0, 2}, Options{})
	want := []uint64{
		0x17f1ed98067202b9, 0x2231bdeead38fcde, 0x4b2fdc3f42c57150, 0x5c640d4d6b3240fe, 0x64c6cfb6f4e06f8b, 0x791f574318116f57,
		0xdaeecd886065c8bb, 0xf0100e092e87877c, 0xf608d69cfca591fd,
	}
	if got := d.Arc.Hashes(); !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, expected %#v", got, want)
	}
}

func TestFitDoesNotDependOnThreads(t *testing.T) {
	data, offsets, heads := benchText(60)
	template := mustParse(t, Builtin())
	for _, minCount := range []int{0, 3} {
		want, err := template.Fit(data, offsets, heads, Options{MinCount: minCount, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{2, 7, 0} {
			got, err := template.Fit(data, offsets, heads, Options{MinCount: minCount, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d threads make another dictionary", threads)
			}
		}
		for _, memory := range []int{10_000, 100_000} { // many passes
			c := &census{template, data, offsets, heads, func(m *machine) *program { return &m.arc }, memory}
			got, err := c.take(Options{MinCount: minCount, Threads: 2})
			if err != nil || !slices.Equal(got, want.Arc.Hashes()) {
				t.Errorf("passes of %d hashes make another dictionary", memory)
			}
		}
	}
}

func TestNumbersOfHashes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 8, 1000, 5000} {
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = rng.Uint64() >> (i % 5) // some places are crowded
		}
		numbers, err := NewNumbers(hashes)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hashes {
			if numbers.find(h) != int32(i) || numbers.passes(h) != 1 {
				t.Fatalf("%d attributes: number %d is found as %d", n, i, numbers.find(h))
			}
		}
		passed := 0
		for range 1000 {
			h := rng.Uint64()
			if numbers.find(h) != none {
				t.Fatalf("%d attributes: an unknown hash has a number", n)
			}
			passed += numbers.passes(h)
		}
		if passed > 180 {
			t.Errorf("%d attributes: %d unknown hashes of 1000 pass the filter", n, passed)
		}
	}
}

func TestExtractAllocatesNothingOnceWarm(t *testing.T) {
	data, offsets, heads := benchText(20)
	for _, o := range []Options{{MinCount: 1}, {HashBits: 10}} {
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

func TestCellsAreForgotten(t *testing.T) {
	data, offsets, heads := benchText(20)
	_, e := fitted(t, mustParse(t, Builtin()), data, offsets, heads, Options{})
	_, forgetful := fitted(t, mustParse(t, Builtin()), data, offsets, heads, Options{})
	var want, got Rows
	for i := range len(offsets) - 1 {
		for _, c := range forgetful.m.columns {
			c.bytes = memoryBound + 1
		}
		if e.Extract(offsets[i], offsets[i+1], &want, nil) != nil || forgetful.Extract(offsets[i], offsets[i+1], &got, nil) != nil ||
			!reflect.DeepEqual(got, want) {
			t.Fatalf("sentence %d has other attributes", i)
		}
	}
}

func TestBadOptions(t *testing.T) {
	data, offsets, heads := benchText(2)
	template := mustParse(t, "A %x[h,upos]")
	for _, o := range []Options{{HashBits: -1}, {HashBits: 32}, {HashBits: 8, MinCount: 2}} {
		if _, err := template.Fit(data, offsets, heads, o); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, head := range []int32{-1, 25} {
		bad := append([]int32(nil), heads...)
		bad[30] = head
		if _, err := template.Fit(data, offsets, bad, Options{}); err == nil {
			t.Errorf("head %d of a sentence of 25 tokens is taken", head)
		}
	}
	if _, err := template.Fit(data, offsets, heads[1:], Options{}); err == nil {
		t.Errorf("a token without a head is taken")
	}
	e := NewExtractor(template, &Dictionary{})
	if err := e.Open(data); err != nil {
		t.Fatal(err)
	}
	for _, tokens := range [][2]int{{-1, 3}, {3, 2}, {0, len(heads) + 1}} {
		if err := e.Extract(tokens[0], tokens[1], &Rows{}, nil); err == nil {
			t.Errorf("tokens %v are taken", tokens)
		}
	}
}
