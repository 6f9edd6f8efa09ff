package boxes

import "testing"

// COCO's small objects have up to 32², medium ones up to 96² square pixels; a bound belongs to both sides.
func TestAreasOfObjects(t *testing.T) {
	for _, x := range []struct {
		width, height float64
		small, medium bool
		large         bool
	}{
		{1, 1, true, false, false}, {32, 32, true, true, false}, {16, 64, true, true, false}, {32, 32.01, false, true, false},
		{31.99, 32, true, false, false},
		{96, 96, false, true, true}, {95.9, 96, false, true, false}, {96, 96.1, false, false, true},
		{500, 500, false, false, true},
	} {
		var e Evaluator
		b := Box{Width: x.width, Height: x.height}
		e.Add([]Truth{{Box: b, Area: b.Area()}}, []Detection{{Box: b, Score: 1}})
		m := e.Metrics()
		for name, want := range map[string]bool{"ap_small": x.small, "ap_medium": x.medium, "ap_large": x.large} {
			found := false
			for _, measure := range m.Measures {
				found = found || measure.Name == name
			}
			if found != want {
				t.Errorf("a box of %g × %g: %s is told: %v", x.width, x.height, name, found)
			}
		}
	}
}
