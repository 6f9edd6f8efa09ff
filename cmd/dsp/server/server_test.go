package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// folder holds the files of all tests.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "serve"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder) // what stays is in the system's folder for temporary files
	os.Exit(code)
}

// trained is the file of a small model of words and tags, trained once; trainedOnWords that of one of words alone.
var (
	trained        = sync.OnceValues(func() (string, error) { return train("run", "word=0,pos=1,label=-1") })
	trainedOnWords = sync.OnceValues(func() (string, error) { return train("words", "word=0,label=-1") })
)

// train trains a small model of some columns, and returns its file.
func train(name, columns string) (string, error) {
	text := filepath.Join(folder, "train.conll")
	if err := os.WriteFile(text, []byte(strings.Repeat("the DT O\nred JJ B-X\nfox NN I-X\n\na DT O\nfox NN B-X\n\n", 5)), 0o666); err != nil {
		return "", err
	}
	c := config.Default()
	c.Task, c.Train, c.Columns, c.Passes, c.Out, c.Quiet = "tag", text, columns, 5, filepath.Join(folder, name), true
	r, err := training.Train(context.Background(), c, training.TrainOptions{})
	if err != nil {
		return "", err
	}
	return r.Model, nil
}

// newServer returns a server of the small model, named m.
func newServer(t testing.TB, change func(o *Options)) *Server {
	t.Helper()
	path, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Models: []string{"m=" + path}, Threads: 2, Queue: 4, MaxBody: 1 << 16, Timeout: time.Minute, Limits: requests.DefaultLimits(), Splitter: tokens.Unicode{}}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// ask sends a request to the handler.
func ask(s *Server, method, path, body string) (int, string, http.Header) {
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, w.Body.String(), w.Header()
}

const fine = `{"columns": {"word": ["the", "fox"], "pos": ["DT", "NN"]}}`

// A full queue is answered with 429 and when to try again, at once; when it has room, requests are answered.
func TestFullQueue(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Queue = 1 })
	p := s.models[0].pool.Load()
	reader := p.reader
	o, err := requests.Parse([]byte(fine), reader)
	if err != nil {
		t.Fatal(err)
	}
	e, err := reader.Example(o)
	if err != nil {
		t.Fatal(err)
	}
	held, begun := make(chan struct{}), make(chan struct{})
	j := &job{ctx: context.Background(), examples: []requests.Example{e}, use: func(int, *structured.Dataset, int, *predictions.Prediction) error {
		close(begun)
		<-held
		return nil
	}}
	if err := p.submit(j); err != nil {
		t.Fatal(err)
	}
	<-begun
	for _, path := range []string{"/predict", "/v2/models/m/infer"} {
		body := fine
		if path != "/predict" {
			body = `{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "pos", "shape": [1], "datatype": "BYTES", "data": ["b"]}]}`
		}
		code, text, header := ask(s, "POST", path, body)
		if code != http.StatusTooManyRequests || header.Get("Retry-After") != "1" || !strings.Contains(text, "the queue is full") {
			t.Errorf("%s: %d %s %v", path, code, text, header)
		}
	}
	close(held)
	<-j.done
	if code, text, _ := ask(s, "POST", "/predict", fine); code != http.StatusOK {
		t.Errorf("%d %s", code, text)
	}
}

// A request whose time is over while it waits is answered with 504 and not predicted.
func TestTimeInQueue(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Timeout = 20 * time.Millisecond })
	path, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := requests.For(m, requests.DefaultLimits(), tokens.Unicode{})
	if err != nil {
		t.Fatal(err)
	}
	idle := &pool{queue: newQueue(1), model: m, reader: reader, memory: s.work} // without workers
	s.models[0].pool.Swap(idle).stop()
	code, text, _ := ask(s, "POST", "/predict", fine)
	if code != http.StatusGatewayTimeout || !strings.Contains(text, "no answer within 20ms") {
		t.Errorf("%d %s", code, text)
	}
	if s.requests.inUse() == 0 {
		t.Error("the memory of a request was given back while its examples are in the queue")
	}
	idle.close()
	if batch, ok := idle.take(1); ok || idle.length() != 0 {
		t.Errorf("took %v from the dropped request, %d are left", batch, idle.length())
	}
	for s.requests.inUse() > 0 { // until somebody else has seen that it is dropped
		time.Sleep(time.Millisecond)
	}
}

