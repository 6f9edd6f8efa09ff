package optimisers

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
)

// Methods have the traits, and take the settings, that the reference says.
func TestTableOfMethods(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/methods.md")
	if err != nil {
		t.Fatal(err)
	}
	yes := func(is bool) string { return map[bool]string{true: "yes"}[is] }
	for _, d := range All() {
		ranks := yes(d.Ranks)
		if d.Blocks {
			ranks = "blocks"
		}
		net := "any"
		if d.Convex() {
			net = "linear"
		}
		cells := []string{
			"`" + d.Name + "`", d.Losses.String(), net, yes(d.Certified), d.Smoothing.String(), yes(d.TakesL1()), yes(d.TakesBounds()), yes(d.Prior), yes(d.Partial),
			yes(d.OnDevice()), ranks, strconv.Itoa(d.DefaultPasses()),
		}
		if row := "| " + strings.Join(cells, " | ") + " |\n"; !strings.Contains(string(text), row) {
			t.Errorf("the reference has no row %s", row)
		}
		_, section, _ := strings.Cut(string(text), "\n## "+d.Name+"\n\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !strings.HasPrefix(section, d.Summary) || !strings.Contains(section, " When: "+d.When) {
			t.Errorf("the reference says of %s:\n%s", d.Name, section)
		}
		_, listed, _ := strings.Cut(section, "* Settings: `--")
		listed, _, _ = strings.Cut(listed, "`\n")
		var taken []string
		for _, s := range settings.Of(&Settings{}) {
			if d.Takes(s.Name) && s.Name != "dropout" {
				taken = append(taken, s.Name)
			}
		}
		if got := strings.Join(taken, "`, `--"); got != listed {
			t.Errorf("%s takes %s, and the reference says %s", d.Name, got, listed)
		}
	}
}
