package regions

import (
	"math"
	"testing"
)

// A patch of a cell alone has its pixels, one with surroundings those of its neighbours, and beyond the image those at its rim.
func TestPatches(t *testing.T) {
	m := blotched(12, 8, 60, 4)
	p := Grid(12, 8, 4)
	check := func(context float64, pixels int, at func(cell, y, x int) (u, v int)) {
		t.Helper()
		patches := Patches([]float32{7}, m, p, pixels, context)
		if len(patches) != 1+p.Count*pixels*pixels*3 || patches[0] != 7 {
			t.Fatalf("%d numbers", len(patches))
		}
		for k, v := range patches[1:] {
			cell, y, x := k/3/pixels/pixels, k/3/pixels%pixels, k/3%pixels
			u, w := at(cell, y, x)
			want := float64(m.Pixels[3*(min(max(w, 0), 7)*12+min(max(u, 0), 11))+k%3]) / 255
			if math.Abs(float64(v)-want) > 1e-4 {
				t.Fatalf("context %v, cell %d, pixel (%d, %d): %v, expected %v", context, cell, x, y, v, want)
			}
		}
	}
	check(1, 4, func(cell, y, x int) (u, v int) { return cell%3*4 + x, cell/3*4 + y })
	check(3, 12, func(cell, y, x int) (u, v int) { return cell%3*4 + x - 4, cell/3*4 + y - 4 })
}
