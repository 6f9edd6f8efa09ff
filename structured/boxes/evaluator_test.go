package boxes

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type cocoCase struct {
	Images []struct {
		Objects []struct {
			Box   [4]float64
			Area  float64
			Crowd bool
		}
		Detections []struct {
			Box   [4]float64
			Score float64
		}
	}
	Stats map[string]float64
}

func boxOf(c [4]float64) Box { return Box{c[0], c[1], c[2], c[3]} }

// bench/coco_ap.py made the cases and computed their stats with pycocotools.
func TestMetricsEqualPycocotools(t *testing.T) {
	files, err := filepath.Glob("testdata/coco*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []cocoCase
		if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 3 {
			t.Fatal(file, len(cases), err)
		}
		for k, c := range cases {
			var e Evaluator
			for _, image := range c.Images {
				var truths []Truth
				var detections []Detection
				for _, o := range image.Objects {
					truths = append(truths, Truth{boxOf(o.Box), o.Area, o.Crowd})
				}
				for _, d := range image.Detections {
					detections = append(detections, Detection{boxOf(d.Box), d.Score})
				}
				e.Add(truths, detections)
			}
			m := e.Metrics()
			for name, want := range c.Stats {
				got := m.Get(name)
				if math.IsNaN(got) && want == -1 { // pycocotools' way to say that there is nothing to count
					continue
				}
				if !(math.Abs(got-want) < 1e-12) {
					t.Errorf("%s, case %d: %s is %v, pycocotools says %v", file, k, name, got, want)
				}
			}
		}
	}
}

func TestLocalisation(t *testing.T) {
	gold := Box{0, 0, 10, 10}
	half, above := Box{0, 0, 10, 5}, Box{0, 0, 10, 6}
	var e Evaluator
	e.Add([]Truth{{Box: gold}}, []Detection{{half, 1}})             // an IoU of 0.5 is not above it
	e.Add([]Truth{{Box: gold}}, []Detection{{half, 1}, {above, 2}}) // the higher score counts, whatever the order
	e.Add([]Truth{{Box: gold}}, nil)
	e.Add(nil, []Detection{{half, 1}})
	m := e.Metrics()
	for name, want := range map[string]float64{"corloc": 1. / 3, "mean_iou": 1.1 / 3, "images": 3, "objects": 3} {
		if got := m.Get(name); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, expected %v", name, got, want)
		}
	}
	if name, v := m.Error(); name != "localisation error (1 − CorLoc)" || math.Abs(v-2./3) > 1e-12 {
		t.Errorf("models are selected by %s = %v", name, v)
	}
	if text := m.String(); !strings.HasPrefix(text, "CorLoc 33.33 %, mean IoU 36.67 %, AP ") {
		t.Error(text)
	}
}

func TestMetricsOfNothing(t *testing.T) {
	for _, add := range []func(e *Evaluator){
		func(*Evaluator) {}, func(e *Evaluator) { e.Add(nil, nil) }, func(e *Evaluator) {
			e.Add(nil, []Detection{{Box{0, 0, 1, 1}, 1}})
		},
		func(e *Evaluator) { e.Add([]Truth{{Box: Box{0, 0, 1, 1}}}, nil) },
	} {
		var e Evaluator
		add(&e)
		for _, x := range e.Metrics().Measures {
			if x.Name != "images" && x.Name != "objects" && x.Value != 0 || x.Value-x.Value != 0 {
				t.Errorf("%s is %v without a detection of an object", x.Name, x.Value)
			}
		}
	}
}

func BenchmarkMetrics(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	random := func() Box {
		return Box{200 * rng.Float64(), 200 * rng.Float64(), 10 + 90*rng.Float64(), 10 + 90*rng.Float64()}
	}
	for b.Loop() {
		var e Evaluator
		for range 5000 {
			detections := make([]Detection, 10)
			for k := range detections {
				detections[k] = Detection{random(), rng.Float64()}
			}
			e.Add([]Truth{{Box: random()}}, detections)
		}
		_ = e.Metrics()
	}
}
