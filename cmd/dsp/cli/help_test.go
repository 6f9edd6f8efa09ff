package cli

import (
	"strings"
	"testing"
)

// The whole help of a verb names those of its flags that are about drawn data, which dsp data explains, if it has any.
func TestHelpOfDrawnData(t *testing.T) {
	about := 0
	for _, verb := range Root().Commands() {
		root, out := Root(), new(strings.Builder)
		root.SetOut(out)
		root.SetArgs([]string{verb.Name(), "--help", "all"})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		_, told, tells := strings.Cut(out.String(), "\nWithout --train, data are drawn: ")
		drawn := verb.Flags().Lookup("difficulty") != nil
		if tells != drawn || tells && !strings.Contains(told, "--difficulty") {
			t.Errorf("%s: drawn data: %v, told: %v\n%s", verb.Name(), drawn, tells, told)
		}
		if tells {
			about++
		}
	}
	if about == 0 {
		t.Error("no verb draws data")
	}
}
