package graph

import (
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
)

// Another version of Gorgonia, whose ops have other fields, is an error that names the op and the field.
func TestFieldsThatAreMissing(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "gorgonia.sumOp has no field across") {
			t.Errorf("got %q", text)
		}
	}()
	x := gorgonia.NewMatrix(gorgonia.NewGraph(), gorgonia.Float32, gorgonia.WithShape(2, 3), gorgonia.WithName("x"))
	sum := gorgonia.Must(gorgonia.Sum(x, 1))
	if along := fieldsOf(sum.Op()).ints("along"); len(along) != 1 || along[0] != 1 {
		t.Errorf("a sum along the second axis is along %v", along)
	}
	fieldsOf(sum.Op()).ints("across")
}
