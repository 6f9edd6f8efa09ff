package features

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
)

// tagged gives data tags of segments: those that a text spells, one letter for each position. A capital begins a
// segment of label a or b, its small letter continues it, and a point is outside.
func tagged(d *structured.Dataset, tags string) *structured.Dataset {
	d.Labels = nil
	for _, c := range tags {
		d.Labels = append(d.Labels, int32(strings.IndexRune("AaBb.", c)))
	}
	return d
}

// A line about whole segments makes an attribute for every segment: joined words, functions of its first and last one
// and of those around it, its length, and the types of its name in the gazetteer. Attributes are those of gold
// segments.
func TestWhole(t *testing.T) {
	d := tagged(conll(t, three, "We PRP O\nsaw VBD O\nNew NNP O\nYork NNP O\n\nYork NNP O\n"), "..AaA")
	g := NewGazetteer()
	for _, line := range [][2]string{{"city", "new york"}, {"team", "New York"}, {"city", "york"}} {
		if err := g.add(line[0], line[1]); err != nil {
			t.Fatal(err)
		}
	}
	template := parse(t, strings.Join([]string{
		"Ubias", "Sw=%lower[all,word]", "Ss=%short[all..1,word]", "Sf|l=%x[first,pos]|%prefix2[last,word]",
		"S<%x[first-1,word]>%outside[last+1,word]", "Sn%%=%length", "Sg=%each[all,gazetteer?]", "St=%x[all..1,gazetteer?]",
		"Sno=%x[all,missing?]", "Sc%isupper[all,word]",
	}, "\n"))
	if again := parse(t, template.String()); again.String() != template.String() {
		t.Errorf("%s is written as %s", template, again)
	}
	template.Gazetteer, template.Longest = g, 2
	fit(t, template, d, templates.Options{Threads: 1})
	want := []string{
		"Sw=we Ss=Xx Sf|l=PRP|We Sn%=1",
		"Sw=saw Ss=x Sf|l=VBD|sa Sn%=1",
		"Sn%=2",
		"Ss=Xx Sn%=1",
		"Sn%=2",
		"Sw=york Ss=Xx Sf|l=NNP|Yo Sn%=1 Sg=city St=city",
		"Sw=new york Sf|l=NNP|Yo S<saw>_B+1 Sn%=2 Sg=city Sg=team",
		"Sw=york Ss=Xx Sf|l=NNP|Yo S<_B-1>_B+1 Sn%=1 Sg=city St=city",
	}
	table := d.Table(segments.Rows)
	if got := rows(table.Attributes, d.Dictionary.Segment); !slices.Equal(got, want) ||
		!slices.Equal(table.Offsets, []int{0, 7, 8}) {
		t.Errorf("%v: %q, want %q", table.Offsets, got, want)
	}
	if d.Attributes.Offsets[5] != 5 {
		t.Errorf("attributes of positions %v", d.Attributes.Offsets)
	}
}

// What makes no sense about a segment is refused, and so are lines about segments where there are none.
func TestBadWhole(t *testing.T) {
	for text, want := range map[string]string{
		"S%x[0,word]":               `x.template:1:5: row "0", expected first or last, such as first-1 and last+2, up to 100 rows away, or all`,
		"S%x[first2,word]":          `row "first2"`,
		"S%x[last+101,word]":        `row "last+101"`,
		"S%x[all..0,word]":          `row "all..0"`,
		"S%x[all+1,word]":           `row "all+1"`,
		"U%length":                  "%length\" without [row,column]",
		"S%length[all,word]":        "%length with a place, expected none: it is a property of the segment",
		"S%each[all,word]":          "each has several values, expected a row first or last",
		"S%lower[all,gazetteer]":    "lower of a whole segment's types in the gazetteer, expected x or each",
		"S%outside[all,word]":       "outside has no value inside a segment",
		"S%each[first,word]%length": "expected a line without other macros",
		"T%x[0,word]":               "expected U, B, S or #",
	} {
		if _, err := Parse(text, "x.template"); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	d := tagged(conll(t, three, "a x O\n"), ".")
	template := parse(t, "Ubias\nS%length")
	if err := template.Fit(d, templates.Options{}); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "x.template:2: a line that begins with S is about whole segments") {
		t.Error(err)
	}
	if _, err := template.Grow(d, templates.Options{}); !structured.IsBadInput(err) {
		t.Error(err)
	}
}

