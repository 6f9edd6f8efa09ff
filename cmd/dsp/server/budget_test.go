package server

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cmd/dsp/server/examples"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// Memory is given in the order in which it was asked for, never more than there is, and those that do not wait do not overtake those that do.
func TestBudgetOrder(t *testing.T) {
	b := newBudget(100)
	if !b.try(60) || b.try(41) {
		t.Fatal("60 of 100, then 41")
	}
	got := make(chan int64, 2)
	for _, bytes := range []int64{1000, 30} { // all of it, then some
		go func() { got <- b.take(bytes) }()
		for tries := 0; waiting(b) == 0 || bytes == 30 && waiting(b) < 2; tries++ {
			if tries == 1<<24 {
				t.Fatalf("%d wait", waiting(b))
			}
			runtime.Gosched()
		}
	}
	if b.try(1) {
		t.Error("somebody overtook those that wait")
	}
	b.give(60)
	if bytes := <-got; bytes != 100 || b.inUse() != 100 {
		t.Errorf("%d were given, %d are in use", bytes, b.inUse())
	}
	b.give(100)
	if bytes := <-got; bytes != 30 || b.inUse() != 30 {
		t.Errorf("%d were given, %d are in use", bytes, b.inUse())
	}
}

func waiting(b *budget) int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.waiting)
}

// What never fits is refused with 413 and the reason, what does not fit now with 503; bodies need not be large for that.
func TestMemoryOfRequests(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Memory, o.MaxBody = leastMemory, 1<<20 })
	many := strings.Repeat(`{"words":["a"],"pos":["b"]}`+"\n", 38_000)
	code, text, _ := ask(s, "POST", "/predict", many+many)
	if code != http.StatusRequestEntityTooLarge || !strings.Contains(text, "max-body") {
		t.Errorf("%d %.200s", code, text)
	}
	code, text, _ = ask(s, "POST", "/predict", many[:1<<20-10])
	if code != http.StatusRequestEntityTooLarge || !strings.Contains(text, "what the body holds would take about") {
		t.Errorf("%d %.200s", code, text)
	}
	if s.requests.inUse() != 0 {
		t.Errorf("%d bytes are held", s.requests.inUse())
	}
	for want, change := range map[string]func(o *Options){
		"--memory: 1 MiB":        func(o *Options) { o.Memory = 1 << 20 },
		"--max-body of 1024 MiB": func(o *Options) { o.Memory, o.MaxBody = leastMemory, 1<<30 },
	} {
		o := s.o
		change(&o)
		if _, err := New(o); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Requests of more examples than are allowed are refused, as lines, as sentences of a text, and as sequences.
func TestTooManyExamples(t *testing.T) {
	path, err := trainedOnWords()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(o *Options) { o.Models, o.MaxBody = []string{"m=" + path}, 8<<20 })
	n := examples.MostExamples + 1
	list := func(of string) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	for body, path := range map[string]string{
		strings.Repeat(`{"words":["a"]}`+"\n", n):       "/predict",
		`{"text": "` + strings.Repeat("Ab. ", n) + `"}`: "/predict",
		fmt.Sprintf(`{"inputs":[{"name":"word","datatype":"BYTES","shape":[%d],"data":[%s]},{"name":"lengths","datatype":"INT64","shape":[%d],"data":[%s]}]}`, n, list(`"a"`), n, list("1")): "/v2/models/m/infer",
		fmt.Sprintf(`{"inputs":[{"name":"word","datatype":"BYTES","shape":[%d,1],"data":[%s]}]}`, n, list(`["a"]`)):                                                                          "/v2/models/m/infer",
	} {
		if code, text, _ := ask(s, "POST", path, body); code != http.StatusRequestEntityTooLarge || !strings.Contains(text, "more than 65536 examples") {
			t.Errorf("%.60s: %d %.200s", body, code, text)
		}
	}
}

// A worker drops the scratch memory of a batch that was far above the usual, and keeps that of usual ones.
func TestScratchIsDropped(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Threads, o.MaxBody = 1, 1<<20 })
	p := s.models[0].pool.Load()
	used, before := p.usual(), collected()
	ask(s, "POST", "/predict", fine)
	words := strings.TrimSuffix(strings.Repeat(`"the",`, 10000), ",")
	code, text, _ := ask(s, "POST", "/predict?nbest=50&marginals", `{"words": [`+words+`], "pos": [`+words+`]}`)
	if code != http.StatusOK {
		t.Fatalf("%d %.200s", code, text)
	}
	text = ""
	for s.work.inUse() > 0 { // until the worker has dropped it
		runtime.Gosched()
	}
	if after := collected(); after > before+used+4<<20 {
		t.Errorf("%d MiB are in use after a large request, %d before; a usual batch takes %d", after>>20, before>>20, used>>20)
	}
}

