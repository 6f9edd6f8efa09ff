package optimisers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/train/engine"
)

// Help puts the names of methods into the help text of a setting: {l1} stands for those that take λ₁, {bounds} for
// those that take bounds of the weights, {radius} for those that keep them in a ball, {hinge} for those for the hinge
// only, {plain} for those that take its max as it is, {passes} for the default numbers of passes, and {more} for how
// many there are beside those that --method names.
func Help(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return strings.NewReplacer(
		"{l1}", and(NamesOf((*Descriptor).TakesL1)),
		"{bounds}", and(NamesOf((*Descriptor).TakesBounds)),
		"{radius}", and(NamesOf((*Descriptor).TakesRadius)),
		"{hinge}", and(NamesOf(func(d *Descriptor) bool { return d.Losses == HingeOnly })),
		"{plain}", and(NamesOf(func(d *Descriptor) bool {
			return d.Smoothing != Smooths && d.Within == nil && d.Losses.Takes(engine.Hinge.String())
		})),
		"{passes}", passesOfMethods(),
		"{more}", strconv.Itoa(len(All())-named),
	).Replace(text)
}

// named is how many methods the placeholder of --method names.
const named = 4

// passesOfMethods says how many passes methods make by default.
func passesOfMethods() string {
	names := map[int][]string{}
	var counts []int
	for _, d := range All() {
		if n := d.DefaultPasses(); n != convexPasses {
			if names[n] == nil {
				counts = append(counts, n)
			}
			names[n] = append(names[n], d.Name)
		}
	}
	slices.Sort(counts)
	var text strings.Builder
	for _, n := range counts {
		fmt.Fprintf(&text, "%d for %s, ", n, and(names[n]))
	}
	return text.String() + fmt.Sprintf("else %d", convexPasses)
}

// and joins names as in a sentence.
func and(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
