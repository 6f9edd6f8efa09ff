package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/structured"
)

// wellFormed fails the test unless the page is well-formed XML without scripts.
func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Entity = xml.HTMLEntity
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if e.Name.Local == "script" || e.Name.Local == "iframe" || e.Name.Local == "object" {
				t.Errorf("an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("an attribute %s=%q of %s", a.Name.Local, a.Value, e.Name.Local)
				}
			}
		}
	}
}

const hostile = "</td></table><script>alert('x')</script><img src=x onerror=\"alert(1)\"/>&amp;{{.}}\x01\xff"

// Names and words are text, whatever is in them.
func TestHostileText(t *testing.T) {
	w := &writer{}
	w.Title, w.Subtitle, w.Finding, w.Notes = clean(hostile), clean(hostile), clean(hostile), []string{clean(hostile)}
	x := Table{Caption: clean(hostile), Head: []string{clean(hostile)}}
	x.row(clean(hostile))
	w.Changed, w.Closing, w.Settings = &x, &x, []Group{{"g", x}}
	p := 0.5
	parts := []review.Part{{Kind: "token", Text: hostile, Gold: hostile, Predicted: hostile, Confidence: &p}}
	w.Measured = &Measured{On: clean(hostile), Metrics: &x, Tables: []Table{x},
		Confusion: confusionTable([]string{clean(hostile), "b"}, func(int, int) float64 { return 1 }),
		Worst: &Worst{Wrong: 1, All: 2,
			Examples: []Example{{Name: clean(hostile), Parts: partTable(parts, ""),
				Words: []Token{{Word: clean(hostile), Gold: clean(hostile), Title: clean(hostile), Wrong: true, Probability: 0.3},
					{Gap: true}}}}}}
	w.Weights = []Weights{{clean(hostile), x}}
	path := filepath.Join(t.TempDir(), "r.html")
	if err := w.Report.Write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, text)
	for _, bad := range []string{"<script", "<img", "ZgotmplZ"} {
		if bytes.Contains(text, []byte(bad)) {
			t.Errorf("the page has %s", bad)
		}
	}
	if n := bytes.Count(text, []byte("&lt;script&gt;")); n < 15 {
		t.Errorf("%d times escaped", n)
	}
}

func TestInline(t *testing.T) {
	p, err := inline("<?xml version=\"1.0\"?>\n<!-- x -->\n<svg width=\"72pt\" height=\"36pt\" viewBox=\"0 0 72 36\"\n"+
		"\txmlns=\"http://www.w3.org/2000/svg\">\n<g></g>\n</svg>", "a \"picture\"")
	if err != nil || !strings.HasPrefix(string(p),
		`<svg role="img" aria-label="a &#34;picture&#34;" viewBox="0 0 72 36" style="max-width:96px"`) ||
		!strings.HasSuffix(string(p), "<g></g>\n</svg>") {
		t.Errorf("%v: %s", err, p)
	}
	if _, err := inline("<html></html>", "x"); err == nil {
		t.Error("a page is no picture")
	}
}

// Small confusions are a matrix of the labels that occur, others a list of the most frequent mistakes.
func TestConfusionTable(t *testing.T) {
	counts := map[[2]int]float64{{0, 0}: 3, {0, 2}: 1, {2, 2}: 5}
	m := confusionTable([]string{"a", "never", "c"}, func(g, p int) float64 { return counts[[2]int{g, p}] })
	if got := fmt.Sprint(m.Head, m.Rows); got != "[gold a c] [[{a 0 false} {3 0.75 false} {1 0.25 true}] [{c 0 false} "+
		"{ 0 true} {5 1 false}]]" {
		t.Error(got)
	}
	var names []string
	for k := range mostLabels + 1 {
		names = append(names, fmt.Sprint("l", k))
	}
	list := confusionTable(names, func(g, p int) float64 {
		switch {
		case g == p:
			return 6
		case g == 1 && p == 2:
			return 2
		case g == 4:
			return 1
		}
		return 0
	})
	if len(list.Rows) != mostLabels+1 || list.Rows[0][0].Text != "l1" || list.Rows[0][3].Text != "25.00 %" {
		t.Errorf("%+v", list.Rows)
	}
	if confusionTable([]string{"a"}, func(int, int) float64 { return 1 }) != nil {
		t.Error("nothing was mistaken")
	}
}

// Of long sequences only the neighbourhood of mistakes is shown.
func TestShorten(t *testing.T) {
	all := make([]Token, 1000)
	all[500].Wrong = true
	some := shorten(all)
	if len(some) != 2*nearMistake+3 || !some[0].Gap || !some[nearMistake+1].Wrong || !some[len(some)-1].Gap {
		t.Errorf("%d tokens", len(some))
	}
	if got := shorten(all[:20]); len(got) != 20 {
		t.Errorf("%d of 20 tokens", len(got))
	}
	for k := range all {
		all[k].Wrong = true
	}
	if got := shorten(all); len(got) > mostTokens+1 {
		t.Errorf("%d tokens", len(got))
	}
}

func TestMeasureFormat(t *testing.T) {
	for want, m := range map[string]structured.Measure{"1": {Name: "tokens", Value: 1}, "100.00 %": {Name: "f1", Value: 1},
		"12": {Name: "new", Value: 12}} {
		if got := measure(m); got != want {
			t.Errorf("%+v: %s, expected %s", m, got, want)
		}
	}
}