// Faults of requests for the models of some tasks.
func TestRequestsOfTasks(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.MaxBody = everyTask(t), 1<<20 })
	for _, e := range s.models {
		seen := map[string]bool{}
		for _, out := range e.pool.Load().outputs() {
			if seen[out.Name] {
				t.Errorf("%s lists the output %s twice", e.name, out.Name)
			}
			seen[out.Name] = true
		}
	}
	picture := base64.StdEncoding.EncodeToString(flatPNG(64, 48))
	image := `{"inputs":[{"name":"example","datatype":"BYTES","shape":[1],"data":["{\"image\":\"` + picture + `\"}"]}]}`
	if code, text, _ := ask(s, "POST", "/v2/models/segment/infer", image); code != http.StatusOK || strings.Contains(text, "truncate") {
		t.Errorf("segment: %d %.300s", code, text)
	}
	rows := strings.Repeat("0,", 127)
	for task, body := range map[string]string{
		"graph": `{"node_features": [[1, 3e38], [1, 1]], "edges": [[0, 1]], "edge_features": [[1, 1, 1]]}`, "ocr": `{"features": [[` + rows + `-3e38]]}`,
	} {
		code, text, _ := ask(s, "POST", "/predict/"+task, body)
		if code != http.StatusBadRequest || !strings.Contains(text, "3e+38") || !strings.Contains(text, "position 0") {
			t.Errorf("%s: %d %s", task, code, text)
		}
	}
	code, text, _ := ask(s, "POST", "/predict/segment?force", `{"image": "`+picture+`", "mask": "`+base64.StdEncoding.EncodeToString(flatPNG(3000, 3000))+`"}`)
	if code != http.StatusBadRequest || !strings.Contains(text, "mask: 3000 × 3000 pixels, expected 64 × 48") {
		t.Errorf("a large mask: %d %s", code, text)
	}
	for of, want := range map[[2]int]string{{1, 70000}: "65536 along a side", {5000, 5000}: "at most 16777216 in all"} {
		body := `{"image": "` + base64.StdEncoding.EncodeToString(flatPNG(of[0], of[1])) + `"}`
		for _, task := range []string{"segment", "localise", "transcribe"} {
			if code, text, _ := ask(s, "POST", "/predict/"+task, body); code != http.StatusBadRequest || !strings.Contains(text, want) {
				t.Errorf("%v to %s: %d %s", of, task, code, text)
			}
		}
	}
}

// A failed load tells the client nothing of the server's files.
func TestFailedLoad(t *testing.T) {
	file := t.TempDir() + "/m.safetensors"
	path, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o666); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(o *Options) { o.Models = []string{"m=" + file} })
	for _, damage := range []func() error{
		func() error { return os.WriteFile(file, content[:100], 0o666) }, func() error { return os.Remove(file) }, func() error { return os.Mkdir(file, 0o777) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		code, text, _ := ask(s, "POST", "/v2/repository/models/m/load", "")
		if code != http.StatusBadRequest || strings.Contains(text, "/") || strings.Contains(text, "safetensors") || !strings.Contains(text, "the one before stays") {
			t.Errorf("%d %s", code, text)
		}
	}
}

// The estimate covers what a prediction allocates, garbage included, but for what is fixed.
func TestFootprints(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Threads = 1 })
	p := s.models[0].pool.Load()
	for _, n := range []int{100, 3000} {
		words := strings.TrimSuffix(strings.Repeat(`"the",`, n), ",")
		o, err := examples.Parse([]byte(`{"words": [`+words+`], "pos": [`+words+`]}`), p.reader)
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.reader.Example(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, options := range []predictions.Options{{Probability: true}, {NBest: 20, Marginals: true}} {
			estimate := int64(p.bytes(&e, options))
			before := allocated()
			d, err := p.reader.Dataset([]examples.Example{e})
			if err == nil {
				err = p.model.NewAnswerer().Predict(d, options, func(int, *predictions.Prediction) error { return nil })
			}
			if err != nil {
				t.Fatal(err)
			}
			if taken := allocated() - before; taken > estimate+1<<20 {
				t.Errorf("%d positions, %+v: %d KiB, estimated %d", n, options, taken>>10, estimate>>10)
			}
		}
	}
	if more := p.model.Footprint(models.Extent{Positions: 2000}, predictions.Options{}); more <= p.model.Footprint(models.Extent{Positions: 1000}, predictions.Options{}) {
		t.Errorf("%v", more)
	}
}