// Requests share a bounded memory, which they give back.
func TestMemoryForBodies(t *testing.T) {
	s := newServer(t, nil)
	for _, body := range []string{fine, "{", strings.Repeat(" ", 1<<16+1), "", strings.Repeat(fine+"\n", 100)} {
		ask(s, "POST", "/predict", body)
		if used := s.requests.inUse(); used != 0 {
			t.Fatalf("%.20q keeps %d bytes", body, used)
		}
	}
	s.requests.take(s.requests.total - 100)
	patient := s.o.Timeout
	s.o.Timeout = 50 * time.Millisecond // that requests wait for memory
	for _, path := range []string{"/predict", "/v2/models/m/infer"} {
		code, text, header := ask(s, "POST", path, fine)
		if code != http.StatusServiceUnavailable || header.Get("Retry-After") != "1" || !strings.Contains(text, "other requests fill the memory (--memory)") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	s.o.Timeout = patient
	s.requests.give(s.requests.total - 100)
	if code, _, _ := ask(s, "POST", "/predict", fine); code != http.StatusOK {
		t.Errorf("%d", code)
	}
}

// Requests whose answers would take too much memory are refused before, or while, they are predicted.
func TestLargeAnswers(t *testing.T) {
	s := newServer(t, func(o *Options) { o.MaxBody, o.Timeout = 1<<20, 5*time.Minute })
	p := s.models[0].pool.Load()
	of := func(positions int) requests.Example {
		return requests.Example{Line: 1, Extent: models.Extent{Positions: positions}}
	}
	few := []requests.Example{of(10000)}
	if err := p.fits(few, predictions.Options{NBest: 100}); err != nil || few[0].Work == 0 {
		t.Error(err)
	}
	err := p.fits([]requests.Example{of(1), of(1 << 30)}, predictions.Options{NBest: 100})
	if code, text := status(err, 0); code != http.StatusRequestEntityTooLarge || !strings.Contains(text, "line 1: to predict an example of 1073741824 positions would take about") {
		t.Errorf("%d %s", code, text)
	}
	size := answerSize{held: &holding{of: newBudget(1 << 40)}}
	if err := size.add(mostAnswer); err != nil {
		t.Error(err)
	}
	if code, _ := status(size.add(1), 0); code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", code)
	}
}

// together submits jobs of the same kind to the only worker of a pool while it is held up, so that it predicts them
// together, and waits for them.
func together(t *testing.T, p *pool, jobs ...*job) {
	t.Helper()
	held, begun := make(chan struct{}), make(chan struct{})
	first := &job{ctx: t.Context(), examples: jobs[0].examples[:1], use: func(int, *structured.Dataset, int, *predictions.Prediction) error {
		close(begun)
		<-held
		return nil
	}}
	for k, j := range append([]*job{first}, jobs...) {
		if err := p.submit(j); err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			<-begun
		}
	}
	close(held)
	for _, j := range jobs {
		<-j.done
	}
}

