package endtoend

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// served is a running server.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string // ends in /
	stderr *bytes.Buffer
	once   sync.Once
}

// serve starts a server on a free port and stops it when the test ends.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("signals stop the server")
	}
	s := &served{t: t, cmd: exec.Command(binary, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...)...), stderr: &bytes.Buffer{}}
	s.cmd.Stderr = s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var at struct{ URL string }
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		_ = s.cmd.Wait()
		t.Fatalf("no address: %v\n%s", err, s.stderr)
	}
	s.url = at.URL
	t.Cleanup(s.stop)
	return s
}

// stop sends SIGTERM and waits.
func (s *served) stop() {
	s.once.Do(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		s.wait()
	})
}

// wait waits for the end of a server that was told to stop: it must exit with code 0 and without a stack trace.
func (s *served) wait() {
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("serve: %v\n%s", err, s.stderr)
	}
	if strings.Contains(s.stderr.String(), "goroutine ") || strings.Contains(s.stderr.String(), "internal error") {
		s.t.Errorf("serve: %s", s.stderr)
	}
}

// post sends a body and returns the code and the text of the answer.
func (s *served) post(path, body string) (int, string) {
	s.t.Helper()
	return s.send(http.MethodPost, path, "application/json", body)
}

func (s *served) get(path string) (int, string) {
	s.t.Helper()
	return s.send(http.MethodGet, path, "", "")
}

func (s *served) send(method, path, kind, body string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode, string(text)
}

