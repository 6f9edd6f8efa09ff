package arrays

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestHalfRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		x := Half(h).Float32()
		if back := NewHalf(x); back != Half(h) && x == x || math.IsNaN(float64(x)) != math.IsNaN(float64(back.Float32())) {
			t.Fatalf("%#04x is %v and becomes %#04x", h, x, back)
		}
	}
	for h, want := range map[Half]float32{
		0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: 0x1p-24, 0x0400: 0x1p-14, 0x3555: 0.333251953125,
		0x7c00: float32(math.Inf(1)), 0xfc00: float32(math.Inf(-1)),
	} {
		if got := h.Float32(); got != want {
			t.Errorf("%#04x is %v, expected %v", h, got, want)
		}
	}
}

// NewHalf gives the nearest of all numbers in half precision, the even one in the middle.
func TestHalfRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float32Range(0, 65519).Draw(t, "x")
		if rapid.Bool().Draw(t, "middle") { // between two neighbours
			h := Half(rapid.IntRange(0, 0x7bfe).Draw(t, "h"))
			x = (h.Float32() + (h + 1).Float32()) / 2
		}
		h := NewHalf(x)
		distance := math.Abs(float64(h.Float32()) - float64(x))
		for _, other := range []Half{h - 1, h + 1} {
			if other&halfInfinity == halfInfinity || h == 0 && other > h+1 {
				continue
			}
			d := math.Abs(float64(other.Float32()) - float64(x))
			if d < distance || d == distance && h&1 == 1 {
				t.Fatalf("%v became %v, but %v is nearer or even", x, h.Float32(), other.Float32())
			}
		}
		if NewHalf(-x) != h|0x8000 {
			t.Fatalf("%v and its negative differ", x)
		}
	})
	if NewHalf(65519.99) != 0x7bff || NewHalf(65520) != 0x7c00 || NewHalf(-1e30) != 0xfc00 {
		t.Error("overflow")
	}
}
