package server

import (
	"log/slog"
	"sync"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// mostSeen is how many images are compared with the training images at once: a few say little, and of too many the
// latest no more.
const mostSeen = 100

// looks watches the images of requests. It says once of each difference that they are unlike those that the model was
// trained on.
type looks struct {
	mu   sync.Mutex
	seen []structured.ImageLook
	said map[images.Difference]bool
}

// see adds the images of a batch.
func (l *looks) see(name string, m *models.Model, all []structured.ImageLook) {
	if len(all) == 0 || m.Looks == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.seen) >= mostSeen {
		l.seen = nil
	}
	l.seen = append(l.seen, all...)
	for _, u := range m.Unlike(l.seen) {
		if l.said[u.Difference] {
			continue
		}
		if l.said == nil {
			l.said = map[images.Difference]bool{}
		}
		l.said[u.Difference] = true
		slog.Warn(u.Message, append([]any{"model", name, "images", len(l.seen)}, u.Values...)...)
	}
}
