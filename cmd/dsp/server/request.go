package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// handler answers a request, or returns why it does not.
type handler func(w http.ResponseWriter, r *http.Request) error

// refusal is an error with the status code that it is answered with.
type refusal struct {
	code int
	error
}

func (r *refusal) Unwrap() error { return r.error }

func refuse(code int, format string, args ...any) error {
	return &refusal{code, fmt.Errorf(format, args...)}
}

// status returns the code and the text that an error is answered with. 499 is that of a client that has gone, for the
// metrics.
func status(err error, timeout time.Duration) (int, string) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.code, r.Error()
	}
	switch {
	case errors.Is(err, errFull):
		return http.StatusTooManyRequests, err.Error()
	case errors.Is(err, errClosed):
		return http.StatusServiceUnavailable, "the server is stopping"
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout, fmt.Sprintf("no answer within %v (--timeout)", timeout)
	case errors.Is(err, context.Canceled):
		return 499, "the client has gone"
	case structured.IsBadInput(err):
		return http.StatusBadRequest, err.Error()
	}
	return http.StatusInternalServerError, "internal error"
}

// measured answers errors, limits the time of a request, and counts it.
func (s *Server) measured(route string, h handler) http.Handler {
	if _, path, ok := strings.Cut(route, " "); ok {
		route = path
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		ctx, cancel := context.WithDeadline(r.Context(), begun.Add(s.o.Timeout))
		defer cancel()
		r = r.WithContext(ctx)
		limits := http.NewResponseController(w) // test recorders support none
		_ = limits.SetWriteDeadline(begun.Add(s.o.Timeout + answerTime))
		_ = limits.SetReadDeadline(begun.Add(s.o.Timeout)) // a body that no handler reads must arrive too, since the connection waits for it
		seen := &observed{ResponseWriter: w, code: http.StatusOK}
		err := host.Guard(func() error { return h(seen, r) })
		if err != nil {
			s.answerError(seen, r, err)
		}
		model := r.PathValue("model")
		if _, err := s.find(model); err != nil {
			model = ""
		}
		s.metrics.answered(route, model, seen.code, time.Since(begun))
	})
}

// observed remembers the code of an answer.
type observed struct {
	http.ResponseWriter
	code  int
	begun bool
}

func (o *observed) WriteHeader(code int) {
	o.code, o.begun = code, true
	o.ResponseWriter.WriteHeader(code)
}

func (o *observed) Write(b []byte) (int, error) {
	o.begun = true
	return o.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// answerError answers {"error": "…"}, as the Open Inference Protocol has it.
func (s *Server) answerError(w *observed, r *http.Request, err error) {
	code, text := status(err, s.o.Timeout)
	if w.begun || code == 499 {
		w.code = code
		return
	}
	if code == http.StatusInternalServerError {
		slog.Error("a request failed", "path", r.URL.Path, "error", err)
	}
	s.drain(r)
	switch code {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		w.Header().Set("Connection", "close")
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	_ = answerJSON(w, code, map[string]string{"error": text}) // nothing is left to do about a client that has gone
}

// drained is how many of the largest bodies are read from a client whose request is refused.
const drained = 64

// drain reads the rest of the body of a refused request, within the time of the request. Python's urllib and requests,
// among others, send all of a body before they read the answer, and a connection that closes earlier is no answer to
// them but a reset.
func (s *Server) drain(r *http.Request) {
	limit := drained * s.o.MaxBody
	if r.Header.Get("Expect") != "" || r.ContentLength > limit { // a client that waits for leave to send; a body that would take too long
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, limit) // where it fails, the client has gone or is too slow
}

// answerJSON answers an object.
func answerJSON(w http.ResponseWriter, code int, value any) error {
	var text bytes.Buffer
	encode := json.NewEncoder(&text)
	encode.SetEscapeHTML(false)
	if err := encode.Encode(value); err != nil {
		return err
	}
	return answer(w, code, "application/json", text.Bytes())
}

// answer writes an answer.
func answer(w http.ResponseWriter, code int, kind string, text []byte) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, err := w.Write(text)
	if err != nil {
		return context.Canceled // the client has gone
	}
	return nil
}

// authorized refuses requests without the token, if there is one.
func (s *Server) authorized(h handler) handler {
	if s.o.Token == "" {
		return h
	}
	expected := sha256.Sum256([]byte(s.o.Token)) // hashes have equal lengths, so that the time tells nothing of the token's
	return func(w http.ResponseWriter, r *http.Request) error {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		hash := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(hash[:], expected[:]) != 1 {
			return refuse(http.StatusUnauthorized, "the header Authorization: Bearer TOKEN is missing, or its token is wrong")
		}
		return h(w, r)
	}
}

// noRoute says why no route takes a request: a wrong path, or a wrong method, beside which the header says the right
// one.
func (s *Server) noRoute(mux *http.ServeMux, routes []string, header http.Header, r *http.Request) error {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" && pattern != "" {
			header.Set("Allow", allowed[method])
			return refuse(http.StatusMethodNotAllowed, "%s %s: expected %s", r.Method, r.URL.Path, method)
		}
	}
	return refuse(http.StatusNotFound, "no %s; there are %s", r.URL.Path, strings.Join(routes, ", "))
}

// allowed are the methods of a route, as the header Allow lists them: who may GET may ask for the HEAD alone.
var allowed = map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"}

// perRequest is the memory, in bytes, of a request without its body: its connection, buffers and header.
const perRequest = 16 << 10

// body reads the body of a request, within its limits of size and time, and charges it to what the request holds.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (body []byte, held *holding, err error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, nil, refuse(http.StatusUnsupportedMediaType, "Content-Encoding %s: expected a body that is not compressed", encoding)
	}
	if r.ContentLength > s.o.MaxBody {
		return nil, nil, s.tooLarge()
	}
	own := &holding{of: s.requests}
	defer func() {
		if err != nil {
			own.release()
		}
	}()
	const what = "the body"
	if err := own.await(r.Context(), perRequest, what); err != nil {
		return nil, nil, err
	}
	taken := int64(0)
	limited := http.MaxBytesReader(w, r.Body, s.o.MaxBody)
	text := make([]byte, 0, min(max(r.ContentLength+1, 512), 64<<10))
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		if more := int64(cap(text)) - taken; more > 0 {
			if err := own.await(r.Context(), more, what); err != nil {
				return nil, nil, err
			}
			taken += more
		}
		n, err := limited.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch tooLarge := new(http.MaxBytesError); {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // test recorders support none
			return bytes.TrimPrefix(text, []byte(host.ByteOrderMark)), own, nil
		case errors.As(err, &tooLarge):
			err = s.tooLarge()
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = refuse(http.StatusRequestTimeout, "the body did not arrive within %v (--timeout)", s.o.Timeout)
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = refuse(http.StatusBadRequest, "the body is cut off after %d bytes", len(text))
		default:
			err = refuse(http.StatusBadRequest, "the body cannot be read: %w", err)
		}
		return nil, nil, err
	}
}

func (s *Server) tooLarge() error {
	return refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes (--max-body)", s.o.MaxBody)
}