// refuses fails the test unless a body is answered with a code and a reason.
func (s *served) refuses(code int, path, body string, fragments ...string) {
	s.t.Helper()
	got, text := s.post(path, body)
	var reason struct{ Error string }
	if err := json.Unmarshal([]byte(text), &reason); err != nil || got != code {
		s.t.Errorf("POST %s %.60s: %d %s, expected %d", path, body, got, text, code)
	}
	for _, f := range fragments {
		if !strings.Contains(reason.Error, f) {
			s.t.Errorf("POST %s %.60s: %s, expected %q", path, body, text, f)
		}
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks splits a file into blocks of lines of fields.
func blocks(t *testing.T, path string) [][][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all [][][]string
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var lines [][]string
		for line := range strings.Lines(block) {
			lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
		all = append(all, lines)
	}
	return all
}

// same fails the test unless the answers are what predict prints for the same examples.
func (s *served) same(model, path, query string, objects []string, flags ...string) {
	s.t.Helper()
	want := dsp(s.t, append([]string{"predict", "--json", "--model", model, "--input", path}, flags...)...).ok().stdout
	code, got := s.post("predict/"+filepath.Base(model)+query, strings.Join(objects, "\n"))
	if code != http.StatusOK || got != want {
		s.t.Errorf("%s%s: %d\n%.300s\npredict prints\n%.300s", model, query, code, got, want)
	}
	if len(objects) > 1 { // alone, without a name in the data, an example has number 0
		_, alone := s.post("predict/"+filepath.Base(model)+query, objects[1])
		if second := strings.Replace(strings.SplitAfter(want, "\n")[1], `{"id":"1"`, `{"id":"0"`, 1); alone != second {
			s.t.Errorf("%s%s, one example: %.300s\npredict prints\n%.300s", model, query, alone, second)
		}
	}
}

// The answer to a line is what predict prints for that example, for every task.
func TestServeAnswersLikePredict(t *testing.T) {
	parse, pairs, ocr, graph := filepath.Join(drawnTrees(t), "test.conllu"), filepath.Join(drawnPairs(t), "test.pairs"), reader(t), filepath.Join(t.TempDir(), "graph")
	graphs := drawnGraphs(t, "graphs.npz", 10, 3, 1)
	dsp(t, "train", "--task", "graph", "--train", graphs, "--quiet", "--passes", "3", "--out", graph).ok()
	s := serve(t, "--model", tagger(t), "--model", parser(t), "--model", aligner(t), "--model", ocr, "--model", locator(t), "--model", finder(t), "--model", graph)

	text := write(t, "text.conll", sentences)
	var objects []string
	for _, block := range blocks(t, text) {
		var words []string
		for _, fields := range block {
			words = append(words, fields[0])
		}
		objects = append(objects, asJSON(t, map[string]any{"words": words}))
	}
	s.same(tagger(t), text, "", objects)
	s.same(tagger(t), text, "?nbest=2&marginals&confidence=true", objects, "--nbest", "2", "--marginals", "--confidence")
	s.same(tagger(t), text, "?decode=risk", objects, "--decode", "risk")
	if code, got := s.post("predict/tagger", `{"id": "mine", "text": "the fox runs"}`); code != http.StatusOK ||
		!strings.HasPrefix(got, `{"id":"mine","labels":[`) || !strings.HasSuffix(got, `,"offsets":[[0,3],[4,7],[8,12]],"words":["the","fox","runs"]}`+"\n") {
		t.Errorf("raw text: %d %s", code, got)
	}

	objects = nil
	for _, block := range blocks(t, parse) {
		o := map[string]any{}
		columns := map[string][]string{}
		for _, fields := range block {
			if id, ok := strings.CutPrefix(fields[0], "# sent_id = "); ok {
				o["id"] = id
			}
			if len(fields) == 10 && !strings.ContainsAny(fields[0], "-.") { // a word
				for name, k := range map[string]int{"word": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5} {
					columns[name] = append(columns[name], fields[k])
				}
			}
		}
		o["columns"] = columns
		objects = append(objects, asJSON(t, o))
	}
	s.same(parser(t), parse, "?confidence&nbest=2", objects, "--confidence", "--nbest", "2")

	content, err := os.ReadFile(pairs)
	if err != nil {
		t.Fatal(err)
	}
	objects = nil
	for line := range strings.Lines(string(content)) {
		fields := strings.Split(line, "|||")
		objects = append(objects, asJSON(t, map[string]any{"source": strings.Fields(fields[0]), "target": strings.Fields(fields[1])}))
	}
	s.same(aligner(t), pairs, "?confidence&nbest=2", objects, "--confidence", "--nbest", "2")

	images := t.TempDir()
	objects = nil
	for k := range 3 {
		file, err := os.ReadFile(filepath.Join(drawnObjects(t), "test", fmt.Sprintf("%05d.png", k+1)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(images, fmt.Sprintf("%05d.png", k+1)), file, 0o666); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, asJSON(t, map[string]any{"id": fmt.Sprint(k + 1), "image": base64.StdEncoding.EncodeToString(file)}))
		for _, model := range []string{"locator", "finder"} {
			_, inJSON := s.post("predict/"+model, objects[k])
			code, plain := s.send(http.MethodPost, "predict/"+model, "image/png", string(file))
			if got := strings.Replace(plain, `"id":"0"`, fmt.Sprintf(`"id":"%d"`, k+1), 1); code != http.StatusOK || got != inJSON {
				t.Errorf("%s: %d %s, expected %s", model, code, plain, inJSON)
			}
		}
	}
	s.same(locator(t), images, "?nbest=2", objects, "--nbest", "2")
	s.same(finder(t), images, "", objects)

	// One graph of three variables in a chain.
	code, got := s.post("predict/graph?marginals", `{"node_features": [[1, 1], [-2, 1], [0.5, 1]], "edges": [[0, 1], [1, 2]], "edge_features": [[0.5], [0.1]]}`)
	var g struct {
		Labels    []string
		Marginals [][]float64
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil || code != http.StatusOK || len(g.Labels) != 3 || len(g.Marginals) != 3 {
		t.Errorf("graph: %d %s", code, got)
	}
	rows := make([][]float64, 3)
	for k := range rows {
		rows[k] = make([]float64, 128)
		rows[k][5+k] = 1
	}
	if code, got := s.post("predict/"+filepath.Base(ocr), asJSON(t, map[string]any{"features": rows})); code != http.StatusOK || !strings.Contains(got, `"labels":["`) {
		t.Errorf("letters: %d %s", code, got)
	}
}

// Images of segment models are answered with their labels and, on request, with the mask over the image.
func TestServeMasks(t *testing.T) {
	data, dir := drawnTextures(t), filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "segment", "--train", filepath.Join(data, "train", "images"), "--masks", filepath.Join(data, "train", "masks"), "--passes", "3", "--quiet", "--out", dir).ok()
	s := serve(t, "--model", dir)
	file, err := os.ReadFile(filepath.Join(data, "test", "images", "00001.png"))
	if err != nil {
		t.Fatal(err)
	}
	images := t.TempDir()
	if err := os.WriteFile(filepath.Join(images, "00001.png"), file, 0o666); err != nil {
		t.Fatal(err)
	}
	s.same(dir, images, "?truncate", []string{asJSON(t, map[string]any{"id": "00001", "image": file})}, "--truncate")
	code, got := s.send(http.MethodPost, "predict?truncate&overlay", "image/png", string(file))
	var a struct {
		Overlay []byte
		Colours map[string]string
	}
	if err := json.Unmarshal([]byte(got), &a); err != nil || code != http.StatusOK || !bytes.HasPrefix(a.Overlay, []byte("\x89PNG")) || len(a.Colours) == 0 {
		t.Errorf("%d %.200s, %v", code, got, err)
	}
	s.page("model=run&image=data:image/png;base64,"+strings.NewReplacer("+", "%2B", "=", "%3D").Replace(base64.StdEncoding.EncodeToString(file)), `<img src="data:image/png;base64,`, "Score ")
}

// The routes of the Open Inference Protocol.
func TestServeInference(t *testing.T) {
	s := serve(t, "--model", "tags="+tagger(t), "--model", "letters="+reader(t), "--model", "trees="+parser(t), "--model", "links="+aligner(t))
	for path, want := range map[string]string{
		"v2/health/live": `{"live":true}`, "v2/health/ready": `{"ready":true}`, "v2/models/tags/ready": `{"name":"tags","ready":true}`,
		"v2": `"extensions":["model_repository"]`, "v2/models/letters": `"inputs":[{"name":"features","datatype":"FP32","shape":[-1,128]}`,
	} {
		if code, got := s.get(path); code != http.StatusOK || !strings.Contains(got, want) {
			t.Errorf("GET %s: %d %s, expected %s", path, code, got, want)
		}
	}
	type answer struct {
		ModelName string `json:"model_name"`
		ID        string
		Outputs   []struct {
			Name, Datatype string
			Shape          []int
			Data           json.RawMessage
		}
	}
	infer := func(model, body string) answer {
		t.Helper()
		var a answer
		code, got := s.post("v2/models/"+model+"/infer", body)
		if err := json.Unmarshal([]byte(got), &a); err != nil || code != http.StatusOK || a.ModelName != model {
			t.Fatalf("%s: %d %s", model, code, got)
		}
		return a
	}
	all := func(a answer) string {
		var text []string
		for _, o := range a.Outputs {
			text = append(text, fmt.Sprintf("%s %s %v %s", o.Name, o.Datatype, o.Shape, o.Data))
		}
		return strings.Join(text, "; ")
	}
	flat := `{"id": "7", "inputs": [{"name": "word", "shape": [5], "datatype": "BYTES", "data": ["the", "red", "fox", "the", "fox"]},
		{"name": "lengths", "shape": [2], "datatype": "INT64", "data": [3, 2]}], "outputs": [{"name": "labels"}, {"name": "label_ids"}, {"name": "lengths"}]}`
	padded := `{"inputs": [{"name": "word", "shape": [2, 3], "datatype": "BYTES", "data": [["the", "red", "fox"], ["the", "fox", ""]]},
		{"name": "lengths", "shape": [2], "datatype": "INT64", "data": [3, 2]}], "outputs": [{"name": "labels"}, {"name": "label_ids"}, {"name": "lengths"}]}`
	a, want := infer("tags", flat), `labels BYTES [5] ["O","B-X","I-X","O","B-X"]; label_ids INT32 [5] [2,0,1,2,0]; lengths INT64 [2] [3,2]`
	if a.ID != "7" || all(a) != want || all(infer("tags", padded)) != want {
		t.Errorf("%s and %s, expected %s", all(a), all(infer("tags", padded)), want)
	}
	a = infer("tags", `{"inputs": [{"name": "word", "shape": [2], "datatype": "BYTES", "data": ["the", "fox"]}], "outputs": [{"name": "marginals"}, {"name": "answer"}]}`)
	if fmt.Sprint(a.Outputs[0].Shape, a.Outputs[1].Shape) != "[2 3] [1]" || !strings.Contains(string(a.Outputs[1].Data), `\"labels\"`) {
		t.Errorf("%s", all(a))
	}
	numbers := strings.TrimSuffix(strings.Repeat("0.5,", 128), ",")
	a = infer("letters", `{"inputs": [{"name": "features", "shape": [1, 2, 128], "datatype": "FP32", "data": [`+numbers+","+numbers+`]}]}`)
	if names := all(a); !strings.HasPrefix(names, "score FP64 [1]") || !strings.Contains(names, "labels BYTES [2]") {
		t.Errorf("%s", names)
	}
	a = infer("trees", `{"inputs": [{"name": "word", "shape": [2], "datatype": "BYTES", "data": ["dogs", "bark"]}, {"name": "upos", "shape": [2], "datatype": "BYTES", "data": ["NOUN", "VERB"]}]}`)
	if names := all(a); !strings.Contains(names, "heads INT32 [2]") || !strings.Contains(names, "relations BYTES [2]") {
		t.Errorf("%s", names)
	}
	a = infer("links", `{"inputs": [{"name": "example", "shape": [1], "datatype": "BYTES", "data": ["{\"source\": [\"a\"], \"target\": [\"b\", \"c\"]}"]}]}`)
	if names := all(a); !strings.Contains(names, "links INT32 [") || !strings.Contains(names, "answer BYTES [1]") {
		t.Errorf("%s", names)
	}
	for body, want := range map[string]string{
		`{}`: "no inputs",
		`{"inputs": [{"name": "word", "shape": [3], "datatype": "BYTES", "data": ["a"]}]}`:                                                                             "has 1 elements, expected 3",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "FP32", "data": [1]}]}`:                                                                                `datatype "FP32", expected [BYTES]`,
		`{"inputs": [{"name": "word", "shape": [-1], "datatype": "BYTES", "data": []}]}`:                                                                               "shape [-1]",
		`{"inputs": [{"name": "word", "shape": [4294967296, 4294967296], "datatype": "BYTES", "data": []}]}`:                                                           "shape",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": [1]}]}`:                                                                               "input word",
		`{"inputs": [{"name": "x", "shape": [1], "datatype": "BYTES", "data": ["a"]}]}`:                                                                                `input "x" is not one of the model's`,
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}], "outputs": [{"name": "x"}]}`:                                                 `output "x" is not one`,
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "lengths", "shape": [1], "datatype": "INT64", "data": [2]}]}`:        "expected more",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "lengths", "shape": [1], "datatype": "INT64", "data": [-2]}]}`:       "expected 0 or more",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "lengths", "shape": [2], "datatype": "INT64", "data": [1, 0]}]}`:     "sequence 1: column word is empty",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES"}]}`:                                                                                            "has no data",
		`{"inputs": [{"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "word", "shape": [1], "datatype": "BYTES", "data": ["a"]}], "x": 1}`: "no member is called",
	} {
		s.refuses(http.StatusBadRequest, "v2/models/tags/infer", body, want)
	}
	s.refuses(http.StatusNotFound, "v2/models/nobody/infer", "{}", `no model "nobody"; there is tags, letters, trees, links`)
}

