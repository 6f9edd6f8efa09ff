package cli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionOf(t *testing.T) {
	t.Parallel()
	settings := func(pairs ...string) (all []debug.BuildSetting) {
		for k := 0; k < len(pairs); k += 2 {
			all = append(all, debug.BuildSetting{Key: pairs[k], Value: pairs[k+1]})
		}
		return all
	}
	const commit = "d4ea9b562796aa86dd0e2f4ea0af1ff1c8ee4a77"
	for _, c := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, Release},
		{debug.BuildInfo{Settings: settings("vcs.revision", commit, "vcs.time", "2026-11-28T18:42:56Z", "vcs.modified", "false")}, Release + " (d4ea9b562796, 2026-11-28)"},
		{debug.BuildInfo{Settings: settings("vcs.revision", commit, "vcs.time", "2026-11-28T18:42:56Z", "vcs.modified", "true")},
			Release + " (d4ea9b562796 with changes, 2026-11-28)"},
		{debug.BuildInfo{Settings: settings("vcs.revision", commit)}, Release + " (d4ea9b562796)"},
		{debug.BuildInfo{Main: debug.Module{Path: "example.org/mine"}, Deps: []*debug.Module{{Path: modulePath, Version: "v0.9.1"}},
			Settings: settings("vcs.revision", "0123")}, Release + " (v0.9.1)"},
	} {
		if got := versionOf(&c.info); got != c.want {
			t.Errorf("got %q, expected %q", got, c.want)
		}
	}
}

// The changelog begins with this release, and the Python package has its number.
func TestReleaseIsNamedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, line string }{
		{"cmd/libdsp/python/dsp/__init__.py", `__version__ = "` + Release + `"`},
		{"CHANGELOG.md", "## " + Release},
	} {
		text, err := os.ReadFile(filepath.Join("../../..", c.path))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains("\n"+string(text), "\n"+c.line) {
			t.Errorf("%s has no line %s", c.path, c.line)
		}
		if _, first, _ := strings.Cut(string(text), "\n## "); c.path == "CHANGELOG.md" && !strings.HasPrefix(first, Release) {
			t.Errorf("%s begins with %.20q, not with this release", c.path, first)
		}
	}
}
