package server

import (
	_ "embed"
	"net/http"
)

// page is the page to try models on. It loads nothing from elsewhere.
//
//go:embed page.html
var page []byte

// showPage answers the page. It holds nothing about the models: those it asks for, with the token that its user types
// in.
func showPage(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	return answer(w, http.StatusOK, "text/html; charset=utf-8", page)
}
