package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/traintest"
)

// Every method, stopped after any pass and resumed, gives the weights and records of an uninterrupted run, on dense and
// on sparse inputs.
func TestResumeGivesTheSameBits(t *testing.T) {
	t.Run("dense", func(t *testing.T) { resumeGivesTheSameBits(t, traintest.LoopProblem) })
	t.Run("sparse", func(t *testing.T) {
		resumeGivesTheSameBits(t, func() (*train.Problem, *train.State) {
			p := traintest.SparseProblem(40, engine.Hinge, traintest.Entropy, 0.1)
			return p, train.NewState(make([]float32, p.Scorer.Dim()))
		})
	})
}

func resumeGivesTheSameBits(t *testing.T, problem func() (*train.Problem, *train.State)) {
	for name, method := range map[string]func() train.Method{
		"sgd":                  func() train.Method { return &methods.SGD{} },
		"sgd, weighted":        func() train.Method { return &methods.SGD{Rate: 0.1, Averaging: methods.WeightedAverage} },
		"svrg":                 func() train.Method { return &methods.SVRG{} },
		"saga":                 func() train.Method { return &methods.SAGA{} },
		"bcfw":                 func() train.Method { return &methods.BCFW{} },
		"bcpfw":                func() train.Method { return &methods.BCPFW{Resync: 2} },
		"bcpfw, cache":         func() train.Method { return &methods.BCPFW{Resync: 2, CacheLocal: 0.25, CacheGlobal: 0.01} },
		"bcpfw, global cache":  func() train.Method { return &methods.BCPFW{Resync: 2, CacheGlobal: 0.5} },
		"bcpfw, away":          func() train.Method { return &methods.BCPFW{Resync: 2, Away: true, Draw: true} },
		"agm":                  func() train.Method { return &methods.AGM{} },
		"agm, one":             func() train.Method { return &methods.AGM{One: true} },
		"agm, l1":              func() train.Method { return &methods.AGM{} },
		"fw":                   func() train.Method { return &methods.FrankWolfe{} },
		"cutting-plane":        func() train.Method { return &methods.CuttingPlane{Planes: 3} },
		"n-slack":              func() train.Method { return &methods.NSlack{} },
		"oeg":                  func() train.Method { return &sdca.SDCA{Online: true, Resync: 2} },
		"oeg, l1":              func() train.Method { return &sdca.SDCA{Online: true, Resync: 2} },
		"casimir":              func() train.Method { return &methods.Casimir{} },
		"prox-linear":          func() train.Method { return &methods.ProxLinear{InnerPasses: 1} },
		"prox-linear, batches": func() train.Method { return &methods.BatchProxLinear{ModelBatch: 3, Passes: 5} },
		"prox-linear, steps":   func() train.Method { return &methods.BatchProxLinear{ModelBatch: 3, Passes: 5, InnerSteps: 4} },
		"prox-linear, finish": func() train.Method {
			return &methods.BatchProxLinear{ModelBatch: 3, Passes: 5, Finish: 3, Finisher: methods.ProxLinear{InnerPasses: 1}}
		},
		"adam": func() train.Method {
			return &methods.Adam{Schedule: methods.CosineSchedule, Span: methods.Span{Passes: 5, WarmUp: 1}, Averaging: methods.ExponentialAverage}
		},
		"sgd, momentum": func() train.Method {
			return &methods.SGD{Momentum: 0.9, Nesterov: true, Clip: 1, Schedule: methods.GeometricSchedule, Span: methods.Span{Passes: 5}}
		},
		"prox-linear, casimir": func() train.Method {
			return &methods.ProxLinear{InnerPasses: 1, Inner: func(int) train.Method { return &methods.Casimir{} }}
		},
		"prox-linear, partial labels": func() train.Method { return &methods.ProxLinear{InnerPasses: 1, WarmUp: 1} },
		"lbfgs, partial labels":       func() train.Method { return &quasinewton.LBFGS{} },
		"casimir-adapt":               func() train.Method { return &methods.Casimir{Adaptive: true} },
		"sdca":                        func() train.Method { return &sdca.SDCA{Resync: 2} },
		"lbfgs":                       func() train.Method { return &quasinewton.LBFGS{Store: 2} },
		"sdca, l1":                    func() train.Method { return &sdca.SDCA{Resync: 2} },
		"owl-qn, l1":                  func() train.Method { return &quasinewton.OWLQN{Store: 2} },
		"svrg, l1":                    func() train.Method { return &methods.SVRG{} },
		"saga, l1":                    func() train.Method { return &methods.SAGA{} },
		"bcfw, l1":                    func() train.Method { return &methods.BCFW{Resync: 2} },
		"bcpfw, l1":                   func() train.Method { return &methods.BCPFW{Resync: 2} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const passes = 5
			run := func(to int, c *train.Checkpoint) (*train.Result, []record.Record) {
				p, s := problem()
				m := method()
				if m.Name() == "lbfgs" || m.Name() == "sdca" || m.Name() == "owl-qn" { // these require a smooth loss
					p.Loss = engine.CRF
				}
				if strings.HasSuffix(name, "l1") {
					p.Lambda, p.L1 = 1e-3, 0.02
				}
				if strings.HasSuffix(name, "partial labels") {
					traintest.Hide(p.Data, 0.5, 1)
				}
				history := &record.History{}
				tr := &train.Trainer{Problem: p, Method: m, Passes: to, Checkpoint: c, Recorders: []record.Recorder{history}}
				r, err := tr.Run(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				for i := range history.Records {
					history.Records[i].Seconds = 0
				}
				return r, history.Records
			}
			want, records := run(passes, nil)
			for stop := range passes {
				dir := t.TempDir()
				first := newCheckpoint(t, dir)
				first.Large = stop%2 == 1
				run(stop, first)
				c := openCheckpoint(t, dir)
				c.Large = stop > 2
				if c.Pass() != stop {
					t.Fatalf("the checkpoint is of pass %d, want %d", c.Pass(), stop)
				}
				got, rest := run(passes, c)
				if !slices.Equal(got.W, want.W) {
					t.Errorf("stopped after pass %d: other weights", stop)
				}
				if a, b := asJSON(t, rest), asJSON(t, records[stop:]); a != b {
					t.Errorf("stopped after pass %d: records\n%s\nwant\n%s", stop, a, b)
				}
			}
		})
	}
}

