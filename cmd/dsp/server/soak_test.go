package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/bits"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured/sys/seeds"
)

// servedTasks are those of the models in the soak, which their own drawn data train.
var servedTasks = []string{"align", "constituency", "graph", "localise", "ocr", "parse", "segment", "transcribe", "warp"}

var (
	taskModels []string
	onTasks    sync.Mutex
)

// everyTask returns models of every task, and of words, trained once.
func everyTask(t *testing.T) []string {
	t.Helper()
	onTasks.Lock()
	defer onTasks.Unlock()
	if taskModels != nil {
		return slices.Clone(taskModels)
	}
	words, err := trainedOnWords()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(servedTasks))
	var trainings sync.WaitGroup
	for k, task := range servedTasks {
		trainings.Go(func() {
			c := config.Default()
			c.Task, c.Passes, c.Out, c.Quiet, c.Baselines, c.Examples = task, 1, filepath.Join(folder, task), true, "off", settings.Sizes{4, 2, 2}
			r, err := training.Train(context.Background(), c, training.TrainOptions{})
			if err != nil {
				t.Errorf("%s: %v", task, err)
				return
			}
			all[k] = task + "=" + r.Model
		})
	}
	if trainings.Wait(); t.Failed() {
		t.FailNow()
	}
	taskModels = append(all, "tag="+words)
	return slices.Clone(taskModels)
}

// released returns the pipeline of the tests, and it and the model of words as they are given away.
func released(t *testing.T) []string {
	t.Helper()
	line, words := trainedPipeline(t), filepath.Join(t.TempDir(), "words.safetensors")
	p, err := pipelines.Load(line, "")
	if err != nil {
		t.Fatal(err)
	}
	given := filepath.Join(t.TempDir(), "line")
	if _, err := p.Release(line, given); err != nil {
		t.Fatal(err)
	}
	path, err := trainedOnWords()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(path)
	if err == nil {
		_, err = m.Release()
	}
	if err == nil {
		err = m.Save(words)
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{"pipeline=" + line, "released-pipeline=" + given, "released-tag=" + words}
}

// flatPNG returns a PNG file of one colour: few bytes, whatever its size.
func flatPNG(width, height int) []byte {
	var file bytes.Buffer
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&file, m); err != nil {
		panic(err)
	}
	return file.Bytes()
}

// crafted draws requests of kinds that are meant to take much memory, or to be read wrongly, and some that are fine.
type crafted struct {
	*rand.Rand
	small, large [][]byte // files of images
}

// up draws a number from 1 to most. Most of them are small, so that requests are many; each order of magnitude is as
// likely as another.
func (c *crafted) up(most int) int {
	return min(most, 1+c.IntN(1<<(1+c.IntN(bits.Len(uint(most-1))))))
}

// picture draws an image file, seldom one of many pixels.
func (c *crafted) picture() []byte {
	if c.IntN(300) == 0 {
		return c.large[c.IntN(len(c.large))]
	}
	return c.small[c.IntN(len(c.small))]
}

