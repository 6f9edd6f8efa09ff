package instructions

import "testing"

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		has  set
		ok   bool
	}{
		{"", plain, true}, {"plain", plain, true}, {"avx2", plain, false}, {"avx2", avx512, true}, {"avx512", avx2, false}, {"avx512", avx512, true},
		{"AVX2", avx512, false}, {"sse", avx512, false},
	} {
		if err := check(c.name, c.has); (err == nil) != c.ok {
			t.Errorf("DSP_KERNELS=%s where %d is there: %v", c.name, c.has, err)
		}
		if got := min(c.has, wanted(c.name)); c.ok && c.name != "" && got != names[c.name] {
			t.Errorf("DSP_KERNELS=%s chooses %d", c.name, got)
		}
	}
}
