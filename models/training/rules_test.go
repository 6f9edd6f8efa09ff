package training

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured/machine/safetensors"
	"github.com/dsp-go/dsp/train"
)

// A run on models of few examples whose checkpoint does not name the rule of their regulariser goes on, with a warning; it goes on without
// one if the checkpoint names it, with models of eight examples, which have always had all of the regulariser, and without a regulariser.
func TestResumeWarnsOfRules(t *testing.T) {
	for _, x := range []struct {
		batch        settings.ModelBatch
		reg          settings.Strength
		older, warns bool
	}{{3, 1, true, true}, {3, 1, false, false}, {8, 1, true, false}, {3, 0, true, false}} {
		c := small(t)
		c.Method, c.Net, c.Hidden, c.ModelBatch, c.Batch = "prox-linear", "mlp", settings.Sizes{3}, x.batch, 0
		c.Reg = x.reg
		mustTrain(t, c)
		if x.older {
			path := filepath.Join(c.Out, checkpointFolder, "state.safetensors")
			f, err := safetensors.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			for name := range f.Metadata {
				if f.Metadata[name] == ruleNow {
					delete(f.Metadata, name)
				}
			}
			if err := safetensors.Write(path, f); err != nil {
				t.Fatal(err)
			}
		}
		c, err := ReadRun(c.Out)
		if err != nil {
			t.Fatal(err)
		}
		c.Passes += 2
		var log bytes.Buffer
		r, _, _, err := trainAll(t.Context(), c, TrainOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil || r.Passes != c.Passes {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := strings.Contains(log.String(), "had all of λ"); got != x.warns {
			t.Errorf("%+v: warned %v: %s", x, got, &log)
		}
	}
}

// Rows of an encoder beside attributes are a rule of the run, unless --standardise asks for their scale.
func TestRulesOfRows(t *testing.T) {
	for _, asked := range []bool{false, true} {
		r := &Run{Problem: Problem{model: &models.Model{Inputs: inputs.Inputs{Encoder: &encoded.Reader{}, Standard: &inputs.Standard{}}}}}
		r.config.Standardise = asked
		rules := train.Unnamed(r.rules(), nil)
		if got := len(rules) == 1 && strings.Contains(rules[0].Change, "beside attributes"); got == asked {
			t.Errorf("--standardise %v: %+v", asked, rules)
		}
	}
}
