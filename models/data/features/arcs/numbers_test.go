package arcs

import (
	"math/rand/v2"
	"testing"
)

func TestNumbersOfHashes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 8, 1000, 5000} {
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = rng.Uint64() >> (i % 5) // some slots are crowded
		}
		numbers, err := NewNumbers(hashes)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hashes {
			if numbers.find(h) != int32(i) || numbers.passes(h) != 1 {
				t.Fatalf("%d attributes: number %d is found as %d", n, i, numbers.find(h))
			}
		}
		if bits := 64 * len(numbers.filter); n >= 1000 && (bits < 4*n || bits > 8*n) {
			t.Errorf("%d attributes: a filter of %d bits, expected 4 to 8 per attribute", n, bits)
		}
		passed := 0
		for range 1000 {
			h := rng.Uint64()
			if numbers.find(h) != none {
				t.Fatalf("%d attributes: an unknown hash has a number", n)
			}
			passed += numbers.passes(h)
		}
		if passed > 300 {
			t.Errorf("%d attributes: %d unknown hashes of 1000 pass the filter", n, passed)
		}
	}
}
