package tasks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// give sets a setting as a flag does.
func give(t *testing.T, c *config.Config, name, value string) {
	t.Helper()
	s, _ := settings.Named(config.Settings(c), name)
	if err := s.Set(value); err != nil {
		t.Fatal(err)
	}
}

// Every task draws as many examples as it was asked for, also if that is the default of another task, and else its own
// number. The resolved settings say it.
func TestDrawnExamples(t *testing.T) {
	plain := config.Default().Examples
	for _, task := range All() {
		if task.Draw == nil {
			continue
		}
		own := plain
		if task.Examples != nil {
			own = task.Examples()
		}
		c := config.Default()
		c.Task = task.Name
		if err := Resolve(&c); err != nil || !slices.Equal(c.Examples, own) {
			t.Errorf("%s draws %v, %v; want %v", task.Name, c.Examples, err, own)
		}
		c = config.Default()
		c.Task = task.Name
		give(t, &c, "examples", fmt.Sprint(plain))
		if err := Resolve(&c); err != nil || !slices.Equal(ChooseExamples(&c), plain) || !slices.Equal(c.Examples, plain) {
			t.Errorf("%s draws %v, %v; want those that were given, %v", task.Name, c.Examples, err, plain)
		}
	}
}

func TestGivenEdges(t *testing.T) {
	for task, own := range map[string]string{"graph": nets.EdgesOwn, "segment": nets.EdgesPotts} {
		c := config.Default()
		c.Task = task
		if err := Resolve(&c); err != nil || c.Edges != own {
			t.Errorf("%s: --edges %s, %v", task, c.Edges, err)
		}
		c = config.Default()
		c.Task = task
		give(t, &c, "edges", "transition")
		if err := Resolve(&c); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), "--edges transition: sequences have it") {
			t.Errorf("%s --edges transition: %v, resolved to %s", task, err, c.Edges)
		}
	}
}

// Settings of what is not there are refused even with their default values.
func TestGivenDefaultsContradict(t *testing.T) {
	plain := config.Default()
	for message, settings := range map[string][][2]string{
		"--cell-pixels 8 and --superpixels 50": {{"superpixels", "50"},
			{"cell-pixels", fmt.Sprint(plain.Cell)}},
		"--region-pixels and --region-context are those of":   {{"region-pixels", fmt.Sprint(plain.Patch)}},
		"--region-pixels and --region-context are those of p": {{"region-context", fmt.Sprint(plain.Context)}},
	} {
		c := config.Default()
		c.Task = "segment"
		for _, s := range settings {
			give(t, &c, s[0], s[1])
		}
		if err := Resolve(&c); !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%v: %v, want %q", settings, err, message)
		}
	}
}

// Segmentation with development data has patience, unless another number is given, 0 among them.
func TestSegmentHasPatience(t *testing.T) {
	for name, x := range map[string]struct {
		change func(c *config.Config)
		want   int
	}{
		"development data": {func(c *config.Config) { c.Train, c.Dev = "a", "b" }, segmentPatience},
		"drawn data":       {func(c *config.Config) { c.Format = "builtin" }, segmentPatience},
		"training data":    {func(c *config.Config) { c.Train = "a" }, 0},
		"0 is given":       {func(c *config.Config) { c.Train, c.Dev, c.Given = "a", "b", settings.Given{"patience"} }, 0},
		"7 is given":       {func(c *config.Config) { c.Train, c.Dev, c.Patience = "a", "b", 7 }, 7},
	} {
		c := config.Default()
		c.Task = "segment"
		x.change(&c)
		segment.Complete(&c)
		if c.Patience != x.want {
			t.Errorf("%s: patience %d, want %d", name, c.Patience, x.want)
		}
	}
}

// Two settings that say how large a step is are refused by name, and so are step lengths of an encoder where no steps
// have them. What a run chose for itself stays.
func TestSizesOfStepsOfProxLinear(t *testing.T) {
	for _, x := range []struct{ flags, want string }{
		{"batch-tokens=64 model-batch=8", "--model-batch 8 and --batch-tokens 64 both"},
		{"batch-tokens=64 model-batch=all", "--batch-tokens 64 is for models of batches"},
		{"batch-tokens=64", ""},
		{"lr-encoder=0.1 model-batch=all", "--lr-encoder 0.1 is for steps on models of batches"},
		{"layer-decay=0.9 inner=svrg", "--layer-decay 0.9 is for steps on models of batches"},
		{"layer-decay=0.9 lr-encoder=0.1 inner=svrg finish=2", ""},
		{"layer-decay=0.9 lr-encoder=0.1 model-batch=4", ""},
	} {
		c := config.Default()
		c.Task, c.Train, c.Format, c.Net, c.Method = "tag", "x", "conll", "embed", "prox-linear"
		c.Encoder, c.TuneEncoder = "folder", true
		for _, flag := range strings.Fields(x.flags) {
			name, value, _ := strings.Cut(flag, "=")
			give(t, &c, name, value)
		}
		if err := Validate(c); (err == nil) != (x.want == "") || err != nil &&
			!(structured.IsBadInput(err) && strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.flags, err, x.want)
		}
		if c.ModelBatch == 0 {
			c.ModelBatch = 16 // as a run decides, whose settings are checked again
			if err := Validate(c); x.flags == "batch-tokens=64" && err != nil {
				t.Errorf("%s, resolved: %v", x.flags, err)
			}
		}
	}
}

// Sliding windows are many unless someone says otherwise. Model files of all tasks hold the number for boxes from
// files, which therefore stays.
func TestCandidates(t *testing.T) {
	const inModelFiles = 400
	for _, test := range []struct {
		name string
		give func(c *config.Config)
		want int
	}{
		{"windows slide", func(*config.Config) {}, slidingWindows},
		{"boxes from a file", func(c *config.Config) { c.Boxes = "boxes.json" }, inModelFiles},
		{"a grid", func(c *config.Config) { c.Search = "windows" }, inModelFiles},
		{"given", func(c *config.Config) { c.Candidates, c.Given = inModelFiles, settings.Given{"candidates"} },
			inModelFiles},
		{"a model continues", func(c *config.Config) { c.Init = "runs/first" }, inModelFiles},
		{"another task", func(c *config.Config) { c.Task = "tag" }, inModelFiles},
	} {
		c := config.Default()
		c.Task = "localise"
		test.give(&c)
		if complete := Of(&c).Complete; complete != nil {
			complete(&c)
		}
		if c.Candidates != test.want {
			t.Errorf("%s: %d candidates, expected %d", test.name, c.Candidates, test.want)
		}
	}
}