func asJSON(t *testing.T, x any) string {
	t.Helper()
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const killPasses = 40

// readTimeless reads a file of a run without the seconds.
func readTimeless(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if name != "metrics.jsonl" {
		return string(text)
	}
	var records []record.Record
	for line := range strings.Lines(string(text)) {
		var r record.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		r.Seconds = 0
		records = append(records, r)
	}
	return asJSON(t, records)
}

// A checkpoint of another run is rejected with the reason.
func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	p, s := traintest.LoopProblem()
	c, err := train.NewCheckpoint(dir, map[string]string{"seed": "3", "reg": "1", "data": "aa"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 2, Checkpoint: c}).Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, train.CheckpointFile)
	_, err = train.OpenCheckpoint(dir, map[string]string{"seed": "4", "data": "aa", "mu": "2"})
	want := path + ": cannot resume, the run was another: mu was not set, now 2; reg was 1, now not set; seed was 3, now 4. " +
		"Give the same settings and data, or start a new run"
	if !structured.IsBadInput(err) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}

	same := map[string]string{"seed": "3", "reg": "1", "data": "aa"}
	resume := func(m train.Method, weights int) error {
		c, err := train.OpenCheckpoint(dir, same)
		if err != nil {
			return err
		}
		p, _ := traintest.LoopProblem()
		_, err = (&train.Trainer{Problem: p, Method: m, Passes: 3, Checkpoint: c}).Run(t.Context(), train.NewState(make([]float32, weights)))
		return err
	}
	good, err := safetensors.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, err error, want string) {
		t.Helper()
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want %q", what, err, want)
		}
	}
	check("method", resume(&methods.SVRG{}, len(s.W)), "cannot resume with method svrg, the run used sgd")
	check("weights", resume(&methods.SGD{}, 5), "21 weights, expected 5")

	spoil := func(spoil func(f *safetensors.File)) {
		f, err := safetensors.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		spoil(f)
		f.Metadata["sum"] = f.Sum() // so that what is spoilt is found out, not that something is
		if err := safetensors.Write(path, f); err != nil {
			t.Fatal(err)
		}
	}
	spoil(func(f *safetensors.File) { delete(f.Tensors, "method.steps") })
	check("missing", resume(&methods.SGD{}, len(s.W)), `no tensor "method.steps"`)
	spoil(func(f *safetensors.File) { safetensors.Add(f, "method.steps", []int64{1, 2}) })
	check("shape", resume(&methods.SGD{}, len(s.W)), `tensor "method.steps" has shape [2], expected []`)
	spoil(func(f *safetensors.File) { *f = *good; safetensors.Add(f, "method.more", []int64{1}) })
	check("unknown", resume(&methods.SGD{}, len(s.W)), `tensor "method.more" is unknown here`)
	spoil(func(f *safetensors.File) { f.Metadata["last"] = "{" })
	check("books", resume(&methods.SGD{}, len(s.W)), `metadata "last"`)
	spoil(func(f *safetensors.File) { f.Metadata["checkpoint_version"] = "99" })
	check("version", resume(&methods.SGD{}, len(s.W)), `checkpoint version "99", expected 10`)
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	check("cut short", resume(&methods.SGD{}, len(s.W)), "cut short")
}

