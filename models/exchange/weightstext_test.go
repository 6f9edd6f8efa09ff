package exchange

import (
	"bytes"
	"testing"
)

// The text of weights has their headings, labels in order, and each label's attributes from the largest weight to the
// smallest, without zeros.
func TestTextOfWeights(t *testing.T) {
	m := namedModel(t, 2, []string{"O", "#B\tX"}, []string{"w=a", `w\b`}, []string{"e=a"})
	for i := range m.W {
		m.W[i] = float32(i%5) / 4
	}
	var text bytes.Buffer
	if err := writeAttributeWeights(&text, m); err != nil {
		t.Fatal(err)
	}
	want := `# The weights of a linear net of attributes, those that are not zero; dsp import reads them back.
# 2 labels, 2 attributes, 1 attributes of steps

[transitions]
# from	to	weight
O	\#B\tX	0.25
\#B\tX	O	0.5
\#B\tX	\#B\tX	0.75

[bias]
# label	weight
\#B\tX	0.25

[dense]
# label	feature	weight
O	1	0.75
O	0	0.25
\#B\tX	1	1
\#B\tX	0	0.5

[attributes]
# label	attribute	weight
O	w\\b	1
O	w=a	0.5
\#B\tX	w=a	0.75

[edge_attributes]
# from	to	attribute	weight
O	O	e=a	1
\#B\tX	O	e=a	0.25
\#B\tX	\#B\tX	e=a	0.5
`
	if got := text.String(); got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
}
