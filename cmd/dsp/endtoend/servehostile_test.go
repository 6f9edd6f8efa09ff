package endtoend

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

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
	t.Parallel()
	s := serve(t, "--model", tagger(t), "--max-body", "1", "--timeout", "500ms", "--max-words", "100")
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
		strings.Repeat("[", 100_000):  "nested more than 32 deep",
		`{"columns": ` + strings.Repeat(`{"a":`, 20_000):       "nested more than 32 deep",
		"{\"words\": [\"a\"]}\n{\"words\": 2}\n":               "line 2: words has a number",
		`{"words": ["a"` + strings.Repeat(`, "a"`, 100) + `]}`: "101 words, expected at most 100",
	} {
		s.refuses(http.StatusBadRequest, "predict", body, want)
	}
	s.refuses(http.StatusBadRequest, "predict?nbest=1000000", `{"words": ["a"]}`, "?nbest=1000000: expected 0 to 100")
	s.refuses(http.StatusBadRequest, "predict?nbst=1", `{"words": ["a"]}`, "no option nbst")
	for _, value := range []string{"", "=true", "=false"} {
		s.refuses(http.StatusBadRequest, "predict?truncate"+value, `{"words": ["a"]}`, "for cuts")
	}
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
		{"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n110000\r\n" + strings.Repeat(" ", 0x110000) + "\r\n0\r\n\r\n", false, http.StatusRequestEntityTooLarge},
		{"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{\"words", true, http.StatusBadRequest},      // truncated
		{"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{\"words", false, http.StatusRequestTimeout}, // slow
		{"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", false, http.StatusRequestEntityTooLarge},
		{"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n ", false, http.StatusUnsupportedMediaType},
		{"POST /predict HTTP/1.1\r\nHost: localhost\r\nOrigin: http://elsewhere\r\nContent-Length: 1\r\n\r\n ", false, http.StatusForbidden},
		{"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/gif\r\nContent-Length: 1\r\n\r\n ", false, http.StatusUnsupportedMediaType},
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
	t.Parallel()
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
					return
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
	for refused := false; !refused; { // before the file changes again
		code, text := s.get("metrics")
		if code != http.StatusOK {
			t.Fatalf("metrics: %d %s", code, text)
		}
		refused = strings.Contains(text, `dsp_model_loads_total{model="m",result="refused"} 2`)
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
	t.Parallel()
	s := serve(t, "--model", tagger(t), "--timeout", "1m")
	address := strings.Trim(strings.TrimPrefix(s.url, "http://"), "/")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"words": ["the", "fox"]}`
	// With Expect: 100-continue the server says when it has begun to read the body.
	fmt.Fprintf(c, "POST /predict HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
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
	t.Parallel()
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
