package vec

import "testing"

func TestGrowReusesMemory(t *testing.T) {
	if s := Grow[int](nil, 0); len(s) != 0 {
		t.Errorf("%v, expected nothing", s)
	}
	s := Grow([]int{1}, 5)
	if len(s) != 5 || cap(s) != 5 {
		t.Fatalf("length %d, capacity %d, expected 5", len(s), cap(s))
	}
	for _, n := range []int{0, 3, 5} {
		if to := Grow(s[:1], n); len(to) != n || cap(to) != cap(s) || n > 0 && &to[0] != &s[0] {
			t.Errorf("%d of %d entries are not where the old ones were", n, cap(s))
		}
	}
}
