package predictions

import "testing"

// Outputs may lose what their bounds have above their scores, and those that are proven lose nothing.
func TestBoundsAddUp(t *testing.T) {
	var all Bounds
	above := 4.5
	for _, p := range []Prediction{{Output: Output{Score: -2}}, {Output: Output{Score: 3}, Bound: &above},
		{Output: Output{Score: 1.25}}} {
		all.Add(&p)
	}
	if want := (Bounds{Outputs: 3, Unproven: 1, Score: 2.25, Bound: 3.75}); all != want {
		t.Errorf("bounds of three outputs are %+v, want %+v", all, want)
	}
	if all.Gap() != 1.5 {
		t.Errorf("they may lose %v, want 1.5", all.Gap())
	}
}