// body returns the body of a request for a task, and what its path ends in.
func (c *crafted) body(task string) (path, body string) {
	text := func(of any) string {
		all, err := json.Marshal(of)
		if err != nil {
			panic(err)
		}
		return string(all)
	}
	many := func(n int, of string) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	row := func(dim int, value string) string { return "[" + many(dim, value) + "]" }
	picture := c.picture()
	words, odd := make([]string, c.up(40)), 2+6*c.IntN(2)
	for k := range words {
		words[k] = []string{"the", "fox", "", "\u202e", strings.Repeat("x", 1000), ".", "a b", "\t"}[c.IntN(odd)]
	}
	number := []string{"1", "-0.5", "3e38", "-3.4e38", "1e30", "1e39", `"1"`, "null", "[]"}[c.IntN(1+odd)]
	object := text(map[string]any{"words": words})
	switch task {
	case "align", "warp":
		object = text(map[string]any{"source": words, "target": words[:1+c.IntN(len(words))]})
	case "parse", "constituency":
		object = text(map[string]any{"words": words, "pos": words})
	case "graph":
		object = `{"node_features": [` + many(c.up(9), row(2, number)) + `], "edges": [[0, 1], [1, 2]], "edge_features": [[1, 1, 1], [1, 1, ` + number + `]]}`
	case "ocr":
		object = `{"features": [` + many(c.up(9), row(128, number)) + `]}`
	case "pipeline", "released-pipeline":
		object = text(map[string]any{"text": strings.Join(words, " ")})
	case "localise", "segment", "transcribe":
		object = text(map[string]any{"image": picture})
		if c.IntN(4) == 0 {
			object = text(map[string]any{"image": picture, "mask": c.picture()})
		}
	}
	predict, infer := "/predict/"+task, "/v2/models/"+task+"/infer"
	query := ""
	if c.IntN(3) == 0 {
		query = []string{"?nbest=100", "?marginals&confidence", "?samples=100", "?force", "?entropy", "?decode=risk", "?overlay", "?truncate=false", "?spans"}[c.IntN(9)]
	}
	switch c.IntN(20) {
	case 0:
		return predict, strings.Repeat("[", c.up(2000))
	case 1:
		return predict, strings.Repeat(`{"words":["a"]}`+"\n", c.up(2000))
	case 2:
		return predict, text(map[string]string{"text": strings.Repeat([]string{"a. ", ".", "\n\n", "A b? "}[c.IntN(4)], c.up(4000))})
	case 3:
		return predict, object[:c.IntN(len(object))]
	case 4:
		broken := []byte(object)
		for range 1 + c.IntN(5) {
			broken[c.IntN(len(broken))] = byte(c.IntN(256))
		}
		return predict, string(broken)
	case 5, 6:
		axes := []string{"[2147483648,0]", "[0,9223372036854775807]", "[1000000]", "[-1,2]", "[1,1,1,1,1]", "[3]", "[]"}
		names := []string{"word", "upos", "features", "example", "lengths"}
		return infer, fmt.Sprintf(`{"inputs":[{"name":%q,"datatype":%q,"shape":%s,"data":[%s]}]}`, names[c.IntN(5)], []string{"BYTES", "FP32", "INT64"}[c.IntN(3)],
			axes[c.IntN(len(axes))], many(c.IntN(4), `"a"`))
	case 7:
		n := c.up(20000)
		return infer, fmt.Sprintf(`{"inputs":[{"name":"word","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"lengths","datatype":"INT64","shape":[%d],"data":[%s,1]}]}`,
			n+1, many(n, "0"))
	case 8:
		n := c.up(5000)
		return infer, fmt.Sprintf(`{"inputs":[{"name":"word","datatype":"BYTES","shape":[%d],"data":[%s]},{"name":"lengths","datatype":"INT64","shape":[%[1]d],"data":[%[3]s]}]}`,
			n, many(n, `"a"`), many(n, "1"))
	case 9, 10:
		return infer, text(map[string]any{"inputs": []any{map[string]any{"name": "example", "datatype": "BYTES", "shape": []int{1}, "data": []string{object}}}})
	case 11:
		return infer, `{"parameters":` + strings.Repeat(`{"a":[`, c.up(100)) + "1"
	case 12:
		return predict, `{"words": [` + many(c.up(20000), `"a"`) + `]}`
	}
	return predict + query, object
}

