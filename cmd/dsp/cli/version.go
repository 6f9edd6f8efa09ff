package cli

import (
	"runtime/debug"
	"strings"
	"time"
)

// Release is the version of dsp, as CHANGELOG.md and the Python package name it.
const Release = "0.9.0"

// version returns the release with the commit that it was built from, and when that was made: "0.9.0 (d4ea9b562796,
// 2026-11-28)". Without them it returns the release alone.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Release
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	for _, d := range info.Deps {
		if d.Path == modulePath { // a program of somebody else, which has dsp as a module
			return join(d.Version)
		}
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	commit := set["vcs.revision"]
	commit = commit[:min(12, len(commit))]
	if commit != "" && set["vcs.modified"] == "true" {
		commit += " with changes"
	}
	made, err := time.Parse(time.RFC3339, set["vcs.time"])
	if err != nil {
		return join(commit)
	}
	return join(commit, made.Format(time.DateOnly))
}

// join puts what is known of the source in parentheses behind the release.
func join(source ...string) string {
	if text := strings.Trim(strings.Join(source, ", "), ", "); text != "" {
		return Release + " (" + text + ")"
	}
	return Release
}
