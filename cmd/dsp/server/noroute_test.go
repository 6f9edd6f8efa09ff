package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A request that no route takes is told the method of its path, or which routes there are.
func TestNoRoute(t *testing.T) {
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /health", "POST /predict", "/"} {
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
	}
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/health", "POST /health: expected GET"}, {"GET", "/predict", "GET /predict: expected POST"}, {"GET", "/x", "no /x; there are GET /health, POST /predict"},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		if err := new(Server).noRoute(mux, []string{"GET /health", "POST /predict"}, r); err == nil || err.Error() != c.want || r.Method != c.method {
			t.Errorf("%s %s: %v, expected %s", c.method, c.path, err, c.want)
		}
	}
}