// exampleOf reads an example of a request.
func exampleOf(t *testing.T, p *pool, text string) requests.Example {
	t.Helper()
	o, err := requests.Parse([]byte(text), p.reader)
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.reader.Example(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Requests that are predicted together each get the predictions of their own examples, by their own numbers.
func TestPiecesOfABatch(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Threads = 1 })
	p := s.models[0].pool.Load()
	var got []string
	of := func(name string, words ...string) *job {
		j := &job{ctx: t.Context()}
		for _, word := range words {
			j.examples = append(j.examples, exampleOf(t, p, `{"words": ["`+word+`"], "pos": ["NN"]}`))
		}
		j.use = func(k int, d *structured.Dataset, i int, _ *predictions.Prediction) error {
			got = append(got, fmt.Sprint(name, k, d.Column("word")[d.Offsets[i]])) // the only worker calls it
			return nil
		}
		return j
	}
	together(t, p, of("x", "a", "b", "c"), of("y", "d"), of("z", "e", "f"))
	slices.Sort(got)
	if want := []string{"x0a", "x1b", "x2c", "y0d", "z0e", "z1f"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// counting counts the workers that a network makes.
type counting struct {
	nets.Network
	made *atomic.Int32
}

func (c counting) NewWorker() nets.Worker {
	c.made.Add(1)
	return c.Network.NewWorker()
}

// After an internal error nothing is predicted with the memory that was in use: it may be in any state.
func TestMemoryAfterAnInternalError(t *testing.T) {
	path, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	like := newServer(t, nil).models[0].pool.Load()
	var made atomic.Int32
	m.Net = counting{m.Net, &made}
	p := &pool{queue: newQueue(4), model: m, reader: like.reader, metrics: like.metrics, memory: like.memory, kept: like.kept}
	p.start(1)
	defer p.stop()
	for k, use := range []func(){func() {}, func() {}, func() { panic("a bug") }, func() {}} {
		j := &job{ctx: t.Context(), examples: []requests.Example{exampleOf(t, p, fine)}, use: func(int, *structured.Dataset, int, *predictions.Prediction) error {
			use()
			return nil
		}}
		if err := p.submit(j); err != nil {
			t.Fatal(err)
		}
		<-j.done
		if want := int32(1 + k/3); k != 2 && made.Load() != want { // of the panic itself another goroutine may not have made it yet
			t.Errorf("request %d: %d workers of the network were made, want %d", k+1, made.Load(), want)
		}
	}
}

// The workers of a model that was replaced end once its queue is empty.
func TestReplacedPoolStops(t *testing.T) {
	s := newServer(t, nil)
	e := s.models[0]
	before := e.pool.Load()
	if err := s.load(e); err != nil {
		t.Fatal(err)
	}
	if e.pool.Load() == before {
		t.Fatal("the model was not replaced")
	}
	eventually(t, "the queue of the replaced model stays open", func() bool {
		before.mutex.Lock()
		defer before.mutex.Unlock()
		return before.closed
	})
	before.running.Wait()
}

// An internal error fails the request that caused it, and no other of the same batch.
func TestInternalError(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Threads = 1 })
	p := s.models[0].pool.Load()
	o, err := requests.Parse([]byte(fine), p.reader)
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.reader.Example(o)
	if err != nil {
		t.Fatal(err)
	}
	held, begun := make(chan struct{}), make(chan struct{})
	one := func(use func()) *job {
		return &job{ctx: context.Background(), examples: []requests.Example{e}, use: func(int, *structured.Dataset, int, *predictions.Prediction) error {
			use()
			return nil
		}}
	}
	first := one(func() { close(begun); <-held })
	bad, good := one(func() { panic("a bug") }), one(func() {})
	for k, j := range []*job{first, bad, good} { // the last two wait together
		if err := p.submit(j); err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			<-begun
		}
	}
	close(held)
	<-bad.done
	<-good.done
	if code, text := status(bad.failure(), time.Second); code != http.StatusInternalServerError || text != "internal error" || good.failure() != nil {
		t.Errorf("%d %s, the other %v", code, text, good.failure())
	}
	if code, _, _ := ask(s, "POST", "/predict", fine); code != http.StatusOK {
		t.Errorf("afterwards: %d", code)
	}
}

// Examples are predicted alike alone and together, in any company.
func TestBatchesChangeNothing(t *testing.T) {
	s := newServer(t, nil)
	lines := []string{fine, `{"columns": {"word": ["a", "red", "fox"], "pos": ["DT", "JJ", "NN"]}}`, `{"id": "x", "words": ["fox"], "pos": ["NN"]}`}
	code, together, _ := ask(s, "POST", "/predict?marginals&nbest=3", strings.Join(lines, "\n"))
	var alone string
	for k, line := range lines {
		_, text, _ := ask(s, "POST", "/predict/m?marginals&nbest=3", line)
		alone += strings.Replace(text, `"id":"0"`, `"id":"`+string(rune('0'+k))+`"`, 1)
	}
	if code != http.StatusOK || together != alone {
		t.Errorf("together\n%salone\n%s", together, alone)
	}
}

// A request that finds its model replaced before it is in the queue is read again for the new one.
func TestReplacedMeanwhile(t *testing.T) {
	s := newServer(t, nil)
	e, reads, used := s.models[0], 0, 0
	err := e.run(context.Background(), &holding{of: s.requests}, func(p *pool) (*job, error) {
		if reads++; reads == 1 {
			if err := s.load(e); err != nil {
				return nil, err
			}
			p.stop()
		}
		o, err := requests.Parse([]byte(fine), p.reader)
		if err != nil {
			return nil, err
		}
		x, err := p.reader.Example(o)
		return &job{examples: []requests.Example{x}, use: func(int, *structured.Dataset, int, *predictions.Prediction) error {
			used++
			return nil
		}}, err
	})
	if err != nil || reads != 2 || used != 1 {
		t.Errorf("%v after reading %d times and %d predictions", err, reads, used)
	}
	s.Close()
	if code, text, _ := ask(s, "POST", "/predict", fine); code != http.StatusServiceUnavailable || !strings.Contains(text, "stopping") {
		t.Errorf("a server that has stopped: %d %s", code, text)
	}
}