// raw sends bytes over a connection of their own and returns the answer.
func (s *served) raw(text string, close bool) *http.Response {
	s.t.Helper()
	c, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(s.url, "http://"), "/"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	if close {
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			s.t.Fatal(err)
		}
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		s.t.Fatalf("%.60q: %v", text, err)
	}
	return answer
}

// Hostile requests are refused with a code and a reason, and the server goes on.
func TestServeHostile(t *testing.T) {
	s := serve(t, "--model", tagger(t), "--max-body", "1", "--timeout", "500ms", "--max-length", "100")
	for body, want := range map[string]string{
		"":                            "an empty body",
		"\n\n":                        "an empty body",
		"\x00":                        "expected a JSON object",
		`{"words": ["a"]`:             "cut off",
		`{"words": 1}`:                "words has a number, expected a list of texts",
		`{"words": [["a"]]}`:          "expected text",
		`{"wrds": ["a"]}`:             `no member is called "wrds"`,
		"{\"words\": [\"\xff\xfe\"]}": "not UTF-8",
		`{"words": []}`:               "empty",
		`{"features": [[1]]}`:         "found features, which this model does not read",
		`{"image": "iVBORw0KGgo="}`:   "found image",
		strings.Repeat("[", 100_000):  "expected a JSON object",
		`{"columns": ` + strings.Repeat(`{"a":`, 20_000):       "not JSON",
		"{\"words\": [\"a\"]}\n{\"words\": 2}\n":               "line 2: words has a number",
		`{"words": ["a"` + strings.Repeat(`, "a"`, 100) + `]}`: "101 words, expected at most 100",
	} {
		s.refuses(http.StatusBadRequest, "predict", body, want)
	}
	s.refuses(http.StatusBadRequest, "predict?nbest=1000000", `{"words": ["a"]}`, "nbest=1000000: expected a number from 0 to 100")
	s.refuses(http.StatusBadRequest, "predict?nbst=1", `{"words": ["a"]}`, "no option nbst")
	s.refuses(http.StatusBadRequest, "predict?truncate", `{"words": ["a"]}`, "for cuts")
	s.refuses(http.StatusBadRequest, "predict?overlay", `{"words": ["a"]}`, "does not label the pixels")
	s.refuses(http.StatusNotFound, "predict/nobody", `{"words": ["a"]}`, `no model "nobody"`)
	s.refuses(http.StatusNotFound, "nowhere", "", "no /nowhere")
	if code, text := s.get("predict"); code != http.StatusMethodNotAllowed || !strings.Contains(text, "expected POST") {
		t.Errorf("GET /predict: %d %s", code, text)
	}
	s.refuses(http.StatusRequestEntityTooLarge, "predict", strings.Repeat(" ", 1<<20+1), "larger than 1048576 bytes")
	for _, c := range []struct {
		text  string
		close bool
		code  int
	}{
		{"POST /predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n110000\r\n" + strings.Repeat(" ", 0x110000) + "\r\n0\r\n\r\n", false, http.StatusRequestEntityTooLarge},
		{"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{\"words", true, http.StatusBadRequest},      // truncated
		{"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{\"words", false, http.StatusRequestTimeout}, // slow
		{"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", false, http.StatusRequestEntityTooLarge},
		{"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n ", false, http.StatusUnsupportedMediaType},
		{"POST /predict HTTP/1.1\r\nHost: x\r\nOrigin: http://elsewhere\r\nContent-Length: 1\r\n\r\n ", false, http.StatusForbidden},
		{"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: image/gif\r\nContent-Length: 1\r\n\r\n ", false, http.StatusUnsupportedMediaType},
		{"nonsense\r\n\r\n", false, http.StatusBadRequest},
	} {
		if a := s.raw(c.text, c.close); a.StatusCode != c.code {
			t.Errorf("%.120q: %s, expected %d", c.text, a.Status, c.code)
		}
	}
	if code, text := s.post("predict", "{\n \"words\":\n [\"the\", \"fox\"]\n}\n"); code != http.StatusOK || !strings.Contains(text, `"labels":["O","B-X"]`) {
		t.Errorf("after all that: %d %s", code, text)
	}
	if code, text := s.get("metrics"); code != http.StatusOK || !strings.Contains(text, `dsp_requests_total{code="408",model="tagger",route="/predict"} 1`) ||
		!strings.Contains(text, `dsp_examples_total{model="tagger"} 1`+"\n") || !strings.Contains(text, "process_resident_memory_bytes") {
		t.Errorf("metrics: %d\n%s", code, text)
	}
}

