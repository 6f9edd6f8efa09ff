package training

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
)

// give sets a setting as a flag does.
func give(t *testing.T, c *config.Config, name, value string) {
	t.Helper()
	s, _ := settings.Named(config.Settings(c), name)
	if err := s.Set(value); err != nil {
		t.Fatal(err)
	}
}

// The number of best outputs asks for l2 smoothing even if it is the default number.
func TestGivenKChoosesSmoothing(t *testing.T) {
	d := toyData()
	for given, want := range map[bool]string{false: "entropy", true: "l2"} {
		m := toyModel(t, d, func(c *config.Config) { c.Net, c.Hidden = "linear", nil })
		c := m.Config
		if given {
			give(t, &c, "k", "5")
		}
		o, err := objective(&c, m, d)
		if err != nil {
			t.Fatal(err)
		}
		by, _ := chooseMethod(&c, o, 1)
		if got := chooseSmoothing(&c, by, o); got != want {
			t.Errorf("k given %v: smoothing %s, want %s", given, got, want)
		}
		if other := withMethod(c, "svrg"); other.Gives("k") {
			t.Error("the settings of another method were given")
		}
	}
}

// A run's configuration says what was given, and so does the run that resumes it. A folder of an older version, whose
// configuration does not say it, can be read and resumed.
func TestGivenIsResumed(t *testing.T) {
	dir := t.TempDir()
	c := config.Default()
	c.Method, c.Out = "sdca", dir // that a run chose
	give(t, &c, "examples", "1000,200,200")
	give(t, &c, "scheme", "keep")
	if err := writeConfig(&c); err != nil {
		t.Fatal(err)
	}
	was, err := ReadRun(dir)
	if err != nil || !slices.Equal(was.Given, settings.Given{"examples", "scheme"}) || was.Method != "sdca" {
		t.Errorf("%v, %v", was.Given, err)
	}
	path := filepath.Join(dir, configFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, _, found := bytes.Cut(text, []byte("# Which of these were given"))
	if !found {
		t.Fatalf("%s", text)
	}
	if err := os.WriteFile(path, old, 0o666); err != nil {
		t.Fatal(err)
	}
	was, err = ReadRun(dir)
	if err != nil || len(was.Given) > 0 || was.Method != "sdca" || was.Gives("scheme") || !was.Gives("method") {
		t.Errorf("%v, %v", was.Given, err)
	}
}