// A changed file is loaded; one that is no model is refused once.
func TestWatch(t *testing.T) {
	path, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.safetensors")
	put := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(file+"~", text, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+"~", file); err != nil {
			t.Fatal(err)
		}
	}
	put(content)
	s := newServer(t, func(o *Options) { o.Models, o.Watch = []string{file}, time.Millisecond })
	e := s.models[0]
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { s.watch(ctx) })
	defer watching.Wait()
	defer stop()
	first, looked := e.pool.Load(), e.lastLoaded()
	put(content[:100])
	eventually(t, "the broken file was not looked at", func() bool { return e.lastLoaded() != looked })
	if e.pool.Load() != first {
		t.Error("a broken file took the place of the model")
	}
	put(content)
	eventually(t, "the changed file was not loaded", func() bool { return e.pool.Load() != first })
}

// eventually waits for what must happen. How long that takes decides only how soon a failure is reported.
func eventually(t *testing.T, otherwise string, happens func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !happens(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
	}
}

// Concurrent requests and loads, for the race detector.
func TestConcurrentLoads(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Queue = 100 })
	h := httptest.NewServer(s.handler())
	defer h.Close()
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range 20 {
				r, err := http.Post(h.URL+"/predict", "application/json", strings.NewReader(fine))
				if err != nil {
					t.Error(err)
					return
				}
				if text, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusOK {
					t.Errorf("%s %s", r.Status, text)
				}
				r.Body.Close()
			}
		})
	}
	for range 5 {
		s.ReloadAll()
	}
	clients.Wait()
}

// The names that models get.
func TestEntries(t *testing.T) {
	for text, want := range map[string]string{
		"runs/ner": "ner", "runs/ner/": "ner", "a=b=c": "a", "x/m.safetensors": "m", "runs/ner/model.safetensors": "ner", "a/b=c": "", "a=": "", "ß": "",
	} {
		all, err := entries([]string{text})
		if want == "" && !structured.IsBadInput(err) || want != "" && (err != nil || all[0].name != want) {
			t.Errorf("%s: %+v, %v, expected %s", text, all, err, want)
		}
	}
}

// Whatever a request holds, it is answered with 200, or with 400 and a reason.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{fine, fine + "\n" + fine, "{\n}", `{"inputs": [{"name": "word", "shape": [2], "datatype": "BYTES", "data": ["a", "b"]}, {"name": "pos", "shape": [2, 1],
		"datatype": "BYTES", "data": [["a"], ["b"]]}, {"name": "lengths", "shape": [2], "datatype": "INT64", "data": [1, 1]}], "outputs": [{"name": "marginals"}]}`} {
		f.Add(body)
	}
	s := newServer(f, nil)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/predict?nbest=2&confidence", "/v2/models/m/infer"} {
			code, text, _ := ask(s, "POST", path, body)
			if code != http.StatusOK && code != http.StatusBadRequest && code != http.StatusRequestEntityTooLarge {
				t.Fatalf("%s: %d %s", path, code, text)
			}
			for line := range strings.Lines(text) {
				if !json.Valid([]byte(line)) {
					t.Fatalf("%s answers %s", path, line)
				}
			}
		}
	})
}

// A request of 25 tokens, without the network.
func BenchmarkPredict(b *testing.B) {
	s := newServer(b, func(o *Options) { o.Queue = 1000 })
	words, tags := strings.Repeat(`"the", "red", "fox", "a", "fox", `, 5), strings.Repeat(`"DT", "JJ", "NN", "DT", "NN", `, 5)
	body := `{"columns": {"word": [` + strings.TrimSuffix(words, ", ") + `], "pos": [` + strings.TrimSuffix(tags, ", ") + `]}}`
	h := s.handler()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/predict", strings.NewReader(body)))
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
