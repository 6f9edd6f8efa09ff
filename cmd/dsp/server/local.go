package server

import (
	"bytes"
	"io"
	"net/http"
)

// Local answers requests of the process itself, without a connection.
type Local struct{ *Server }

// Answer answers a request, such as POST /predict?nbest=2, as the server would answer it over HTTP. It may be called
// from any number of goroutines.
func (l Local) Answer(method, target, contentType string, body []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequest(method, target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", contentType)
	w := &recorded{header: http.Header{}, status: http.StatusOK}
	l.handler().ServeHTTP(w, r)
	return w.status, w.body.Bytes(), nil
}

// recorded is an answer that is kept in memory.
type recorded struct {
	header http.Header
	body   bytes.Buffer
	status int
}

var _ io.Writer = (*recorded)(nil)

func (w *recorded) Header() http.Header               { return w.header }
func (w *recorded) WriteHeader(status int)            { w.status = status }
func (w *recorded) Write(content []byte) (int, error) { return w.body.Write(content) }
