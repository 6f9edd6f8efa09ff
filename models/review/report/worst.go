package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// Worst are the worst examples.
type Worst struct {
	Order         string // what worst means
	Wrong, All    int
	Probabilities bool
	Examples      []Example
	Ranking       *Table // in place of examples whose parts only have numbers
}

// Example is an example with its mistakes.
type Example struct {
	Name  string // its place in the data
	About string // its measure or probability
	Parts *Table
	More  int     // wrong parts that are not in the table
	Words []Token // of sequences, nil for other tasks
}

// Token is a position of a sequence with its labels.
type Token struct {
	Gap             bool // positions are left out here
	Word            string
	Gold, Predicted string
	Wrong           bool
	Probability     float64 // of the predicted label; 0 if unknown
	Title           string
}

// Style is the background of a token: as strong as its label is probable.
func (t Token) Style() template.CSS { return background(t.Probability, t.Wrong) }

// worst adds the worst examples, and a picture of some of them where the task draws pictures.
func (w *writer) worst(to *Measured, d *structured.Dataset, found *review.Review) error {
	order := "those in which the model was most sure of something wrong"
	switch {
	case len(found.Examples) > 0 && found.Examples[0].Value != nil:
		order = "those with the lowest " + found.Examples[0].Measure
	case !found.Probabilities:
		order = "those with the most mistakes"
	}
	to.Worst = &Worst{Order: order, Wrong: found.Wrong, All: found.All, Probabilities: found.Probabilities}
	shown := found.Examples[:min(shownExamples, len(found.Examples))]
	if len(shown) > 0 && (shown[0].Parts[0].Kind == "region" || shown[0].Parts[0].Kind == "variable") {
		to.Worst.rank(shown)
		return w.drawExamples(to, d, found)
	}
	words, err := w.sequences(d, shown, found.Probabilities)
	if err != nil {
		return err
	}
	for k := range shown {
		e := &shown[k]
		x := Example{Name: config.FileNames(e.Where), Parts: partTable(e.Parts, found.Scale), More: e.Wrong - len(e.Parts)}
		if !strings.HasSuffix(e.Where, "example "+e.ID) {
			x.Name += " (" + e.ID + ")"
		}
		switch {
		case e.Value != nil:
			x.About = fmt.Sprintf("%s %.4f", e.Measure, *e.Value)
		case e.Probability != nil:
			x.About = fmt.Sprintf("probability of the output %.3g", *e.Probability)
		}
		if words != nil {
			x.Words = words[k]
		}
		to.Worst.Examples = append(to.Worst.Examples, x)
	}
	return w.drawExamples(to, d, found)
}

// rank lists examples with their measures and what is most often wrong in them.
func (w *Worst) rank(shown []review.Example) {
	w.Probabilities = false
	kind := shown[0].Parts[0].Kind
	w.Ranking = &Table{Head: []string{"example", shown[0].Measure, "wrong " + kind + "s"}}
	for _, e := range shown {
		name := config.FileNames(e.Where)
		if !strings.HasSuffix(e.Where, "example "+e.ID) {
			name += " (" + e.ID + ")"
		}
		w.Ranking.row(clean(name), percent(*e.Value), fmt.Sprint(e.Wrong))
	}
}

// drawExamples draws the worst examples, or the first ones if none is wrong.
func (w *writer) drawExamples(to *Measured, d *structured.Dataset, found *review.Review) error {
	if tasks.Of(&w.model.Config).Picture == nil {
		return nil
	}
	some := d
	if len(found.Examples) > 0 {
		var worst []int
		for _, e := range found.Examples {
			worst = append(worst, e.Index)
		}
		some = d.Subset(worst)
	}
	var err error
	to.Drawn, err = w.draw("examples with predicted outputs", func(path string) error {
		return w.model.Draw(w.ctx, some, path)
	})
	if structured.IsBadInput(err) { // such as sentences that are all too long to draw, or images that are not there
		w.Notes = append(w.Notes, fmt.Sprintf("There is no picture of examples: %v.", err))
		return nil
	}
	return err
}

