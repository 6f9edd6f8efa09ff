package structured

import "testing"

// Saved models depend on these numbers.
func TestHashAttribute(t *testing.T) {
	for _, test := range []struct {
		name string
		bits int
		want int32
	}{
		{"", 31, 2011697072}, {"U00:the", 20, 903131}, {"U00:the", 31, 1849613536}, {"U00:Zürich", 31, 1098336713},
	} {
		if got := HashAttribute([]byte(test.name), test.bits); got != test.want {
			t.Errorf("%q in %d bits: %d, want %d", test.name, test.bits, got, test.want)
		}
	}
	const bits, n = 6, 64000
	var count [1 << bits]int
	for i := range n {
		count[HashAttribute([]byte{'U', byte(i), byte(i >> 8)}, bits)]++
	}
	for bucket, c := range count {
		if c < n>>bits*8/10 || c > n>>bits*12/10 {
			t.Errorf("bucket %d has %d of %d names", bucket, c, n)
		}
	}
}