// Thousands of crafted requests for models of every task: each is answered, none with an internal error, and the memory
// stays within its limit. After them nothing is held: no memory, goroutines nor files.
func TestSoak(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Models, o.Memory, o.MaxBody, o.Queue = append(everyTask(t), released(t)...), 192<<20, 1<<20, 64
	})
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	files, goroutines := inUse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	seed := seeds.Draw(t)
	small := [][]byte{flatPNG(9, 7), flatPNG(1, 1), flatPNG(17, 12), flatPNG(9, 7)[:40], []byte("GIF89a"), nil}
	var large [][]byte
	for _, of := range [][2]int{{90, 70}, {1, 65536}, {65536, 1}, {3, 20000}, {1, 70000}, {4000, 4000}, {5000, 5000}} {
		large = append(large, flatPNG(of[0], of[1]))
	}
	tasks := append(slices.Clone(servedTasks), "tag", "pipeline", "released-pipeline", "released-tag")
	clients, each := 4, 1300 // four hundred for each of the thirteen models
	if os.Getenv("DSP_LONG") != "" {
		each = 2600
	}
	var asking sync.WaitGroup
	var mutex sync.Mutex
	codes := map[int]int{}
	most := int64(0)
	direct := s.handler()
	for k := range clients {
		asking.Go(func() {
			c := &crafted{rand.New(rand.NewPCG(seed, uint64(k))), small, large}
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := range each {
				path, body := c.body(tasks[n%len(tasks)])
				if n == 0 { // few others are too large
					body = strings.Repeat(" ", int(s.o.MaxBody)+1)
				}
				code, answer := 0, ""
				if n%8 == 0 { // the others do without a connection
					a, err := client.Post("http://"+l.Addr().String()+path, "application/json", strings.NewReader(body))
					if err != nil {
						t.Errorf("%s: %v", path, err)
						return
					}
					all, err := io.ReadAll(a.Body)
					if err = errors.Join(err, a.Body.Close()); err != nil {
						t.Errorf("%s: %v", path, err)
					}
					code, answer = a.StatusCode, string(all)
				} else {
					w := httptest.NewRecorder()
					direct.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
					code, answer = w.Code, w.Body.String()
				}
				if !slices.Contains([]int{200, 400, 413, 429, 503}, code) {
					t.Errorf("%s %.200s: %d %.200s", path, body, code, answer)
				}
				mutex.Lock()
				codes[code]++
				if n%8 == 0 {
					most = max(most, resident())
				}
				mutex.Unlock()
			}
		})
	}
	asking.Wait()
	until(t, "workers give back what they have", func() bool { return s.requests.inUse()+s.work.inUse() == 0 })
	if most > debug.SetMemoryLimit(-1)+64<<20 && !testing.Short() { // the race detector, under which tests are short, takes memory of its own
		t.Errorf("%d MiB were resident, the limit is %d", most>>20, debug.SetMemoryLimit(-1)>>20)
	}
	t.Logf("answers by code: %v; at most %d MiB resident, limit %d MiB", codes, most>>20, debug.SetMemoryLimit(-1)>>20)
	if codes[200] == 0 || codes[400] == 0 || codes[413] == 0 {
		t.Errorf("answers by code: %v", codes)
	}
	for name, object := range map[string]string{"tag": `{"words":["the","fox"]}`, "pipeline": `{"text":"The fox."}`} {
		code, plain, _ := ask(s, "POST", "/predict/"+name, object)
		if again, answer, _ := ask(s, "POST", "/predict/released-"+name, object); code != 200 || again != 200 || answer != plain {
			t.Errorf("after all that %s answers %d %s, and released %d %s", name, code, plain, again, answer)
		}
	}
	if collected() > s.held+s.o.Memory/8 {
		t.Errorf("an idle server holds %d MiB, and %d MiB after its start", heap()>>20, s.held>>20)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for range 1000 { // connections end a little later
		if open, running := inUse(); open <= files && running <= goroutines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	open, running := inUse()
	t.Errorf("%d files and %d goroutines, before %d and %d", open, running, files, goroutines)
}

// A photograph is labelled within a small budget of memory, over a connection, as often as it is sent.
func TestPhotograph(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Memory, o.MaxBody = everyTask(t), 512<<20, 8<<20 })
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	at := httptest.NewServer(s.handler())
	defer at.Close()
	var asking sync.WaitGroup
	for range 3 {
		asking.Go(func() {
			a, err := http.Post(at.URL+"/predict/segment", "image/png", bytes.NewReader(flatPNG(1500, 1500)))
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Body.Close()
			var answer struct{ Labels []string }
			if err := json.NewDecoder(a.Body).Decode(&answer); err != nil || a.StatusCode != http.StatusOK || len(answer.Labels) != 188*188 { // cells of 8 pixels
				t.Errorf("%s, %d labels, %v", a.Status, len(answer.Labels), err)
			}
		})
	}
	asking.Wait()
	if n := resident(); n > debug.SetMemoryLimit(-1) && !testing.Short() {
		t.Errorf("%d MiB are resident, the limit is %d", n>>20, debug.SetMemoryLimit(-1)>>20)
	}
	until(t, "workers give back what they have", func() bool { return s.requests.inUse()+s.work.inUse() == 0 })
	if collected() > s.held+s.o.Memory/8 {
		t.Errorf("an idle server holds %d MiB, and %d MiB after its start", heap()>>20, s.held>>20)
	}
}

// inUse returns how many files are open, and how many goroutines run.
func inUse() (files, goroutines int) {
	open, _ := os.ReadDir("/proc/self/fd")
	return len(open), runtime.NumGoroutine()
}

// collected is heap after a collection of garbage.
func collected() int64 {
	runtime.GC()
	return heap()
}

// allocated returns the bytes that the process has allocated so far.
func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

// heap returns the bytes that are in use, of what the last collection of garbage left.
func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// resident returns the resident memory of the process; 0 where it is unknown.
func resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
