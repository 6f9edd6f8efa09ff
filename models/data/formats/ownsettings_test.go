package formats

import (
	"io"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// A format that reads files or folders gets its own settings: the values that were given, and its defaults for
// the others. What it does not have is refused before anything is read.
func TestOwnSettingsOfFormats(t *testing.T) {
	type own struct {
		Skip int    `yaml:"skip" json:"skip" help:"lines to skip"`
		Mark string `yaml:"mark" json:"mark" help:"what begins a remark"`
	}
	var got []any
	f := Format{
		Name: "mine", Settings: own{2, "#"},
		Read: func(_ io.Reader, _ string, o Options) (*structured.Dataset, error) {
			got = append(got, o.Own)
			return nil, nil
		},
		ReadFolder: func(_ string, o Options) (*structured.Dataset, error) {
			got = append(got, o.Own)
			return nil, nil
		},
	}.withOwn()
	for _, c := range []struct {
		given settings.Texts
		want  own
		fits  bool
	}{
		{nil, own{2, "#"}, true}, {settings.Texts{"skip": "5"}, own{5, "#"}, true},
		{settings.Texts{"mark": ";", "skip": "0"}, own{0, ";"}, true},
		{settings.Texts{"step": "5"}, own{}, false}, {settings.Texts{"skip": "five"}, own{}, false},
	} {
		got = nil
		_, file := f.Read(nil, "x", Options{Given: c.given})
		_, folder := f.ReadFolder("x", Options{Given: c.given})
		for k, err := range []error{f.CheckOwn(c.given), file, folder} {
			if c.fits && err != nil || !c.fits && !structured.IsBadInput(err) {
				t.Errorf("%v: %v (%d)", c.given, err, k)
			}
		}
		if !c.fits {
			if len(got) > 0 {
				t.Errorf("%v: something is read", c.given)
			}
			continue
		}
		for _, o := range got {
			if o, ok := o.(*own); !ok || *o != c.want {
				t.Errorf("%v: settings %+v, expected %+v", c.given, o, c.want)
			}
		}
		if len(got) != 2 {
			t.Errorf("%v: %d readings", c.given, len(got))
		}
	}
}
