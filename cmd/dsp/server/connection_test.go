package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A connection ends when the body of a request that no handler reads does not arrive in time.
func TestUnreadBodies(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Timeout, o.Token = 200*time.Millisecond, "sesame" })
	h := httptest.NewServer(s.handler())
	defer h.Close()
	for _, path := range []string{"/nothing", "/predict", "/"} {
		c, err := net.Dial("tcp", h.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\nab"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(c); err != nil {
			t.Errorf("POST %s: %v", path, err)
		}
	}
}

// A client that sends all of a body before it reads sees the refusal, and not a reset. The body is larger than the
// buffers of sockets.
func TestRefusedBodies(t *testing.T) {
	s := newServer(t, func(o *Options) { o.MaxBody, o.Timeout, o.Token = 1<<20, time.Minute, "sesame" })
	h := httptest.NewServer(s.handler())
	defer h.Close()
	body := strings.Repeat(" ", 32<<20)
	for head, want := range map[string]int{
		"POST /predict HTTP/1.1\r\nAuthorization: Bearer sesame\r\nContent-Length: 33554432\r\n\r\n" + body:                                413,
		"POST /predict HTTP/1.1\r\nAuthorization: Bearer sesame\r\nTransfer-Encoding: chunked\r\n\r\n2000000\r\n" + body + "\r\n0\r\n\r\n": 413,
		"POST /predict HTTP/1.1\r\nContent-Length: 33554432\r\n\r\n" + body:                                                                401,
		"POST /nothing HTTP/1.1\r\nContent-Length: 33554432\r\n\r\n" + body:                                                                404,
		// A client that asks first is answered without its body, and so is one whose body is too large to read.
		"POST /predict HTTP/1.1\r\nAuthorization: Bearer sesame\r\nExpect: 100-continue\r\nContent-Length: 33554432\r\n\r\n": 413,
		"POST /predict HTTP/1.1\r\nAuthorization: Bearer sesame\r\nContent-Length: 99999999999\r\n\r\n":                      413,
	} {
		c, err := net.Dial("tcp", h.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		name, _, _ := strings.Cut(head, "\r\n\r\n")
		if _, err := io.WriteString(c, strings.Replace(head, "\r\n", "\r\nHost: here\r\n", 1)); err != nil {
			t.Errorf("%s: sending: %v", name, err)
			continue
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%s: reading: %v", name, err)
			continue
		}
		if answer.StatusCode != want {
			t.Errorf("%s: %s, want %d", name, answer.Status, want)
		}
	}
}

// The scheme of the header is the same in any case, and only the whole token will do.
func TestAuthorization(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Token = "sesame" })
	for header, want := range map[string]int{
		"Bearer sesame": 200, "bearer sesame": 200, "Bearer  sesame ": 200,
		"": 401, "Bearer": 401, "Bearer ": 401, "sesame": 401, "Basic sesame": 401, "Bearer sesam": 401, "Bearer sesames": 401,
	} {
		r := httptest.NewRequest("GET", "/v2", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, expected %d", header, w.Code, want)
		}
	}
}

// Messages name the options of requests, not flags.
func TestOptionsInMessages(t *testing.T) {
	for query, want := range map[string]string{
		"nbest=101":                   "?nbest=101: expected 0 to 100",
		"beam=-1":                     "?beam=-1: expected 0 to 100",
		"samples=x":                   `?samples: "x": expected a whole number`,
		"marginals=maybe":             `?marginals: "maybe": expected true or false`,
		"samples&samples=2":           "",
		"min-probability=0.5":         "no option min-probability; there are model, nbest, beam, force, decode, threshold, marginals, confidence, spans, min_probability, entropy, samples, temperature, seed, truncate, overlay",
		"temperature=2":               "?temperature is for ?samples, which draws outputs at random",
		"samples=1&temperature=0":     "?temperature=0: expected 1e-06 to 1e+06",
		"decode=expansion":            `?decode "expansion" is not known; use max, risk, f1`,
		"decode=f1":                   "?decode=f1 needs ?threshold: dsp eval --decode f1 finds one",
		"threshold=0.5":               "?threshold=0.5 is for ?decode=f1, which chooses entities by their probabilities",
		"decode=f1&threshold=NaN":     "?threshold=NaN: expected a finite number",
		"min_probability=0.5":         "?min_probability=0.5 is for ?spans, which lists entities",
		"spans&min_probability=0":     "?min_probability=0: expected more than 0, and at most 1",
		"spans&min_probability=0.5":   "",
		"truncate=false&overlay&seed": `?seed: "": expected a whole number`,
		"scheme=bilou":                "no option scheme; there are model, nbest, beam, force, decode, threshold, marginals, confidence, spans, min_probability, entropy, samples, temperature, seed, truncate, overlay",
	} {
		_, err := queryOptions(httptest.NewRequest("POST", "/predict?"+query, nil))
		switch {
		case want == "" && err != nil, want != "" && err == nil:
			t.Errorf("%s: %v, expected %q", query, err, want)
		case err == nil:
		default:
			if code, text := status(err, time.Second); code != 400 || text != want {
				t.Errorf("%s: %d %s, expected %s", query, code, text, want)
			}
		}
	}
	o, err := queryOptions(httptest.NewRequest("POST", "/predict?model=m&truncate=false&confidence&nbest=3", nil))
	if err != nil || !o.Exact || !o.Confidence || o.NBest != 3 || !o.Probability || o.Overlay {
		t.Errorf("%+v, %v", o, err)
	}
}