// partTable lists the wrong parts of an example.
func partTable(parts []review.Part, scale string) *Table {
	t := &Table{Head: []string{"part", "at", "text", "gold", "predicted", "probability", "of gold"}, Words: true}
	if scale != "" {
		t.Head[5] = scale
	}
	number := func(x *float64, wrong bool) Cell {
		if x == nil {
			return Cell{}
		}
		if scale != "" { // not between 0 and 1
			return Cell{Text: fmt.Sprintf("%.3g", *x)}
		}
		return Cell{Text: fmt.Sprintf("%.3f", *x), Shade: *x, Wrong: wrong}
	}
	for _, p := range parts {
		at := fmt.Sprint(p.First)
		if p.Last != p.First || p.Kind == "link" {
			at += fmt.Sprintf("–%d", p.Last)
		}
		or := func(text string) Cell {
			if text == "" {
				text = "–"
			}
			return Cell{Text: clean(text)}
		}
		t.Rows = append(t.Rows, []Cell{{Text: p.Kind}, {Text: at}, {Text: clean(p.Text)}, or(p.Gold), or(p.Predicted),
			number(p.Confidence, true), number(p.GoldProbability, false)})
	}
	t.dropEmpty()
	return t
}

// dropEmpty removes columns without text.
func (t *Table) dropEmpty() {
	for c := len(t.Head) - 1; c >= 0; c-- {
		if slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[c].Text != "" }) {
			continue
		}
		t.Head = slices.Delete(t.Head, c, c+1)
		for k := range t.Rows {
			t.Rows[k] = slices.Delete(t.Rows[k], c, c+1)
		}
	}
}

// Of long sequences only what is near a mistake is shown, and not all mistakes.
const (
	nearMistake = 8
	mostTokens  = 160
)

// sequences returns the tokens of examples; nil for tasks whose outputs are no labels of sequences.
func (w *writer) sequences(d *structured.Dataset, shown []review.Example, sure bool) ([][]Token, error) {
	m := w.model
	if !tasks.Of(&m.Config).Labels || len(shown) == 0 {
		return nil, nil
	}
	var worst []int
	for _, e := range shown {
		worst = append(worst, e.Index)
	}
	some := d.Subset(worst)
	all := make([][]Token, len(worst))
	err := m.Predict(w.ctx, some, predictions.Options{Confidence: sure, Threads: w.o.Threads},
		func(i int, p *predictions.Prediction) error {
			all[i] = shorten(tokensOf(some, i, p, m.Labels))
			return nil
		})
	return all, err
}

// tokensOf returns the positions of a sequence with their labels.
func tokensOf(d *structured.Dataset, i int, p *predictions.Prediction, names *structured.Alphabet) []Token {
	places, y := text.PlacesOf(d, i), names.Len()
	all := make([]Token, len(p.Labels))
	for t, g := range d.Gold(i) {
		l := p.Labels[t]
		x := Token{Word: clean(places.Text(t, t)), Predicted: clean(names.Name(l)), Gold: "?"}
		if g >= 0 {
			x.Gold, x.Wrong = clean(d.Alphabet.Name(g)), g != l
		}
		x.Title = "predicted " + x.Predicted
		if p.Marginals != nil {
			q := p.Marginals[t*y : (t+1)*y]
			x.Probability = float64(q[l])
			x.Title += fmt.Sprintf(" (%.1f %%)", 100*q[l])
			if x.Wrong && int(g) < y {
				x.Title += fmt.Sprintf(", gold %s (%.1f %%)", x.Gold, 100*q[g])
			}
		} else if x.Wrong {
			x.Probability = 1 // nothing says how sure the model is
		}
		all[t] = x
	}
	return all
}

// shorten leaves out what is far from mistakes in a long sequence.
func shorten(all []Token) []Token {
	if len(all) <= mostTokens {
		return all
	}
	keep := make([]bool, len(all))
	for t := range all {
		if all[t].Wrong {
			for k := max(0, t-nearMistake); k <= min(len(all)-1, t+nearMistake); k++ {
				keep[k] = true
			}
		}
	}
	var some []Token
	for t := range all {
		switch {
		case keep[t] && len(some) < mostTokens:
			some = append(some, all[t])
		case len(some) == 0 || !some[len(some)-1].Gap:
			some = append(some, Token{Gap: true})
		}
	}
	return some
}
