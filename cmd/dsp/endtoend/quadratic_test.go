package endtoend

import (
	"path/filepath"
	"testing"
)

// --loss quadratic trains linear nets with a certificate, in few passes on dense inputs, and networks; the model predicts like any other.
func TestQuadraticLoss(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := write(t, "train.crfsuite", items())
	for name, args := range map[string][]string{
		"dense":      {"--examples", "60,20,20", "--net", "linear", "--method", "auto", "--gap", "1e-4", "--passes", "3"},
		"attributes": {"--train", text, "--dev", text, "--gap", "1e-3", "--passes", "100"},
		"few":        {"--train", text, "--dev", text, "--gap", "1e-2", "--passes", "100", "--l1", "0.1"},
		"network":    {"--examples", "30,10,10", "--net", "mlp", "--passes", "2"},
	} {
		run := filepath.Join(dir, name)
		var r struct {
			Method      string
			Dual        *float64
			RelativeGap *float64 `json:"relative_gap"`
		}
		dsp(t, append([]string{"train", "--loss", "quadratic", "--edges", "none", "--baselines", "off", "--quiet", "--json", "--out", run}, args...)...).ok().json(&r)
		if name == "network" {
			if r.Method != "adam" || r.Dual != nil {
				t.Errorf("%s: %+v", name, r)
			}
			continue
		}
		want := map[string]string{"dense": "lbfgs", "attributes": "sdca", "few": "owl-qn"}[name]
		if r.Method != want || r.RelativeGap == nil || *r.RelativeGap < 0 || *r.RelativeGap > 0.011 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	dsp(t, "eval", "--model", filepath.Join(dir, "attributes"), "--data", text, "--json").ok()
}

// What the quadratic loss cannot fit is refused, with what to do instead.
func TestQuadraticLossRefusals(t *testing.T) {
	t.Parallel()
	text := write(t, "train.crfsuite", items())
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--train", text}, []string{"--loss quadratic", "--edges none"}},
		{[]string{"--task", "parse", "--examples", "5,5,5"}, []string{"quadratic", "labels of positions"}},
		{[]string{"--train", text, "--edges", "none", "--method", "oeg"}, []string{"oeg", "quadratic", "lbfgs"}},
		{[]string{"--train", text, "--edges", "none", "--method", "svrg"}, []string{"svrg", "quadratic", "lr"}},
		{[]string{"--train", text, "--edges", "none", "--label-weights", "O=2"}, []string{"--label-weights"}},
	} {
		dsp(t, append([]string{"train", "--loss", "quadratic", "--out", filepath.Join(t.TempDir(), "run")}, c.args...)...).refused(exitBadInput, c.want...)
	}
}
