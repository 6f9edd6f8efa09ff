package server

import (
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/dsp-go/dsp/structured"
)

// A connection ends when the body of a request that no handler reads does not arrive in time.
func TestUnreadBodies(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Timeout, o.Token = 200*time.Millisecond, "sesame" })
	h := httptest.NewServer(s.Handler())
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
		s.Handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, expected %d", header, w.Code, want)
		}
	}
}

// Messages name the options of requests, not flags.
func TestOptionsInMessages(t *testing.T) {
	code, text := status(structured.BadInput("these scores cannot be cut; --truncate lowers them"), time.Second)
	if code != 400 || text != "these scores cannot be cut; ?truncate lowers them" {
		t.Errorf("%d: %s", code, text)
	}
}
