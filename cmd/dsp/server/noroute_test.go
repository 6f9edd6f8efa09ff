package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A request that no route takes is told the method of its path, in the header Allow, too, or which routes there are.
func TestNoRoute(t *testing.T) {
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /health", "POST /predict", "/"} {
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
	}
	for _, c := range []struct{ method, path, want, allow string }{
		{"POST", "/health", "POST /health: expected GET", "GET, HEAD"}, {"GET", "/predict", "GET /predict: expected POST", "POST"},
		{"GET", "/x", "no /x; there are GET /health, POST /predict", ""},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		header := http.Header{}
		err := new(Server).noRoute(mux, []string{"GET /health", "POST /predict"}, header, r)
		if err == nil || err.Error() != c.want || r.Method != c.method || header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %v, allowed %q, expected %s, %q", c.method, c.path, err, header.Get("Allow"), c.want, c.allow)
		}
	}
}