// A new run replaces an old run's checkpoint.
func TestNewRunRemovesOldCheckpoint(t *testing.T) {
	dir := t.TempDir()
	p, s := traintest.LoopProblem()
	if _, err := (&train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 1, Checkpoint: newCheckpoint(t, dir)}).Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	newCheckpoint(t, dir)
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("left in the folder: %v", names)
	}
}

// A run that is cut off leaves the weights of its best pass on development data, and says which pass that was; without
// development data those of its last one.
func TestCheckpointWeights(t *testing.T) {
	for _, errors := range [][]float64{{.5, .3, .45, .4}, nil} {
		dir, want, best := t.TempDir(), []float32(nil), 4
		p, s := traintest.LoopProblem()
		tr := train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 4, Checkpoint: newCheckpoint(t, dir)}
		if errors != nil {
			best = 2
			of, pass := devError(errors...), 0
			tr.Evaluate = func(ctx context.Context, w []float32) (dev, test *structured.Metrics, err error) {
				if pass++; pass == best {
					want = slices.Clone(w)
				}
				return of(ctx, w)
			}
		}
		r, err := tr.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = r.W
		}
		if w, pass, err := train.CheckpointWeights(dir); err != nil || pass != best || !slices.Equal(w, want) {
			t.Errorf("errors %v: weights of pass %d, expected %d; right: %v; %v", errors, pass, best, slices.Equal(w, want), err)
		}
	}
}

// Early stopping and the best weights survive a stop and a resume.
func TestResumeKeepsTheBooks(t *testing.T) {
	dir := t.TempDir()
	p, s := traintest.LoopProblem()
	tr := train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 3, Patience: 3, Checkpoint: newCheckpoint(t, dir), Evaluate: devError(.5, .4, .45)}
	first, err := tr.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	p, s = traintest.LoopProblem()
	tr = train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 9, Patience: 3, Checkpoint: openCheckpoint(t, dir), Evaluate: devError(.42, .43, .1)}
	r, err := tr.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Last.Pass != 5 || r.Best.Pass != 2 || !slices.Equal(r.BestW, first.BestW) || r.Last.Seconds <= first.Last.Seconds {
		t.Errorf("last %+v\nbest %+v", r.Last, r.Best)
	}
}