// Text without words has no sentences, and so no answers; that is no mistake, unless the model reads more than words,
// which text lacks.
func TestTextWithoutWords(t *testing.T) {
	path, err := trainedOnWords()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(o *Options) { o.Models = []string{"m=" + path} })
	for body, want := range map[string]int{`{"text": ""}`: 0, `{"text": " \n\n"}`: 0, `{"text": ""}` + "\n" + `{"words": ["the", "fox"]}`: 1} {
		if code, answer, _ := ask(s, "POST", "/predict", body); code != 200 || strings.Count(answer, "\n") != want {
			t.Errorf("%q: %d, %q, want %d lines", body, code, answer, want)
		}
	}
	for _, body := range []string{"", "\n", `{"columns": {"word": [], "pos": []}}`, `{"text": "", "pos": []}`} {
		if code, answer, _ := ask(s, "POST", "/predict", body); code != 400 {
			t.Errorf("%q: %d, %q", body, code, answer)
		}
	}
	tags := newServer(t, nil)
	for _, body := range []string{`{"text": ""}`, `{"text": ""}` + "\n" + fine, `{"text": "the fox"}`, `{"text": "", "pos": []}`} {
		if code, answer, _ := ask(tags, "POST", "/predict", body); code != 400 || !strings.Contains(answer, "pos") {
			t.Errorf("a model of words and tags: %q: %d, %q", body, code, answer)
		}
	}
}

// Clients that name a version get what others get, and a version that there is not is refused by name.
func TestVersions(t *testing.T) {
	s := newServer(t, nil)
	const tensors = `{"inputs": [{"name": "word", "datatype": "BYTES", "shape": [2], "data": ["the", "fox"]}, {"name": "pos", "datatype": "BYTES", "shape": [2], "data": ["DT", "NN"]}]}`
	for path, body := range map[string]string{"": "", "/ready": "", "/infer": tensors} {
		method := "GET"
		if body != "" {
			method = "POST"
		}
		code, want, _ := ask(s, method, "/v2/models/m"+path, body)
		if code != 200 {
			t.Errorf("%s: %d %s", path, code, want)
		}
		if code, answer, _ := ask(s, method, "/v2/models/m/versions/1"+path, body); code != 200 || answer != want {
			t.Errorf("version 1%s: %d %s, want %s", path, code, answer, want)
		}
		if code, answer, _ := ask(s, method, "/v2/models/m/versions/2"+path, body); code != 404 || !strings.Contains(answer, `m has no version \"2\"; there is 1`) {
			t.Errorf("version 2%s: %d %s", path, code, answer)
		}
	}
}

// The refusal of an unknown path lists every route, and each of these is one.
func TestRoutesListed(t *testing.T) {
	s := newServer(t, nil)
	code, answer, _ := ask(s, "GET", "/nothing", "")
	_, listed, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(answer), `"}`), "there are ")
	if code != 404 || !strings.Contains(listed, "POST /predict/NAME") || !strings.Contains(listed, "POST /v2/repository/models/NAME/load") {
		t.Errorf("%d %s", code, answer)
	}
	for route := range strings.SplitSeq(listed, ", ") {
		method, path, _ := strings.Cut(route, " ")
		if code, answer, _ := ask(s, method, strings.NewReplacer("NAME", "m", "VERSION", onlyVersion).Replace(path), "{"); code == 404 || code == 405 {
			t.Errorf("%s: %d %s", route, code, answer)
		}
	}
}
