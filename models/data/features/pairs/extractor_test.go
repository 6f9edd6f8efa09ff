package pairs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

func parsed(t testing.TB, text string) *Template {
	t.Helper()
	template, err := Parse(text, "t.template")
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// every returns the names of the attributes of each row of a sentence pair, without a dictionary's limits.
func every(t *testing.T, template *Template, stats *Statistics, source, target string) (pair, unmatched [][]string) {
	t.Helper()
	c := &alignments.Corpus{Offsets: []int{0}}
	words := [2][]string{strings.Fields(source), strings.Fields(target)}
	all := []alignments.Link{}
	for i := range words[0] {
		for j := range words[1] {
			all = append(all, alignments.Link{Source: int32(i), Target: int32(j)})
		}
	}
	c.Add(words[0], words[1], all)
	numbers, err := template.Fit(stats, c, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, y := &structured.Sparse{Offsets: []int{0}}, &structured.Sparse{Offsets: []int{0}}
	NewExtractor(template, stats, numbers).Extract(words[0], words[1], x, y)
	names := func(x *structured.Sparse, d *structured.Dictionary) (rows [][]string) {
		for r := range len(x.Offsets) - 1 {
			var row []string
			index, _ := x.Row(r)
			for _, a := range index {
				row = append(row, d.Node.Name(a))
			}
			rows = append(rows, row)
		}
		return rows
	}
	return names(x, numbers.Pair), names(y, numbers.Source)
}

// The values of all properties, computed by hand.
func TestProperties(t *testing.T) {
	var lines []string
	for _, name := range namesOf(pairs) {
		lines = append(lines, "P "+name)
	}
	for _, name := range namesOf(unmatched) {
		lines = append(lines, "U "+name)
	}
	template := parsed(t, strings.Join(lines, "\n"))
	// das 3, haus 2, 1999 1; the 3, house 2, casa 1, 1999 1, . 1
	stats := count(t, 1, corpus(t, "das haus ||| the house", "das haus ||| the casa", "das 1999 ||| the house 1999 ."))
	pair, unmatched := every(t, template, stats, "Haus das das", "the house .")
	// Dice: haus-the 4/5, haus-house 2/4, haus-. 0; das-the 6/6, das-house 4/5, das-. 2/4
	want := map[int]string{
		0: "source=haus source-1=_B-1 source+1=das target=the target-1=_B-1 target+1=house dice=0.8+ rank=1 " +
			"reverse-rank=3 lead=-0.2+ " +
			"before=end after=0.8+ crossed=0+ position=0+ side=near spelling=0+ prefix=0 kinds=word,word copies=1,1 " +
			"source-frequency=2+ target-frequency=2+",
		1: "source=haus source-1=_B-1 source+1=das target=house target-1=the target+1=. dice=0.5+ rank=2 " +
			"reverse-rank=3 lead=-0.3+ " +
			"before=outside after=0.5+ crossed=0.9+ position=0.3+ side=later spelling=0.6+ prefix=1 kinds=word,word " +
			"copies=1,1 source-frequency=2+ target-frequency=2+",
		2: "source=haus source-1=_B-1 source+1=das target=. target-1=house target+1=_B+1 dice=0+ " +
			"rank=none reverse-rank=none " +
			"before=outside after=outside crossed=0.8+ position=0.6+ side=later spelling=short prefix=0 " +
			"kinds=word,punctuation copies=1,1 source-frequency=2+ target-frequency=1",
		7: "source=das source-1=das source+1=_B+1 target=house target-1=the target+1=. dice=0.8+ rank=2 " +
			"reverse-rank=1 lead=-0.2+ " +
			"before=0.9+ after=outside crossed=0.5+ position=0.3+ side=earlier spelling=0.2+ prefix=0 kinds=word,word " +
			"copies=2,1 source-frequency=2+ target-frequency=2+",
	}
	for row, text := range want {
		got := slices.Sorted(slices.Values(pair[row]))
		if expected := slices.Sorted(slices.Values(strings.Fields(text))); !reflect.DeepEqual(got, expected) {
			t.Errorf("row %d: %v\nexpected %v", row, got, expected)
		}
	}
	// 1 for das-the, 1/2 for das-.
	if alone, _ := every(t, template, stats, "das", "the ."); !slices.Contains(alone[0], "lead=0.5+") {
		t.Errorf("das with the, against a full stop: %v, expected lead=0.5+", alone[0])
	}
	got := slices.Sorted(slices.Values(unmatched[0]))
	expected := slices.Sorted(slices.Values(strings.Fields("source=haus source-1=_B-1 source+1=das best=0.8+ " +
		"best-mutual=no source-frequency=2+ source-kind=word")))
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("unmatched: %v\nexpected %v", got, expected)
	}
	if !slices.Contains(unmatched[1], "best-mutual=yes") {
		t.Errorf("unmatched das: %v, expected best-mutual=yes", unmatched[1])
	}
}

// A pair that was counted does not count for itself, so it looks as if it were new.
func TestOwnPairIsLeftOut(t *testing.T) {
	template := parsed(t, "P dice\nP source-frequency\nP target-frequency\nU best")
	others := []string{"a b ||| x y", "a ||| x", "c ||| x z"}
	for _, own := range []string{"a d ||| x w", "c a ||| y x"} {
		with := count(t, 1, corpus(t, append(others, own)...))
		without := count(t, 1, corpus(t, others...))
		source, target, _ := strings.Cut(own, " ||| ")
		pair, unmatched := every(t, template, with, source, target)
		wantPair, wantUnmatched := every(t, template, without, source, target)
		if !reflect.DeepEqual(pair, wantPair) || !reflect.DeepEqual(unmatched, wantUnmatched) {
			t.Errorf("%s: %v %v, expected %v %v as without the pair", own, pair, unmatched, wantPair, wantUnmatched)
		}
	}
}

func TestSpelling(t *testing.T) {
	for _, c := range []struct {
		a, b     string
		distance int
		likeness string
		prefix   string
	}{
		{"kitten", "sitting", 3, "0.4+", "0"}, {"haus", "haus", 0, "identical", "4"}, {"nation", "nación", 2, "0.6+", "2"},
		{"a", "b", 1, "short", "0"}, {",", ",", 0, "identical", "1"}, {"strasse", "strassen", 1, "0.8+", "6+"},
		{"abc", "xyz", 3, "0+", "0"}, {"", "abc", 3, "short", "0"},
	} {
		a, b := []rune(c.a), []rune(c.b)
		if got := distance(a, b); got != c.distance || distance(b, a) != got {
			t.Errorf("distance of %s and %s is %d, expected %d", c.a, c.b, got, c.distance)
		}
		if got := compare(a, b); likenessNames[got.likeness] != c.likeness || prefixNames[got.prefix] != c.prefix {
			t.Errorf("%s and %s: likeness %s, prefix %s, expected %s and %s", c.a, c.b, likenessNames[got.likeness],
				prefixNames[got.prefix], c.likeness, c.prefix)
		}
	}
}

func TestFit(t *testing.T) {
	template := parsed(t, "P source,target\nP position\nU source")
	c, err := alignments.Reader{}.Read(strings.NewReader("a b ||| x y ||| 0-0 1?1\na ||| x ||| 0-0\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	stats := count(t, 1, c)
	d, err := template.Fit(stats, c, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Words count on links, surely or possibly; positions on all pairs.
	if want := []string{"position=0+", "position=0.4+", "source,target=a x",
		"source,target=b y"}; !reflect.DeepEqual(d.Pair.Node.Names(), want) {
		t.Errorf("attributes %v, expected %v", d.Pair.Node.Names(), want)
	}
	if want := []string{"source=a", "source=b"}; !reflect.DeepEqual(d.Source.Node.Names(), want) {
		t.Errorf("attributes %v, expected %v", d.Source.Node.Names(), want)
	}
	if d, err = template.Fit(stats, c, templates.Options{MinCount: 2}); err != nil ||
		d.Pair.Nodes() != 3 || d.Source.Nodes() != 1 {
		t.Errorf("%d and %d attributes that occur twice, error %v, expected 3 and 1", d.Pair.Nodes(), d.Source.Nodes(), err)
	}
	for _, o := range []templates.Options{{HashBits: 32}, {HashBits: -1}, {HashBits: 10, MinCount: 2}} {
		if _, err := template.Fit(stats, c, o); !structured.IsBadInput(err) {
			t.Errorf("%+v: error %v, expected bad input", o, err)
		}
	}
}

// Dictionary and attributes do not depend on the number of threads, and hashing makes as many attributes.
func TestApplyDoesNotDependOnThreads(t *testing.T) {
	template, c := parsed(t, Builtin()), drawn(4, 100)
	stats := count(t, 0, c, drawn(5, 200))
	attributes := func(threads, hashBits int) (*structured.Sparse, *structured.Sparse) {
		numbers, err := template.Fit(stats, c, templates.Options{HashBits: hashBits, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		d := c.Dataset()
		if err := Apply(template, stats, numbers, d, threads); err != nil {
			t.Fatal(err)
		}
		return d.Table(alignments.PairRows).Attributes, d.Table(alignments.SourceRows).Attributes
	}
	pair, source := attributes(1, 0)
	rows := c.Dataset()
	if len(pair.Offsets) != len(rows.Costs)+1 || len(source.Offsets) != len(rows.Labels)+1 {
		t.Errorf("%d and %d rows, expected %d and %d", len(pair.Offsets)-1, len(source.Offsets)-1,
			len(rows.Costs), len(rows.Labels))
	}
	for _, threads := range []int{2, 7} {
		if p, s := attributes(threads, 0); !reflect.DeepEqual(p, pair) || !reflect.DeepEqual(s, source) {
			t.Errorf("%d threads make other attributes than 1", threads)
		}
	}
	hashed, _ := attributes(2, 18)
	if len(hashed.Index) < len(pair.Index) || hashed.Index[0] >= 1<<18 {
		t.Errorf("%d hashed attributes, expected at least the %d of the dictionary", len(hashed.Index), len(pair.Index))
	}
}

func TestParse(t *testing.T) {
	if got := parsed(t, Builtin()).String(); got != Builtin() {
		t.Error("a template does not keep its text")
	}
	for text, message := range map[string]string{
		"P dice\nX dice":   `t.template:2:1: a line that begins with "X", expected P, U and a blank, or #`,
		"P dice,nothing":   `t.template:1: property "nothing", expected one of source, source-1,`,
		"P best":           `t.template:1: property "best", expected one of`,
		"P dice\nU target": `t.template:2: property "target", expected one of source, source-1, source+1, best`,
		"P dice,dice":      "t.template:1: property dice twice",
		"P": "t.template:1:2: P without an attribute, expected properties joined by " +
			"commas, like dice,position",
		"P dice\nP dice":      "t.template:2: P dice is here twice",
		"# nothing\nU source": "t.template: no line that begins with P",
		"P dice,before,after,crossed,lead,position": "t.template:1: dice,before,after,crossed,lead,position have " +
			"too many values together",
	} {
		if _, err := Parse(text, "t.template"); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), message) {
			t.Errorf("%q: error %v, expected %s", text, err, message)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	template, c := parsed(b, Builtin()), drawn(6, 500)
	stats := count(b, 0, c)
	numbers, err := template.Fit(stats, c, templates.Options{})
	if err != nil {
		b.Fatal(err)
	}
	e := NewExtractor(template, stats, numbers)
	var pair, source structured.Sparse
	words := 0
	for b.Loop() {
		for i := range c.Len() {
			pair.Offsets, pair.Index = append(pair.Offsets[:0], 0), pair.Index[:0]
			source.Offsets, source.Index = append(source.Offsets[:0], 0), source.Index[:0]
			e.Extract(c.Source(i), c.Target(i), &pair, &source)
			words += len(pair.Offsets) - 1
		}
	}
	b.ReportMetric(float64(words)/b.Elapsed().Seconds(), "pairs/s")
}

func ExampleTemplate() {
	c, _ := alignments.Reader{}.Read(strings.NewReader("das haus ||| the house ||| 0-0 1-1\n"+
		"das buch ||| the book ||| 0-0 1-1\n"), "example.pairs")
	stats, _ := Count(0, c)
	template, _ := Parse("P source,target\nP rank,reverse-rank\nU best", "example.template")
	numbers, _ := template.Fit(stats, c, templates.Options{})
	fmt.Println(strings.Join(numbers.Pair.Node.Names(), "; "))
	// Output: rank,reverse-rank=none none; rank,reverse-rank=1 1; source,target=das the; source,target=buch book; source,target=haus house
}
