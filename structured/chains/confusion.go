package chains

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Confusion counts the predicted labels for each gold label, over positions.
type Confusion struct {
	labels *structured.Alphabet
	counts []int // [Y×Y], row gold
}

// LabelScore measures the prediction of one label. A ratio with an empty denominator is 0.
type LabelScore struct {
	Label     string  `json:"label"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	Support   int     `json:"support"`   // gold positions with the label
	Predicted int     `json:"predicted"` // positions with the label as prediction
	Correct   int     `json:"correct"`
}

// Mistake is a label predicted in place of another one.
type Mistake struct {
	Gold      string  `json:"gold"`
	Predicted string  `json:"predicted"`
	Count     int     `json:"count"`
	Share     float64 `json:"share"` // of the positions with that gold label
}

// NewConfusion returns empty counts for the labels of the alphabet.
func NewConfusion(labels *structured.Alphabet) *Confusion {
	return &Confusion{labels, make([]int, labels.Len()*labels.Len())}
}

// Add counts one sequence with its gold labels [T] and predicted labels [T]. Positions without a gold label (negative)
// do not count.
func (c *Confusion) Add(gold, pred []int32) {
	y := c.labels.Len()
	for t, g := range gold {
		if g < 0 {
			continue
		}
		c.counts[int(g)*y+int(pred[t])]++
	}
}

// Labels returns the scores of all labels that occur as gold or predicted ones, sorted by name.
func (c *Confusion) Labels() []LabelScore {
	y := c.labels.Len()
	var all []LabelScore
	for l := range y {
		s := LabelScore{Label: c.labels.Name(int32(l)), Correct: c.counts[l*y+l]}
		for k := range y {
			s.Support += c.counts[l*y+k]
			s.Predicted += c.counts[k*y+l]
		}
		s.Precision, s.Recall = ratio(s.Correct, s.Predicted), ratio(s.Correct, s.Support)
		s.F1 = ratio(2*s.Correct, s.Support+s.Predicted)
		if s.Support+s.Predicted > 0 {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b LabelScore) int { return cmp.Compare(a.Label, b.Label) })
	return all
}

// Mistakes returns all pairs of a gold label and a wrong prediction that occur, the most frequent first.
func (c *Confusion) Mistakes() []Mistake {
	y := c.labels.Len()
	all := []Mistake{}
	for g := range y {
		support := 0
		for _, n := range c.counts[g*y : (g+1)*y] {
			support += n
		}
		for p := range y {
			if n := c.counts[g*y+p]; n > 0 && g != p {
				all = append(all, Mistake{c.labels.Name(int32(g)), c.labels.Name(int32(p)), n, ratio(n, support)})
			}
		}
	}
	slices.SortFunc(all, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Gold, b.Gold), cmp.Compare(a.Predicted, b.Predicted))
	})
	return all
}

// LabelTable formats scores in the layout of scikit-learn's classification report: one line per label, then the
// averages over labels, plain and weighted by support.
func LabelTable(scores []LabelScore) string {
	width := len("weighted avg")
	for _, s := range scores {
		width = max(width, len([]rune(s.Label)))
	}
	var b strings.Builder
	line := func(name string, p, r, f float64, n int) {
		fmt.Fprintf(&b, "%s%s  %8.2f%%  %8.2f%%  %8.2f%%  %8d\n", strings.Repeat(" ", width-len([]rune(name))),
			name, 100*p, 100*r, 100*f, n)
	}
	fmt.Fprintf(&b, "%*s  %9s  %9s  %9s  %8s\n", width, "", "precision", "recall", "F1", "support")
	var plain, weighted LabelScore
	for _, s := range scores {
		line(s.Label, s.Precision, s.Recall, s.F1, s.Support)
		add := func(to *LabelScore, weight float64) {
			to.Precision += weight * s.Precision
			to.Recall += weight * s.Recall
			to.F1 += weight * s.F1
			to.Support += s.Support
		}
		add(&plain, 1)
		add(&weighted, float64(s.Support))
	}
	average := func(name string, s LabelScore, weight float64) {
		if weight > 0 {
			line(name, s.Precision/weight, s.Recall/weight, s.F1/weight, s.Support)
		}
	}
	average("macro avg", plain, float64(len(scores)))
	average("weighted avg", weighted, float64(weighted.Support))
	return b.String()
}

// MistakeTable formats the first most mistakes, one per line.
func MistakeTable(mistakes []Mistake, most int) string {
	shown := mistakes[:min(most, len(mistakes))]
	gold, predicted, all := len("gold"), len("predicted"), 0
	for _, m := range shown {
		gold, predicted = max(gold, len([]rune(m.Gold))), max(predicted, len([]rune(m.Predicted)))
	}
	for _, m := range mistakes {
		all += m.Count
	}
	var b strings.Builder
	line := func(g, p, count, share, of string) {
		pad := func(text string, width int) string { return text + strings.Repeat(" ", width-len([]rune(text))) }
		fmt.Fprintf(&b, "%s  %s  %8s  %11s  %11s\n", pad(g, gold), pad(p, predicted), count, share, of)
	}
	line("gold", "predicted", "count", "of the gold", "of mistakes")
	for _, m := range shown {
		line(m.Gold, m.Predicted, fmt.Sprint(m.Count), fmt.Sprintf("%.2f%%", 100*m.Share),
			fmt.Sprintf("%.2f%%", 100*ratio(m.Count, all)))
	}
	if rest := len(mistakes) - len(shown); rest > 0 {
		fmt.Fprintf(&b, "and %d more kinds of mistakes\n", rest)
	}
	return b.String()
}