// What a run measured before its first pass is in the result of a resumed one, which does not measure again.
func TestResumeKeepsWhatItBeganWith(t *testing.T) {
	for _, stop := range []int{1, 3} { // the pass that is interrupted
		dir, measured := t.TempDir(), 0
		begin := func(_ context.Context, w []float32) (*structured.Metrics, error) {
			measured++
			if slices.ContainsFunc(w, func(x float32) bool { return x != 0 }) {
				t.Error("the weights that were measured are not those of the start")
			}
			return &structured.Metrics{Measures: []structured.Measure{{Name: "f1", Value: 0.75}}}, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		p, s := traintest.LoopProblem()
		m := &script{SGD: methods.SGD{Rate: 0.1}, pass: func(ctx context.Context, s *train.State) error {
			if s.Passes == stop {
				cancel()
			}
			return ctx.Err()
		}}
		r, err := (&train.Trainer{Problem: p, Method: m, Passes: 5, Begin: begin, Checkpoint: newCheckpoint(t, dir)}).Run(ctx, s)
		if !errors.Is(err, train.ErrInterrupted) || r.Begun.Get("f1") != 0.75 {
			t.Fatalf("%v of %v", err, r)
		}
		p, s = traintest.LoopProblem()
		r, err = (&train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 5, Begin: begin, Checkpoint: openCheckpoint(t, dir)}).Run(t.Context(), s)
		if err != nil || r.Last.Pass != 5 || r.Begun.Get("f1") != 0.75 || measured != 1 {
			t.Errorf("interrupted in pass %d: began with %v, measured %d times: %v", stop, r.Begun, measured, err)
		}
	}
}

// twice archives two values under one name.
type twice struct{ methods.SGD }

func (m *twice) Archive(a engine.Archive) {
	m.SGD.Archive(a)
	steps := 0
	a.Count("steps", &steps)
}

func TestArchiveNamesAreUnique(t *testing.T) {
	p, s := traintest.LoopProblem()
	_, err := (&train.Trainer{Problem: p, Method: &twice{}, Passes: 1, Checkpoint: newCheckpoint(t, t.TempDir())}).Run(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), `"method.steps"`) {
		t.Errorf("got %v", err)
	}
}

func TestFingerprint(t *testing.T) {
	base := func() *structured.Dataset {
		d := traintest.Chains(3, 2, 2, 1, 1)
		d.Tables = []*structured.Table{{Name: "edge", Offsets: []int{0, 1, 1, 1}, Features: []float32{5}, Dim: 1}}
		return d
	}
	want := train.Fingerprint(base())
	if d := base(); train.Fingerprint(d) != want {
		t.Error("not the same twice")
	} else if d.Name = "elsewhere"; train.Fingerprint(d) != want {
		t.Error("depends on the name")
	}
	for name, change := range map[string]func(d *structured.Dataset){
		"features": func(d *structured.Dataset) { d.Features[3]++ },
		"labels":   func(d *structured.Dataset) { d.Labels[1] ^= 1 },
		"offsets":  func(d *structured.Dataset) { d.Offsets[1]++ },
		"weights":  func(d *structured.Dataset) { d.Weights = []float64{1, 2, 1} },
		"ids":      func(d *structured.Dataset) { d.Ids = []int32{1} },
		"names":    func(d *structured.Dataset) { d.Alphabet = structured.NewAlphabet("x", "y") },
		"readings": func(d *structured.Dataset) { d.Readings = [][]int32{{1}, {}, {0}} },
		"tables":   func(d *structured.Dataset) { d.Tables[0].Features[0]++ },
		"vocab":    func(d *structured.Dataset) { d.Vocab = []*structured.Alphabet{structured.NewAlphabet("x")} },
	} {
		d := base()
		if change(d); train.Fingerprint(d) == want {
			t.Errorf("%s do not count", name)
		}
	}
	columns := func(names ...[]string) string {
		d := base()
		for _, some := range names {
			d.Vocab = append(d.Vocab, structured.NewAlphabet(some...))
		}
		return train.Fingerprint(d)
	}
	if columns([]string{"x", "y"}, []string{"z"}) == columns([]string{"x"}, []string{"y", "z"}) {
		t.Error("which column a name belongs to does not count")
	}
}

// large is a method with a large archive.
type large struct {
	methods.SGD
	w []float32
}