// The attributes of drawn data are those that a slow reference writes; they depend neither on threads, nor on whether
// one data set or many come to an extractor whose cache overflows.
func TestWholeOfDrawnData(t *testing.T) {
	words := []string{"a", "B", "cc", "Dd", "e-f"}
	rapid.Check(t, func(r *rapid.T) {
		d := &structured.Dataset{Name: "drawn", ColumnNames: []string{"word"}, Columns: [][]string{nil}, Offsets: []int{0}}
		for range rapid.IntRange(0, 5).Draw(r, "examples") {
			for n := rapid.IntRange(0, 6).Draw(r, "positions"); n > 0; n-- {
				d.Columns[0] = append(d.Columns[0], rapid.SampledFrom(words).Draw(r, "word"))
				d.Labels = append(d.Labels, rapid.Int32Range(0, 4).Draw(r, "tag"))
			}
			d.Offsets = append(d.Offsets, len(d.Labels))
		}
		template, err := Parse("Ubias\nSall=%lower[all..2,word]\nS%x[first-1,word]|%isupper[last,word]\nSn%lengthw\n"+
			"Se%ngrams2[last+1,word]", "x.template")
		if err != nil {
			r.Fatal(err)
		}
		template.Longest = rapid.IntRange(1, 4).Draw(r, "longest")
		least := rapid.IntRange(1, 3).Draw(r, "least")
		names := func(start, end, first, last int) (all []string) {
			at := func(t int) string {
				switch {
				case t < start:
					return fmt.Sprint("_B-", start-t)
				case t >= end:
					return fmt.Sprint("_B+", t-end+1)
				}
				return d.Columns[0][t]
			}
			if last-first < 2 {
				all = append(all, "Sall="+strings.ToLower(strings.Join(d.Columns[0][first:last+1], " ")))
			}
			if caps(at(last)) == "upper" {
				all = append(all, "S"+at(first-1)+"|yes")
			}
			all = append(all, fmt.Sprint("Sn", last-first+1, "w"))
			if last+1 < end {
				ngrams(at(last+1), 2, func(piece string) { all = append(all, "Se"+piece) })
			}
			return all
		}
		count := map[string]int{}
		for i := range d.Len() {
			segments.Each(d.Gold(i), func(s segments.Segment) {
				for _, name := range names(d.Offsets[i], d.Offsets[i+1], d.Offsets[i]+s.First, d.Offsets[i]+s.Last) {
					count[name]++
				}
			})
		}
		want := []string{}
		for i := range d.Len() {
			start, end := d.Offsets[i], d.Offsets[i+1]
			for last := start; last < end; last++ {
				for first := last; first >= max(start, last-template.Longest+1); first-- {
					all := slices.DeleteFunc(names(start, end, first, last), func(name string) bool { return count[name] < least })
					want = append(want, strings.Join(all, " "))
				}
			}
		}
		check := func(what string, d *structured.Dataset) {
			table := d.Table(segments.Rows)
			if got := append([]string{}, rows(table.Attributes, d.Dictionary.Segment)...); !slices.Equal(got, want) {
				r.Errorf("%s: %q, want %q", what, got, want)
			}
			if at := table.Offsets; at[len(at)-1] != len(want) {
				r.Errorf("%s: offsets %v of %d rows", what, at, len(want))
			}
		}
		fitted := *d
		if err := template.Fit(&fitted, templates.Options{MinCount: least, Threads: 2}); err != nil {
			r.Fatal(err)
		}
		check("fitted", &fitted)
		applied, extracted := *d, *d
		if err := template.Apply(&applied, fitted.Dictionary, 1); err != nil {
			r.Fatal(err)
		}
		check("applied", &applied)
		e := template.Bind(fitted.Dictionary)
		if e.wholes.bound = 1 << 20; rapid.Bool().Draw(r, "small") {
			e.wholes.bound = 1 // each sequence overflows it
		}
		for range 2 {
			if err := e.Extract(&extracted); err != nil {
				r.Fatal(err)
			}
			check("extracted", &extracted)
		}
	})
}
