package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// hosts are the names that requests may have in their header Host. A page of another site whose name was made to lead
// to this machine has its visitors' browsers ask by that name (DNS rebinding), and they take its pages for pages of
// this server.
type hosts struct {
	any      bool     // whatever name: the server is known to the world by names that it cannot know
	loopback bool     // of addresses, only those of loopback
	names    []string // in lower case, beside localhost
}

// hostNames returns the names that were given, in lower case.
func hostNames(given []string) ([]string, error) {
	var names []string
	for _, name := range given {
		plain := strings.ToLower(strings.TrimSuffix(name, "."))
		if plain == "" || strings.ContainsAny(plain, "/:* \t") {
			return nil, structured.BadInput("--host %s: expected the name of a host, without a port, such as dsp.example.org", name)
		}
		names = append(names, plain)
	}
	return names, nil
}

// hostsFor returns the names for a server that listens at an address and was given some. On loopback, these and
// localhost are all. Elsewhere any name will do unless some are given.
func hostsFor(at net.Addr, names []string) hosts {
	tcp, ok := at.(*net.TCPAddr)
	loopback := ok && tcp.IP.IsLoopback()
	return hosts{any: !loopback && len(names) == 0, loopback: loopback, names: names}
}

// know reports whether a request may have that header Host. Requests without it come from no browser.
func (h hosts) know(header string) bool {
	if h.any || header == "" {
		return true
	}
	name := header
	if host, _, err := net.SplitHostPort(header); err == nil {
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" || slices.Contains(h.names, name) {
		return true
	}
	address, err := netip.ParseAddr(name) // no name leads elsewhere that is an address
	return err == nil && (address.Unmap().IsLoopback() || !h.loopback)
}

// guard refuses requests by other names.
func (s *Server) guard(h hosts, next http.Handler) http.Handler {
	refused := s.measured("other", func(_ http.ResponseWriter, r *http.Request) error {
		return refuse(http.StatusForbidden, "the host %.100q is not this server's; if it is, start the server with --host NAME", r.Host)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.know(r.Host) {
			refused.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromElsewhere reports whether a browser asks for a page of another origin. Unlike posting, which such pages may never
// do, reading is forbidden to them on some routes only.
func fromElsewhere(protection *http.CrossOriginProtection, r *http.Request) bool {
	posted := *r
	posted.Method = http.MethodPost
	return protection.Check(&posted) != nil
}

// pageOf says which page a refused request is from, whose browser may not tell.
func pageOf(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		return fmt.Sprintf("a page of another origin, %.100q,", origin)
	}
	return "a page of another origin"
}
