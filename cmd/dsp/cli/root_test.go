package cli

import (
	"slices"
	"testing"
)

// Only the verb that comes first is made, and every verb has the name that it is found by.
func TestAskedFor(t *testing.T) {
	all := allVerbs()
	for _, v := range all {
		for _, args := range [][]string{{v.name}, {"--json", v.name, "--model", "train"}, {v.name, "predict"}} {
			if got := askedFor(args); len(got) != 1 || got[0].name != v.name {
				t.Errorf("%q: %d verbs", args, len(got))
			}
		}
		if cmd := v.make(); cmd.Name() != v.name {
			t.Errorf("the command of verb %s is %s", v.name, cmd.Name())
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"help", "train"}, {"completion", "bash"}, {"__complete", "train", "--"}, {"trian"}} {
		if got := askedFor(args); len(got) != len(all) {
			t.Errorf("%q: %d verbs", args, len(got))
		}
	}
	if got := askedFor([]string{"--json", "--version"}); len(got) != 0 {
		t.Errorf("%d verbs to print the version", len(got))
	}
	if names := newRoot(all).Commands(); !slices.Equal([]string{names[0].Name(), names[len(names)-1].Name()}, []string{"train", "selftest"}) {
		t.Errorf("the help does not begin with train or end with selftest")
	}
}
