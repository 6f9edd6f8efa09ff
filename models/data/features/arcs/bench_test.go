package arcs

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/dsp-go/dsp/models/data/features/templates"
)

// benchText draws sentences of 25 tokens, in five columns like those of CoNLL-U, with heads nearby.
func benchText(sentences int) (Columns, []int, []int32) {
	const length = 25
	rng := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(rng, 1.1, 3, 100_000)
	c := Columns{Name: "zipf", Names: []string{"word", "lemma", "upos", "xpos", "feats"}, Cells: make([][]string, 5)}
	offsets := []int{0}
	var heads []int32
	for range sentences {
		for t := range length {
			word := words.Uint64()
			kind := rand.New(rand.NewPCG(word, 3))
			tag := kind.IntN(1 + kind.IntN(17))
			for k, cell := range []string{
				"w" + strconv.FormatUint(word, 26), "w" + strconv.FormatUint(word/2, 26), "T" + strconv.Itoa(tag),
				"X" + strconv.Itoa(2*tag+rng.IntN(2)), "Case=" + strconv.Itoa(rng.IntN(3)) + "|Number=" + strconv.Itoa(rng.IntN(2)),
			} {
				c.Cells[k] = append(c.Cells[k], cell)
			}
			heads = append(heads, int32(min(length-1, max(0, t+rng.IntN(5)-2))))
		}
		offsets = append(offsets, len(heads))
	}
	return c, offsets, heads
}

func BenchmarkFit(b *testing.B) {
	data, offsets, heads := benchText(2000)
	t := mustParse(b, Builtin())
	for b.Loop() {
		if _, err := t.Fit(data, offsets, heads, templates.Options{MinCount: 2}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(heads))*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

func BenchmarkExtract(b *testing.B) {
	data, offsets, heads := benchText(4000)
	t := mustParse(b, Builtin())
	d, err := t.Fit(data, offsets, heads, templates.Options{MinCount: 2})
	if err != nil {
		b.Fatal(err)
	}
	hashed, err := t.Fit(data, offsets, heads, templates.Options{HashBits: 22})
	if err != nil {
		b.Fatal(err)
	}
	for _, run := range []struct {
		name       string
		dictionary *Dictionary
		arc, label *Rows
	}{{"arc", d, &Rows{}, nil}, {"label", d, nil, &Rows{}}, {"arc-hashed", hashed, &Rows{}, nil}} {
		b.Run(run.name, func(b *testing.B) {
			e := NewExtractor(t, run.dictionary)
			if err := e.Open(data); err != nil {
				b.Fatal(err)
			}
			i, attributes, rows := 0, 0, 0
			for b.Loop() {
				if err := e.Extract(offsets[i], offsets[i+1], run.arc, run.label); err != nil {
					b.Fatal(err)
				}
				for _, r := range []*Rows{run.arc, run.label} {
					if r != nil {
						attributes += len(r.Index)
						rows += len(r.Offsets) - 1
					}
				}
				i = (i + 1) % (len(offsets) - 1)
			}
			b.ReportMetric(float64(attributes)/float64(rows), "attributes/arc")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/arc")
		})
	}
}

func mustParse(t testing.TB, text string) *Template {
	t.Helper()
	template, err := Parse(text, "x.template")
	if err != nil {
		t.Fatal(err)
	}
	return template
}
