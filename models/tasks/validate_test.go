package tasks

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

func TestDefaultIsValid(t *testing.T) {
	if err := Validate(config.Default()); err != nil {
		t.Fatal(err)
	}
}

func TestValidateRefuses(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		`--loss "hing" is not known (did you mean hinge?)`: func(c *config.Config) { c.Loss = "hing" },
		`--mu -1: expected at least 0`:                     func(c *config.Config) { c.Mu = -1 },
		`--lr NaN: expected a finite number`:               func(c *config.Config) { c.LR = math.NaN() },
		`--eta 0.1 has no effect with --method sgd`: func(c *config.Config) {
			c.Method, c.Eta = "sgd", 0.1
		},
		`--lr 1 has no effect with --method prox-linear --inner bcfw`: func(c *config.Config) {
			c.Method, c.Inner, c.LR = "prox-linear", "bcfw", 1
		},
		`--lr 1 and --lipschitz 2`:             func(c *config.Config) { c.LR, c.Lipschitz = 1, 2 },
		`--mu 1 has no effect with --loss crf`: func(c *config.Config) { c.Loss, c.Mu = "crf", 1 },
		`--k auto has no effect with --smoothing entropy`: func(c *config.Config) {
			c.Smoothing, c.K = "entropy", 0
		},
		`--gap 0.1 needs a certificate`: func(c *config.Config) {
			c.Method, c.Gap = "sgd", 0.1
		},
		`--mu 1 has no effect with --method bcfw`: func(c *config.Config) { c.Method, c.Mu = "bcfw", 1 },
		`--hidden 3 has no effect with --net linear`: func(c *config.Config) {
			c.Net, c.Hidden = "linear", settings.Sizes{3}
		},
		`--hidden 0: expected 1 to 1048576`: func(c *config.Config) {
			c.Hidden = settings.Sizes{0}
		},
		`--device cuda:99: `: func(c *config.Config) { c.Device = "cuda:99" },
		`--device cuda:x: expected the number of a device`: func(c *config.Config) { c.Device = "cuda:x" },
		`--device "gpu" is not known`:                      func(c *config.Config) { c.Device = "gpu" },
		`--tf32 is for matrix products on a GPU`: func(c *config.Config) {
			c.Device, c.TF32 = "cpu", true
		},
		`--task tag needs training data`:     func(c *config.Config) { c.Task = "tag" },
		`--dev and --test need --train`:      func(c *config.Config) { c.Dev = "x" },
		`--format conll needs training data`: func(c *config.Config) { c.Format = "conll" },
		`--format builtin draws its own data`: func(c *config.Config) {
			c.Format, c.Train = "builtin", "x"
		},
		`--examples 5: expected three numbers`: func(c *config.Config) {
			c.Examples = settings.Sizes{5}
		},
		`--dropout 1: expected a probability below 1`: func(c *config.Config) { c.Dropout = 1 },
		`--fold 3 and --test both say`: func(c *config.Config) {
			c.Train, c.Test, c.Fold = "a", "b", 3
		},
		`--label-weights a=2 has no effect with --loss crf`: func(c *config.Config) {
			c.Loss, c.LabelWeights = "crf", settings.LabelWeights{"a": 2}
		},
		`--encoder e has no effect on drawn data; give --train FILE; `: func(c *config.Config) {
			c.Task, c.Format, c.Encoder = "parse", "builtin", "e"
		},
		`--examples 1,1,1 has no effect with --format conll; it is f`: func(c *config.Config) {
			c.Train, c.Format, c.Examples = "x", "conll", settings.Sizes{1, 1, 1}
		},
		`--format conll has no trees`: func(c *config.Config) {
			c.Task, c.Train, c.Format = "parse", "x", "conll"
		},
		`--features pos makes attributes of tokens`: func(c *config.Config) {
			c.Task, c.Features = "parse", "pos"
		},
		`--features parse makes attributes of arcs`: func(c *config.Config) {
			c.Task, c.Train, c.Features = "tag", "x", "parse"
		},
		`--tree nonprojective has no effect with --task tag`: func(c *config.Config) {
			c.Task, c.Train, c.Tree = "tag", "x", "nonprojective"
		},
		`--crossing refuse has no effect with --tree nonprojective`: func(c *config.Config) {
			c.Task, c.Tree, c.Crossing = "parse", "nonprojective", "refuse"
		},
		`use --method owl-qn, which starts from any weights`: func(c *config.Config) {
			c.Task, c.Train, c.L1, c.Init = "tag", "x", 1, "m"
		},
		`--edges none has no effect with --task parse`: func(c *config.Config) {
			c.Task, c.Edges = "parse", "none"
		},
	} {
		c := config.Default()
		change(&c)
		err := Validate(c)
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}
