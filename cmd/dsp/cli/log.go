package cli

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// log is a slog.Handler for people: it prints the message, then key=value pairs, and starts with the level for warnings
// and errors.
type log struct {
	out    io.Writer
	mu     *sync.Mutex
	level  slog.Level
	who    string // begins every line
	prefix string // of keys, from WithGroup
	attrs  string
}

func newLog(out io.Writer, level slog.Level) *log {
	return &log{out: out, mu: new(sync.Mutex), level: level}
}

// Enabled reports whether records of this level are shown.
func (l *log) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level }

// Handle writes one record as a line.
func (l *log) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(l.who)
	if r.Level >= slog.LevelWarn {
		b.WriteString(strings.ToLower(r.Level.String()) + ": ")
	}
	b.WriteString(r.Message + l.attrs)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(l.format(a))
		return true
	})
	b.WriteByte('\n')
	lastWord.Store(time.Now().UnixNano())
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := io.WriteString(l.out, b.String())
	return err
}

func (l *log) format(a slog.Attr) string {
	value := a.Value.Resolve().String()
	if strings.ContainsAny(value, " \t\n") {
		value = `"` + value + `"`
	}
	return " " + l.prefix + a.Key + "=" + value
}

// WithAttrs returns a log that adds attrs to every record.
func (l *log) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *l
	for _, a := range attrs {
		with.attrs += l.format(a)
	}
	return &with
}

// WithGroup returns a log that puts the group's name before keys.
func (l *log) WithGroup(name string) slog.Handler {
	with := *l
	with.prefix += name + "."
	return &with
}
