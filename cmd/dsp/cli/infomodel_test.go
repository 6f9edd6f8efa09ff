package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
)

// What info prints of a model's settings is about its task, network and method, and what was given.
func TestInfoShowsSettingsOfTheModel(t *testing.T) {
	all := "task method reg columns order encoder tree search candidates class classes superpixels miss-cost unmatched mu momentum hidden hash-bits examples"
	for _, test := range []struct{ set, shown string }{
		{"task=tag format=conll net=linear method=sdca", "task method reg columns order encoder hash-bits"},
		{"task=tag format=conll net=embed method=sgd", "task method reg columns order encoder momentum hidden"},
		{"task=parse format=conllu net=linear method=sdca", "task method reg order encoder tree hash-bits"},
		{"task=segment format=builtin net=linear method=bcpfw", "task method reg classes superpixels examples"},
		{"task=localise format=coco net=linear method=n-slack", "task method reg search candidates class"},
		{"task=align format=pairs net=linear method=bcpfw loss=hinge", "task method reg encoder miss-cost unmatched hash-bits"},
		{"task=graph format=npz net=linear method=casimir loss=hinge smoothing=entropy", "task method reg mu"},
		{"task=transcribe format=lines net=cnn method=sgd", "task method reg momentum hidden"},
		{"task=tag format=conll net=linear method=sdca given=miss-cost", "task method reg columns order encoder miss-cost hash-bits"},
	} {
		c := config.Default()
		for _, item := range strings.Fields(test.set) {
			name, value, _ := strings.Cut(item, "=")
			if name == "given" {
				c.Given = settings.Given{value}
				continue
			}
			for _, s := range config.Settings(&c) {
				if s.Name == name {
					if err := s.Set(value); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		var out strings.Builder
		if err := (inside{Config: c}).printSettings(&out); err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, name := range strings.Fields(all) {
			if slices.ContainsFunc(strings.Split(out.String(), "\n"), func(line string) bool { return strings.HasPrefix(line, name+":") }) {
				shown = append(shown, name)
			}
		}
		if got := strings.Join(shown, " "); got != test.shown {
			t.Errorf("%s: %s, expected %s", test.set, got, test.shown)
		}
	}
}
