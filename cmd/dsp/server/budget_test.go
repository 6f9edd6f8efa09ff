package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// Memory is given in the order in which it was asked for, never more than there is, and those that come later do not
// overtake.
func TestBudgetOrder(t *testing.T) {
	b := newBudget(100)
	if !b.try(60) || b.try(41) {
		t.Fatal("60 of 100, then 41")
	}
	got := make(chan int64, 2)
	for k, bytes := range []int64{1000, 30} { // all of it, then some
		go func() { got <- b.take(bytes) }()
		await(t, b, k+1)
	}
	b.give(60)
	if bytes := received(t, got); bytes != 100 || b.inUse() != 100 {
		t.Errorf("%d were given, %d are in use", bytes, b.inUse())
	}
	b.give(100)
	if bytes := received(t, got); bytes != 30 || b.inUse() != 30 {
		t.Errorf("%d were given, %d are in use", bytes, b.inUse())
	}
}

// patience is how long a test waits for what is to come at once: who waits as long has found a fault.
const patience = 20 * time.Second

// until returns once done does. A test that waits in vain fails.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for begun := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// received returns what comes through a channel.
func received[T any](t *testing.T, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return got
}

// await returns once so many wait for memory.
func await(t *testing.T, b *budget, many int) {
	t.Helper()
	until(t, fmt.Sprint(many, " wait for memory"), func() bool { return waiting(b) >= many })
}

// Who holds memory and needs more gets it before those that hold none. Where all that hold some wait, the last is
// refused; who stops waiting leaves nothing behind.
func TestBudgetOfHolders(t *testing.T) {
	b := newBudget(100)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first, second, third := &holding{of: b}, &holding{of: b}, &holding{of: b}
	if first.await(ctx, 40, "it") != nil || second.await(ctx, 30, "it") != nil { // of 75 for bodies
		t.Fatal("they do not get what is free")
	}
	got := make(chan string, 3)
	ask := func(h *holding, bytes int64, name string, ctx context.Context) {
		go func() { got <- fmt.Sprint(name, " ", h.await(ctx, bytes, "it")) }()
	}
	none, leave := context.WithCancel(ctx)
	ask(third, 30, "third", none)
	await(t, b, 1)
	ask(first, 20, "first", ctx)
	await(t, b, 2)
	soon, end := context.WithTimeout(ctx, 10*time.Second)
	defer end()
	if err := b.await(soon, &claim{bytes: 10, most: 75, holds: 30}); !errors.Is(err, errStuck) {
		t.Errorf("all wait for the others: %v", err)
	}
	if err := second.await(ctx, 46, "it"); err == nil || !strings.Contains(err.Error(), "would take about") {
		t.Errorf("76 of 75: %v", err)
	}
	second.release()
	if name := received(t, got); name != "first <nil>" {
		t.Errorf("%s, expected the one that holds some first", name)
	}
	if err := first.add(40, "the answer"); err != nil { // answers have the last quarter, too
		t.Error(err)
	}
	leave()
	if name := received(t, got); name != "third context canceled" {
		t.Errorf("%s, expected the one that was cancelled", name)
	}
	first.release()
	if b.used != 0 || b.stuck != 0 || len(b.waiting) != 0 {
		t.Errorf("%d bytes are in use, %d of those that wait, %d wait", b.used, b.stuck, len(b.waiting))
	}
}

// A request whose body finds no memory waits for it, until its time is over.
func TestRequestsWaitForMemory(t *testing.T) {
	s := newServer(t, nil)
	s.requests.try(s.requests.total)
	type answer struct {
		code int
		text string
	}
	got := make(chan answer)
	go func() {
		code, text, _ := ask(s, "POST", "/predict", fine)
		got <- answer{code, text}
	}()
	await(t, s.requests, 1)
	s.requests.give(s.requests.total)
	if a := received(t, got); a.code != http.StatusOK {
		t.Errorf("%d %s", a.code, a.text)
	}
	s = newServer(t, func(o *Options) { o.Timeout = 20 * time.Millisecond })
	s.requests.try(s.requests.total)
	for _, path := range []string{"/predict", "/v2/models/m/infer"} {
		code, text, header := ask(s, "POST", path, fine)
		if code != http.StatusServiceUnavailable || !strings.Contains(text, "other requests fill the memory") || header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s %v", path, code, text, header)
		}
	}
	s.requests.give(s.requests.total)
	if s.requests.inUse() != 0 || waiting(s.requests) != 0 {
		t.Errorf("%d bytes are held, %d wait", s.requests.inUse(), waiting(s.requests))
	}
}

func waiting(b *budget) int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.waiting)
}

