package curves

import (
	"strings"
	"testing"
)

// All that a picture says of certificates says whether they are about relaxed objectives, and of which runs if of some.
func TestPictureSaysRelaxed(t *testing.T) {
	exact, relaxed, uncertified := Run{"bcfw", records(20, 4, true)}, Run{"casimir", records(20, 4, true)},
		Run{"sgd", records(20, 4, false)}
	for i := range relaxed.Records {
		relaxed.Records[i].Relaxed = true
	}
	for end, runs := range map[string][]Run{
		"":                               {exact, uncertified},
		", relaxed objective":            {relaxed, uncertified},
		", relaxed objective of casimir": {exact, relaxed},
	} {
		p := newPicture(runs)
		entries := p.entries()
		for _, text := range []string{p.rows[0].label, p.rows[1].label, entries[len(entries)-1].text} {
			if !strings.Contains(text, "certified") || strings.Contains(text, "relaxed") != (end != "") ||
				!strings.HasSuffix(text, end) {
				t.Errorf("%q, want %q at its end", text, end)
			}
		}
	}
	for _, r := range []Run{exact, relaxed} {
		if _, finding := outcome(r); strings.HasSuffix(finding,
			"above the optimum, relaxed objective") != (r.Name == "casimir") {
			t.Errorf("%s: %s", r.Name, finding)
		}
	}
}
