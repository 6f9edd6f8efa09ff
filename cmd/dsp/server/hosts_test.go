package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Which names in the header Host are this server's, for each kind of address.
func TestHosts(t *testing.T) {
	loopback, world := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, &net.TCPAddr{IP: net.IPv4zero}
	for _, x := range []struct {
		at     net.Addr
		names  []string
		known  string // separated by blanks, as the rest
		others string
	}{
		{loopback, nil, "localhost localhost:8080 LOCALHOST:1 localhost. 127.0.0.1 127.0.0.1:9 [::1] [::1]:8080 127.9.9.9",
			"evil.example evil.example:8080 127.0.0.1.evil.example localhost.evil.example 192.168.0.7 [2001:db8::1] 0.0.0.0 x@localhost"},
		{&net.TCPAddr{IP: net.IPv6loopback}, nil, "localhost [::1]:1 127.0.0.1", "evil.example"},
		{loopback, []string{"Models.Example.org", "b"}, "models.example.org MODELS.example.org:80 b localhost 127.0.0.1", "c example.org 10.0.0.1"},
		{world, nil, "anything 10.0.0.1 localhost", ""},
		{world, []string{"a.example"}, "a.example:80 10.0.0.1:8080 [2001:db8::1]:80 127.0.0.1 localhost", "evil.example b.a.example"},
	} {
		names, err := hostNames(x.names)
		if err != nil {
			t.Fatal(err)
		}
		h := hostsFor(x.at, names)
		for header := range strings.FieldsSeq(x.known) {
			if !h.know(header) {
				t.Errorf("%v with %v: %s is refused", x.at, x.names, header)
			}
		}
		for header := range strings.FieldsSeq(x.others) {
			if h.know(header) {
				t.Errorf("%v with %v: %s is taken", x.at, x.names, header)
			}
		}
	}
	for _, name := range []string{"", ".", "a b", "http://a", "a:80", "*.a"} {
		if _, err := hostNames([]string{name}); !structured.IsBadInput(err) {
			t.Errorf("--host %q: %v", name, err)
		}
	}
}

// A page that leads a browser to loopback by a name of its own is refused on every route, and a name that was given is
// not.
func TestRebinding(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Hosts = []string{"models.example"} })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	for _, path := range []string{"GET /", "GET /metrics", "GET /v2", "GET /v2/health/live", "GET /v2/models/m", "POST /predict", "POST /v2/models/m/infer", "POST /v2/repository/models/m/load", "GET /x"} {
		for host, refused := range map[string]bool{"evil.example": true, "evil.example:80": true, "localhost": false, "models.example:80": false} {
			method, path, _ := strings.Cut(path, " ")
			r, err := http.NewRequest(method, "http://"+l.Addr().String()+path, strings.NewReader(fine))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(a.Body)
			a.Body.Close()
			if by := strings.Contains(string(text), "--host"); by != refused || refused && a.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s by %s: %s %s", method, path, host, a.Status, text)
			}
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Browsers do not get metrics, nor load models, for pages of other origins; with a token they, and all others, need it.
func TestManagementFromElsewhere(t *testing.T) {
	open, closed := newServer(t, nil), newServer(t, func(o *Options) { o.Token = "sesame" })
	for _, route := range []string{"GET /metrics", "POST /v2/repository/index", "POST /v2/repository/models/m/load"} {
		method, path, _ := strings.Cut(route, " ")
		for _, x := range []struct {
			name, value string
			want        int
		}{
			{"Origin", "http://evil.example", 403}, {"Origin", "null", 403}, {"Sec-Fetch-Site", "cross-site", 403}, {"Sec-Fetch-Site", "same-site", 403},
			{"Origin", "http://example.com", 200}, {"Sec-Fetch-Site", "same-origin", 200}, {"Sec-Fetch-Site", "none", 200}, {"Accept", "*/*", 200},
		} {
			r := httptest.NewRequest(method, path, nil) // of example.com
			r.Header.Set(x.name, x.value)
			w := httptest.NewRecorder()
			if open.handler().ServeHTTP(w, r); w.Code != x.want {
				t.Errorf("%s, %s: %s: %d, want %d", route, x.name, x.value, w.Code, x.want)
			}
			if says := w.Body.String(); x.want == 403 && (strings.Contains(says, ", ,") || strings.Contains(says, "evil") != strings.Contains(x.value, "evil")) {
				t.Errorf("%s, %s: %s: %s", route, x.name, x.value, says)
			}
		}
		if code, _, _ := ask(closed, method, path, ""); code != 401 {
			t.Errorf("%s without the token: %d", route, code)
		}
	}
}
