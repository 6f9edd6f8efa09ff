package exchange

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models"
)

// TopWeights are the attributes with the largest weights for and against a label.
type TopWeights struct {
	Label   string            `json:"label"`
	Weights []AttributeWeight `json:"weights"` // by absolute value
}

// AttributeWeight is a weight of a label and the name of its attribute, or its number if attributes are hashed.
type AttributeWeight struct {
	Attribute string  `json:"attribute"`
	Weight    float32 `json:"weight"`
}

// Top returns the n largest weights of attributes for every label, by absolute value; nil for a net that does not read
// attributes.
func Top(m *models.Model, n int) []TopWeights {
	if m.Dictionary == nil {
		return nil
	}
	var all []TopWeights
	y := m.Labels.Len()
	a, _ := parameter(m, attributeRows)
	w := a.Of(m.W)
	size := func(row int32, l int) float32 { return float32(math.Abs(float64(w[int(row)*y+l]))) }
	for l := range y {
		rows := bySize(w, y, l)
		slices.SortFunc(rows, func(a, b int32) int { return cmp.Or(cmp.Compare(size(b, l), size(a, l)), cmp.Compare(a, b)) })
		top := TopWeights{Label: m.Labels.Name(int32(l)), Weights: []AttributeWeight{}}
		for _, k := range rows[:min(n, len(rows))] {
			top.Weights = append(top.Weights, AttributeWeight{nodeName(m, k), w[int(k)*y+l]})
		}
		all = append(all, top)
	}
	return all
}