func (m *large) Archive(a engine.Archive) { a.Floats("w", &m.w) }

// A state that is copied again and again takes the memory of one copy.
func TestSnapshotsReuseMemory(t *testing.T) {
	const bytes = 4 << 20 // of weights, and as many of the method
	m, s := &large{w: make([]float32, bytes/4)}, train.NewState(make([]float32, bytes/4))
	c := newCheckpoint(t, t.TempDir())
	if err := c.Take(m, s); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 4 {
		if err := c.Take(m, s); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > bytes {
		t.Errorf("four more copies of %d bytes took %d", 2*bytes, after.TotalAlloc-before.TotalAlloc)
	}
}

// BenchmarkCheckpoint measures the cost of a pass boundary: the copy, and the occasional write.
func BenchmarkCheckpoint(b *testing.B) {
	m := &large{w: make([]float32, 1<<22)}
	s := train.NewState(make([]float32, 1<<22))
	c, err := train.NewCheckpoint(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("take", func(b *testing.B) {
		b.SetBytes(2 << 24)
		for b.Loop() {
			if err := c.Take(m, s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("save", func(b *testing.B) {
		b.SetBytes(2 << 24)
		for b.Loop() {
			if err := c.Rewrite(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRun compares runs with and without checkpoints. Checkpoints may cost at most 2 % of the time.
func BenchmarkRun(b *testing.B) {
	for _, kept := range []bool{false, true} {
		b.Run(map[bool]string{false: "without", true: "with checkpoints"}[kept], func(b *testing.B) {
			for b.Loop() {
				p, s := traintest.LoopProblem()
				tr := &train.Trainer{Problem: p, Method: &methods.SGD{Rate: 0.1}, Passes: 4000}
				if kept {
					var err error
					if tr.Checkpoint, err = train.NewCheckpoint(b.TempDir(), nil); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := tr.Run(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// With Every set, a checkpoint is written each time that many passes are done, and once more at the end, even if
// writing takes longer than a pass. Saved is called for each of them.
func TestCheckpointEvery(t *testing.T) {
	for every, want := range map[int][]int{0: {5}, 1: {1, 2, 3, 4, 5}, 2: {2, 4, 5}, -2: {2, 4, 5}} { // below 0: of a large state
		p, s := traintest.LoopProblem()
		c, err := train.NewCheckpoint(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Hold()
		var saved []int
		c.Large = every < 0
		every = max(every, -every)
		c.Every, c.Saved = every, func(pass int) { saved = append(saved, pass) }
		trainer := &train.Trainer{Problem: p, Method: &methods.SGD{}, Passes: 5, Checkpoint: c}
		if _, err := trainer.Run(context.Background(), s); err != nil || !slices.Equal(saved, want) {
			t.Errorf("every %d passes: saved %v, want %v; %v", every, saved, want, err)
		}
	}
}

// A method that refuses the problem leaves no checkpoint.
func TestRefusalsSaveNothing(t *testing.T) {
	for _, c := range []struct {
		m    train.Method
		loss engine.Loss
		λ    float64
	}{{&methods.SaddleBCFW{}, engine.Hinge, 0.1}, {&sdca.SDCA{}, engine.CRF, 0}, {&sdca.SDCA{Online: true}, engine.Quadratic, 0.1}} {
		folder := t.TempDir()
		checkpoint, err := train.NewCheckpoint(folder, map[string]string{"seed": "1"})
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		p := traintest.SparseProblem(10, c.loss, traintest.Entropy, c.λ)
		_, err = (&train.Trainer{Problem: p, Method: c.m, Passes: 2, Checkpoint: checkpoint}).Run(t.Context(), train.NewState(make([]float32, p.Scorer.Dim())))
		if !structured.IsBadInput(err) {
			t.Errorf("%s: %v", c.m.Name(), err)
		}
		if after, err := os.ReadDir(folder); err != nil || len(after) != len(before) {
			t.Errorf("%s: the folder holds %v (%v) after %v", c.m.Name(), after, err, before)
		}
	}
}
