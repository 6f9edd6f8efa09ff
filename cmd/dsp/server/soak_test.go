package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
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

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured/machine/seeds"
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
	pictures [][]byte
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
	picture := c.pictures[c.IntN(len(c.pictures))]
	words, odd := make([]string, 1+c.IntN(40)), 2+6*c.IntN(2)
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
		object = `{"node_features": [` + many(1+c.IntN(9), row(2, number)) + `], "edges": [[0, 1], [1, 2]], "edge_features": [[1, 1, 1], [1, 1, ` + number + `]]}`
	case "ocr":
		object = `{"features": [` + many(1+c.IntN(9), row(128, number)) + `]}`
	case "localise", "segment", "transcribe":
		object = text(map[string]any{"image": picture})
		if c.IntN(4) == 0 {
			object = text(map[string]any{"image": picture, "mask": c.pictures[c.IntN(len(c.pictures))]})
		}
	}
	predict, infer := "/predict/"+task, "/v2/models/"+task+"/infer"
	query := []string{"", "?nbest=100", "?marginals&confidence", "?samples=100", "?force", "?entropy", "?decode=risk", "?overlay", "?truncate=false", "?spans"}[c.IntN(10)]
	switch c.IntN(20) {
	case 0:
		return predict, strings.Repeat("[", 1+c.IntN(2000))
	case 1:
		return predict, strings.Repeat(`{"words":["a"]}`+"\n", 1+c.IntN(2000))
	case 2:
		return predict, text(map[string]string{"text": strings.Repeat([]string{"a. ", ".", "\n\n", "A b? "}[c.IntN(4)], 1+c.IntN(4000))})
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
		return infer, `{"inputs":[{"name":"word","datatype":"BYTES","shape":[1],"data":["a"]},{"name":"lengths","datatype":"INT64","shape":[20001],"data":[` + many(20000, "0") + `,1]}]}`
	case 8:
		return infer, `{"inputs":[{"name":"word","datatype":"BYTES","shape":[5000],"data":[` + many(5000, `"a"`) + `]},{"name":"lengths","datatype":"INT64","shape":[5000],"data":[` + many(5000, "1") + `]}]}`
	case 9, 10:
		return infer, text(map[string]any{"inputs": []any{map[string]any{"name": "example", "datatype": "BYTES", "shape": []int{1}, "data": []string{object}}}})
	case 11:
		return infer, `{"parameters":` + strings.Repeat(`{"a":[`, 1+c.IntN(100)) + "1"
	case 12:
		return predict, `{"words": [` + many(1+c.IntN(20000), `"a"`) + `]}`
	}
	return predict + query, object
}

// Thousands of crafted requests for models of every task: each is answered, none with an internal error, and the memory stays within its limit. After
// them nothing is held: no memory, goroutines nor files.
func TestSoak(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Models, o.Memory, o.MaxBody, o.Queue = everyTask(t), 192<<20, 1<<20, 64
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
	var pictures [][]byte
	for _, of := range [][2]int{{9, 7}, {1, 1}, {40, 30}, {1, 65536}, {65536, 1}, {3, 20000}, {1, 70000}, {4000, 4000}, {5000, 5000}} {
		pictures = append(pictures, flatPNG(of[0], of[1]))
	}
	pictures = append(pictures, pictures[0][:40], []byte("GIF89a"), nil)
	tasks := append(slices.Clone(servedTasks), "tag")
	const clients, each = 4, 200
	var asking sync.WaitGroup
	var mutex sync.Mutex
	codes := map[int]int{}
	most := int64(0)
	for k := range clients {
		asking.Go(func() {
			c := &crafted{rand.New(rand.NewPCG(seed, uint64(k))), pictures}
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := range each {
				path, body := c.body(tasks[c.IntN(len(tasks))])
				if n == 0 { // few others are too large
					body = strings.Repeat(" ", int(s.o.MaxBody)+1)
				}
				a, err := client.Post("http://"+l.Addr().String()+path, "application/json", strings.NewReader(body))
				if err != nil {
					t.Errorf("%s: %v", path, err)
					return
				}
				answer, err := io.ReadAll(a.Body)
				a.Body.Close()
				if known := a.StatusCode == 200 || a.StatusCode == 400 || a.StatusCode == 413 || a.StatusCode == 429 || a.StatusCode == 503; !known || err != nil {
					t.Errorf("%s %.200s: %s %.200s %v", path, body, a.Status, answer, err)
				}
				mutex.Lock()
				codes[a.StatusCode]++
				most = max(most, resident())
				mutex.Unlock()
			}
		})
	}
	asking.Wait()
	for s.requests.inUse()+s.work.inUse() > 0 { // what workers still give back
		time.Sleep(time.Millisecond)
	}
	if most > debug.SetMemoryLimit(-1)+64<<20 && !testing.Short() { // the race detector, under which tests are short, takes memory of its own
		t.Errorf("%d MiB were resident, the limit is %d", most>>20, debug.SetMemoryLimit(-1)>>20)
	}
	t.Logf("answers by code: %v; at most %d MiB resident, limit %d MiB", codes, most>>20, debug.SetMemoryLimit(-1)>>20)
	if codes[200] == 0 || codes[400] == 0 || codes[413] == 0 {
		t.Errorf("answers by code: %v", codes)
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