// What never fits is refused with 413 and the reason, what does not fit now with 503; bodies need not be large for
// that.
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
	n := requests.MostExamples + 1
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
	until(t, "the worker drops it", func() bool { return s.work.inUse() == 0 })
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
	large := `{"node_features": [[-1, 1], [1e20, 1], [1, 1]], "edges": [[0, 1], [1, 2], [0, 2]], "edge_features": [[1, 1, 1], [1, 1e20, 1], [1, 1, -1e20]]}`
	for temperature, want := range map[string]int{"1e-300": http.StatusBadRequest, "1e-6": http.StatusOK, "1e6": http.StatusOK, "1e7": http.StatusBadRequest} {
		if code, text, _ := ask(s, "POST", "/predict/graph?samples=3&temperature="+temperature, large); code != want {
			t.Errorf("samples at temperature %s: %d %s", temperature, code, text)
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
		o, err := requests.Parse([]byte(`{"words": [`+words+`], "pos": [`+words+`]}`), p.reader)
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
			d, err := p.reader.Dataset([]requests.Example{e})
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

// What decoding an image allocates is estimated by its kind of file, within a factor of 2.
func TestDecodedImages(t *testing.T) {
	const side = 500
	for name, m := range map[string]image.Image{
		"grey": image.NewGray(image.Rect(0, 0, side, side)), "16 bits": image.NewNRGBA64(image.Rect(0, 0, side, side)), "8 bits": noise(side, side),
		"palette": image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.Black, color.White}), "jpeg": noise(side, side),
	} {
		var file bytes.Buffer
		var err error
		if name == "jpeg" {
			err = jpeg.Encode(&file, m, nil)
		} else {
			err = png.Encode(&file, m)
		}
		if err != nil {
			t.Fatal(err)
		}
		estimate := int64(requests.PerDecoded(file.Bytes()) * side * side)
		before := allocated()
		if _, err := images.Decode(bytes.NewReader(file.Bytes()), name); err != nil {
			t.Fatal(err)
		}
		if taken := allocated() - before; taken > estimate+128<<10 || estimate > 2*taken {
			t.Errorf("%s: %d KiB, estimated %d", name, taken>>10, estimate>>10)
		}
	}
}

// noise returns an image of random colours.
func noise(width, height int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	r := rand.New(rand.NewPCG(1, 2))
	for k := range m.Pix {
		m.Pix[k] = uint8(r.Uint32()) | 0xff*uint8(k%4/3) // opaque
	}
	return m
}

// An image of a camera is answered in little memory: the estimate is above what lives at once, and below all that is
// allocated.
func TestImagesInLittleMemory(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Memory, o.Threads = everyTask(t), 512<<20, 1 })
	for _, e := range s.models {
		if slices.Contains([]string{"segment", "localise", "transcribe"}, e.name) {
			inLittleMemory(t, s, e, 1500, 1500)
		}
	}
}

// Superpixels take more memory than cells do, and are charged for it.
func TestSuperpixelsInLittleMemory(t *testing.T) {
	c := config.Default()
	c.Task, c.Superpixels, c.Passes, c.Out, c.Quiet, c.Baselines, c.Examples = "segment", 100, 1, filepath.Join(t.TempDir(), "run"), true, "off", settings.Sizes{3, 1, 1}
	r, err := training.Train(context.Background(), c, training.TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(o *Options) { o.Models, o.Memory, o.Threads = []string{"m=" + r.Model}, 512<<20, 1 })
	inLittleMemory(t, s, s.models[0], 500, 300)
	inLittleMemory(t, s, s.models[0], 3000, 40)
}

// inLittleMemory checks the estimate of an image of noise for a model. A quarter more may be garbage that is not
// collected yet.
func inLittleMemory(t *testing.T, s *Server, e *entry, width, height int) {
	t.Helper()
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, noise(width, height)); err != nil {
		t.Fatal(err)
	}
	p := e.pool.Load()
	x, err := p.reader.Example(&requests.Object{Image: file.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	estimate := int64(p.bytes(&x, predictions.Options{Probability: true}))
	if estimate > s.work.total {
		t.Errorf("%s: an image of %d × %d pixels is estimated to take %d MiB", e.name, width, height, estimate>>20)
	}
	before := allocated()
	most := peak(func() {
		d, err := p.reader.Dataset([]requests.Example{x})
		if err == nil {
			err = p.model.NewAnswerer().Predict(d, predictions.Options{Probability: true}, func(int, *predictions.Prediction) error { return nil })
		}
		if err != nil {
			t.Error(err)
		}
	})
	if taken := allocated() - before; most > estimate+estimate/4 || estimate > 2*taken {
		t.Errorf("%s, %d × %d: %d KiB live at once, of %d that are allocated, estimated %d", e.name, width, height, most>>10, taken>>10, estimate>>10)
	}
}

// peak returns the most bytes that are in use at once while do runs, beside those before. It may miss some.
func peak(do func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	before, most, done, ended := collected(), int64(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				most = max(most, heap())
			}
		}
	}()
	do()
	close(done)
	<-ended
	return most - before
}
