package cli

import (
	"strings"
	"testing"
)

func TestSlowPaths(t *testing.T) {
	for _, c := range []struct {
		arch, builtBy string
		lanes         int
		blas          string
		want          []string // of the remedies
	}{
		{"amd64", "go1.26.8-X:simd", 16, "own kernel, AVX-512", nil},
		{"amd64", "go1.26.8", 1, "OpenBLAS", []string{"GOEXPERIMENT=simd"}},
		{"amd64", "go1.26.8", 1, "gonum", []string{"GOEXPERIMENT=simd", "OpenBLAS"}},
		{"amd64", "go1.26.8-X:simd", 1, "OpenBLAS", []string{"AVX2"}},
		{"arm64", "go1.26.8", 1, "gonum (no \"own\")", []string{"OpenBLAS"}},
		{"arm64", "go1.26.8", 1, "OpenBLAS", nil},
	} {
		got := slowPathsOf(c.arch, c.builtBy, c.lanes, c.blas)
		if len(got) != len(c.want) {
			t.Errorf("%+v: %v", c, got)
			continue
		}
		for k, want := range c.want {
			if !strings.Contains(got[k].Remedy, want) {
				t.Errorf("%+v: %v", c, got[k])
			}
		}
	}
}