// Models are loaded again while requests arrive: none is lost, and a file that is no model changes nothing.
func TestServeReload(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(tagger(t), "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	replace := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(path+"~", text, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+"~", path); err != nil {
			t.Fatal(err)
		}
	}
	replace(content)
	s := serve(t, "--model", path)
	done := make(chan struct{})
	var clients sync.WaitGroup
	var mutex sync.Mutex
	answered := 0
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				code, text := s.post("predict/m", `{"words": ["the", "fox"]}`)
				if code != http.StatusOK || !strings.Contains(text, `["O","B-X"]`) {
					t.Errorf("while a model is loaded: %d %s", code, text)
				}
				mutex.Lock()
				answered++
				mutex.Unlock()
			}
		})
	}
	for k := range 10 {
		if code, text := s.post("v2/repository/models/m/load", ""); code != http.StatusOK {
			t.Errorf("load %d: %d %s", k, code, text)
		}
	}
	replace(content[:len(content)/2])
	s.refuses(http.StatusBadRequest, "v2/repository/models/m/load", "", "the one before stays")
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil { // refused, too
		t.Fatal(err)
	}
	reader, err := os.ReadFile(filepath.Join(reader(t), "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	close(done)
	clients.Wait()
	if answered == 0 {
		t.Error("no request was answered meanwhile")
	}
	replace(reader) // another model under the same name
	if code, text := s.post("v2/repository/models/m/load", ""); code != http.StatusOK {
		t.Errorf("%d %s", code, text)
	}
	s.refuses(http.StatusBadRequest, "predict/m", `{"words": ["the"]}`, "found words, which this model does not read")
	if _, text := s.get("metrics"); !strings.Contains(text, `dsp_model_loads_total{model="m",result="done"} 12`) {
		t.Errorf("%s", text)
	}
	s.stop()
	if !strings.Contains(s.stderr.String(), "not loaded again; the one before stays") {
		t.Errorf("%s", s.stderr)
	}
}

// A request that was accepted before SIGTERM is answered, and then the server ends with code 0.
func TestServeStopsGracefully(t *testing.T) {
	s := serve(t, "--model", tagger(t), "--timeout", "1m")
	address := strings.Trim(strings.TrimPrefix(s.url, "http://"), "/")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"words": ["the", "fox"]}`
	// With Expect: 100-continue the server says when it has begun to read the body.
	fmt.Fprintf(c, "POST /predict HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // until it no longer listens
		more, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		more.Close()
	}
	if _, err := io.WriteString(c, body); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK || !strings.Contains(string(text), `["O","B-X"]`) {
		t.Errorf("%s %s", answer.Status, text)
	}
	s.once.Do(s.wait) // a second signal would kill it
}

// More requests than the queue holds are answered with 429; every one is answered.
func TestServeOverload(t *testing.T) {
	s := serve(t, "--model", tagger(t), "--queue", "1", "--threads", "1")
	body := strings.Repeat(`{"words": ["the"`+strings.Repeat(`, "fox"`, 500)+"]}\n", 100)
	var mutex sync.Mutex
	codes := map[int]int{}
	for codes[http.StatusTooManyRequests] == 0 { // at once on any machine, but for a scheduler that runs them in turn
		var clients sync.WaitGroup
		for range 12 {
			clients.Go(func() {
				code, text := s.post("predict", body)
				mutex.Lock()
				defer mutex.Unlock()
				codes[code]++
				if code != http.StatusOK && !strings.Contains(text, "the queue is full") {
					t.Errorf("%d %.100s", code, text)
				}
			})
		}
		clients.Wait()
	}
	if codes[http.StatusOK] == 0 || codes[http.StatusOK]+codes[http.StatusTooManyRequests] < 12 {
		t.Errorf("answers by code: %v", codes)
	}
}

// With a token, requests need it; health and the page do not.
func TestServeToken(t *testing.T) {
	secret := write(t, "secret", "sesame\n")
	s := serve(t, "--model", tagger(t), "--token-file", secret)
	s.refuses(http.StatusUnauthorized, "predict", `{"words": ["the"]}`, "Authorization: Bearer TOKEN")
	for path, want := range map[string]int{"": 200, "v2/health/ready": 200, "v2": 401, "metrics": 401, "v2/models/tagger": 401} {
		if code, _ := s.get(path); code != want {
			t.Errorf("GET /%s: %d, expected %d", path, code, want)
		}
	}
	for token, want := range map[string]int{"sesame": 200, "sesam": 401, "": 401} {
		r, err := http.NewRequest(http.MethodPost, s.url+"predict", strings.NewReader(`{"words": ["the"]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("token %q: %d, expected %d", token, answer.StatusCode, want)
		}
	}
}

// Flags and models that cannot be served are refused at the start.
func TestServeRefusals(t *testing.T) {
	dsp(t, "serve").refused(exitBadInput, "give --model")
	dsp(t, "serve", "--model", "nowhere").refused(exitBadInput, "nowhere")
	dsp(t, "serve", "--model", "a="+tagger(t), "--model", "a="+reader(t)).refused(exitBadInput, "both named a")
	dsp(t, "serve", "--model", tagger(t), "--listen", "nowhere").refused(exitBadInput, "--listen nowhere", "127.0.0.1:8080")
	dsp(t, "serve", "--model", tagger(t), "--queue", "0").refused(exitBadInput, "--queue 0")
	dsp(t, "serve", "--model", tagger(t), "--timeout", "0s").refused(exitBadInput, "--timeout")
	dsp(t, "serve", "--model", tagger(t), "--max-body", "0").refused(exitBadInput, "--max-body")
	dsp(t, "serve", "--model", tagger(t), "--token", "a", "--token-file", "b").refused(exitBadInput, "one of the two")
	dsp(t, "serve", "--model", tagger(t), "--token-file", write(t, "empty", "\n")).refused(exitBadInput, "empty")
}

// Other addresses than loopback without a token are announced loudly.
func TestServeWarns(t *testing.T) {
	s := serve(t, "--model", tagger(t), "--listen", "0.0.0.0:0")
	s.stop()
	if !strings.Contains(s.stderr.String(), "ANYONE who can reach this address") {
		t.Errorf("%s", s.stderr)
	}
}

// page shows the page in a headless Chromium with a fragment, and fails the test unless it comes to hold some texts.
func (s *served) page(fragment string, wants ...string) {
	s.t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}
	if browser == "" {
		s.t.Skip("no Chromium here")
	}
	out, err := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+s.t.TempDir(), "--virtual-time-budget=20000",
		"--dump-dom", s.url+"#"+fragment).Output()
	if err != nil {
		s.t.Fatalf("%s: %v", browser, err)
	}
	for _, want := range wants {
		if !strings.Contains(string(out), want) {
			s.t.Errorf("the page lacks %q:\n%s", want, out[max(0, bytes.Index(out, []byte("<main>"))):])
		}
	}
}

// The page shows labels with their probabilities, trees, links, and errors.
func TestServePage(t *testing.T) {
	s := serve(t, "--model", "tags="+tagger(t), "--model", "trees="+parser(t), "--model", "links="+aligner(t))
	_, text := s.get("")
	if slices.ContainsFunc([]string{"http://", "https://", "src=\"", "@import"}, func(other string) bool { return strings.Contains(text, other) }) {
		t.Error("the page loads something from elsewhere")
	}
	s.page("model=tags&text=the+red+fox", "<b>red</b><span>B-X</span>", " %</small>", "probability of the whole output")
	s.page("model=trees&word=dogs+bark&upos=NOUN+VERB", "<td>dogs</td>", "root")
	s.page("model=links&source=a+b&target=c", "<th>margin</th>")
	s.page("model=trees&word=dogs+bark", "no pos (found columns)")
}
