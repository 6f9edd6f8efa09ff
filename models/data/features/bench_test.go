package features

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

// benchText draws sentences of words whose frequencies follow Zipf's law, as in real text.
func benchText(positions int) *structured.Dataset {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 3, 200_000)
	spelling := func(n uint64) string {
		r := rand.New(rand.NewPCG(n, 3))
		word := make([]byte, 1+r.IntN(9))
		for i := range word {
			word[i] = byte('a' + r.IntN(26)*r.IntN(26)/25)
		}
		if n%7 == 0 {
			word[0] -= 'a' - 'A'
		}
		return string(word)
	}
	d := &structured.Dataset{Name: "zipf", Offsets: []int{0}, ColumnNames: []string{"word"}, Columns: make([][]string, 1)}
	copies := map[uint64]string{}
	for t := range positions {
		n := zipf.Uint64()
		if copies[n] == "" {
			copies[n] = spelling(n)
		}
		d.Columns[0] = append(d.Columns[0], copies[n])
		if t%20 == 19 || t == positions-1 {
			d.Offsets = append(d.Offsets, t+1)
		}
	}
	return d
}

const benchPositions = 100_000

func benchTemplate(b *testing.B, d *structured.Dataset) *Template {
	text, err := Builtin("ner")
	if err != nil {
		b.Fatal(err)
	}
	template := parse(b, strings.TrimSpace(text))
	fit(b, template, d, templates.Options{})
	b.ReportMetric(float64(len(d.Attributes.Index))/float64(d.Positions()), "attributes/token")
	b.ReportMetric(float64(d.Dictionary.Nodes()), "attributes")
	b.ResetTimer()
	return template
}

func perSecond(b *testing.B, tokens int) {
	b.ReportMetric(float64(tokens)*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

func BenchmarkFit(b *testing.B) {
	d := benchText(benchPositions)
	template := benchTemplate(b, d)
	for b.Loop() {
		fit(b, template, d, templates.Options{Threads: 2})
	}
	perSecond(b, benchPositions)
}

func BenchmarkFitHashed(b *testing.B) {
	d := benchText(benchPositions)
	template := benchTemplate(b, d)
	for b.Loop() {
		fit(b, template, d, templates.Options{Threads: 2, HashBits: 20})
	}
	perSecond(b, benchPositions)
}

func BenchmarkApply(b *testing.B) {
	d := benchText(benchPositions)
	template := benchTemplate(b, d)
	for b.Loop() {
		if err := template.Apply(d, d.Dictionary, 2); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, benchPositions)
}

// One goroutine extracts one text after the other.
func BenchmarkExtract(b *testing.B) {
	d := benchText(benchPositions)
	e := benchTemplate(b, d).Bind(d.Dictionary)
	texts := benchText(2 * benchPositions)
	next := 0
	for b.Loop() {
		var drawn []int
		for range 50 {
			drawn = append(drawn, next%texts.Len())
			next++
		}
		if err := e.Extract(texts.Subset(drawn)); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, 1000)
}
