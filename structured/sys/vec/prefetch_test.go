package vec

import "testing"

// Prefetch changes nothing and reads nothing, whatever its length, also beside memory that is not there.
func TestPrefetch(t *testing.T) {
	x := make([]float32, 100)
	for n := range x {
		x[n] = float32(n)
		Prefetch(x[n:])
		Prefetch(x[:n])
	}
	Prefetch[int32](nil)
	PrefetchString("")
	PrefetchString("ab"[1:])
	for n := range x {
		if x[n] != float32(n) {
			t.Fatalf("number %d is %v", n, x[n])
		}
	}
}
