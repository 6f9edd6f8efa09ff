package device

import "testing"

func TestChooseTiles(t *testing.T) {
	for _, c := range []struct {
		m, n, k, batch int
		tile           tile
		split          bool
	}{
		{65536, 200, 300, 1, tile{128, 128}, false}, // a hidden layer
		{65536, 25, 200, 1, tile{128, 32}, false},   // scores of labels
		{300, 200, 65536, 1, tile{64, 64}, true},    // gradients of the hidden layer's weights
		{200, 25, 65536, 1, tile{128, 32}, true},
		{16, 16, 16, 1000, tile{64, 64}, false},
	} {
		got, parts := choose(c.m, c.n, c.k, c.batch, false)
		if got != c.tile || parts > 1 != c.split {
			t.Errorf("%d×%d×%d, %d times: tiles of %v, %d parts", c.m, c.k, c.n, c.batch, got, parts)
		}
		if depth := depthOf(c.k, parts); parts > 1 && (depth*(parts-1) >= c.k || parts*c.m*c.n*c.batch > partsScratch) {
			t.Errorf("%d×%d×%d, %d times: %d parts of %d", c.m, c.k, c.n, c.batch, parts, depth)
		}
	}
}
