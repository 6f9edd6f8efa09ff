package instructions

import (
	"slices"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		has  set
		ok   bool
	}{
		{"", plain, true}, {"plain", plain, true}, {"avx2", plain, false}, {"avx2", avx512, true}, {"avx512", avx2, false},
		{"avx512", avx512, true},
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

// Kernels are those of the sets up to the best, without those that the program was compiled without.
func TestAvailable(t *testing.T) {
	one, two, three := 1, 2, 3
	for _, c := range []struct {
		most         set
		avx2, avx512 *int
		want         []int
	}{
		{plain, &two, &three, []int{1}}, {avx2, &two, &three, []int{2, 1}}, {avx512, &two, &three, []int{3, 2, 1}},
		{avx512, &two, nil, []int{2, 1}}, {avx512, nil, nil, []int{1}},
	} {
		var got []int
		for _, k := range available(c.most, &one, c.avx2, c.avx512) {
			got = append(got, *k)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("kernels up to set %d: %v, want %v", c.most, got, c.want)
		}
	}
}
