package ranks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/dsp-go/dsp/structured"
)

// Member is this process as a rank of a group. A process that was started alone is a member of a group of one.
type Member struct {
	Group
	Library  string // the MPI library; empty if the process is alone
	Launcher string // what started it
	Warning  string // what does not work as it should; empty: nothing
	Here     int    // ranks on this machine, with this one
	Local    int    // how many of them come before this one

	mpi   *mpiGroup // nil if the process is alone
	watch *watch
}

// Solo is a process alone.
func Solo() *Member { return &Member{Group: Alone{}, Here: 1} }

// NotMetError says that the ranks of a run have not all met in time. Until they have, nothing tells one that another is
// gone.
type NotMetError struct {
	Limit time.Duration
}

func (e *NotMetError) Error() string {
	return fmt.Sprintf("not all ranks have met within %v: one has died, has stopped, was not started, or is slow to start; %s=5m waits five minutes", e.Limit, StartVariable)
}

// StartVariable is the environment variable that says how long ranks wait for each other at the start.
const StartVariable = "DSP_MPI_START"

// startLimit is how long ranks wait for each other at the start: less than a minute, within which a run ends that has
// lost a rank.
func startLimit() (time.Duration, error) {
	text := os.Getenv(StartVariable)
	if text == "" {
		return 50 * time.Second, nil
	}
	limit, err := time.ParseDuration(text)
	if err != nil || limit <= 0 {
		return 0, structured.BadInput("%s is %q, expected a time such as 90s or 5m", StartVariable, text)
	}
	return limit, nil
}

// Join makes this process a member of the group of all that its launcher started; without a launcher, of those that the
// MPI library knows. It fails with a NotMetError if they do not all come. interrupt is called when another rank was
// interrupted. end must end the process: it is called when a rank is lost and a call of the library does not return, so
// that this rank can do nothing more.
func Join(ctx context.Context, from Launcher, interrupt func(), end func(error)) (*Member, error) {
	limit, err := startLimit()
	if err != nil {
		return nil, err
	}
	start, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m, err := join(start, from, interrupt, end)
	if err != nil && ctx.Err() == nil && start.Err() != nil {
		err = &NotMetError{Limit: limit}
	}
	return m, err
}

func join(ctx context.Context, from Launcher, interrupt func(), end func(error)) (*Member, error) {
	g, err := openMPIGroup(ctx, from)
	if err != nil {
		return nil, err
	}
	m := &Member{Group: g, Library: g.describe(), Launcher: from.Name, mpi: g}
	if err := from.check(g.Size(), m.Library); err != nil {
		return nil, err
	}
	if g.Size() == 1 {
		m.Group = Alone{}
		return m, nil
	}
	m.watch = &watch{interrupt: interrupt, conns: map[int]net.Conn{}, ended: map[int]chan struct{}{}}
	m.watch.after = func(lost error) { endStuck(g.inside, longestCall, lost, end) }
	return m, m.meet(ctx)
}

// check refuses a library that sees another number of processes than the launcher started, where that says how many.
func (l Launcher) check(sees int, library string) error {
	if l.Size > 0 && l.Size != sees {
		return fmt.Errorf("%s started %d processes, but %s sees %d: it is not the library of that launcher; name the right one in %s",
			l.Name, l.Size, library, sees, LibraryVariable)
	}
	return nil
}

// longestCall is how long a call of the library may take after a rank is lost. None of them waits for others, unless
// the library does. Tests lower it.
var longestCall = 10 * time.Second

// endStuck ends a process that stays in one call of the library for so long.
func endStuck(inside func() uint64, longest time.Duration, lost error, end func(error)) {
	for {
		call := inside()
		time.Sleep(longest)
		if call%2 == 1 && inside() == call {
			end(fmt.Errorf("%w; and a call of the MPI library does not return", lost))
			return
		}
	}
}

// meet begins the watch.
func (m *Member) meet(ctx context.Context) error {
	host, _ := os.Hostname()
	names, err := m.AllGather(ctx, fmt.Appendf(nil, "rank %d (%s, process %d)", m.Rank(), host, os.Getpid()))
	if err != nil {
		return err
	}
	hosts, err := m.AllGather(ctx, []byte(host))
	if err != nil {
		return err
	}
	for rank, h := range hosts {
		if string(h) == host {
			m.Here++
			if rank < m.Rank() {
				m.Local++
			}
		}
	}
	var here []byte
	var meeting error // why this rank has no connection
	accept := func() error { return nil }
	if m.Rank() == 0 {
		l, p, err := listen()
		if err == nil {
			here, err = json.Marshal(p)
			accept = func() error { return m.watch.accept(ctx, l, p, m.Size()) }
		}
		meeting = err
	}
	places, err := m.AllGather(ctx, here)
	if err != nil {
		return err
	}
	var p place
	switch {
	case len(places[0]) == 0: // rank 0 does not listen
	case m.Rank() == 0:
		meeting = accept()
	default:
		if err := json.Unmarshal(places[0], &p); err != nil {
			return err
		}
		meeting = m.watch.dial(ctx, p, m.Rank())
	}
	text := ""
	if meeting != nil {
		text = meeting.Error()
	}
	problems, err := m.AllGather(ctx, []byte(text))
	if err != nil {
		return err
	}
	for rank, text := range problems {
		if len(text) > 0 && m.Warning == "" {
			m.Warning = fmt.Sprintf("%s has no connection to watch the others: %s. Where a rank dies, it is left to the launcher to end the others", names[rank], text)
		}
	}
	for _, name := range names {
		m.watch.names = append(m.watch.names, string(name))
	}
	m.mpi.lost = m.watch.loss
	m.watch.begin()
	return nil
}

// Name is how messages name a rank.
func (m *Member) Name(rank int) string {
	if m.watch == nil || rank >= len(m.watch.names) {
		return fmt.Sprintf("rank %d", rank)
	}
	return m.watch.names[rank]
}

// Agree refuses to go on, as bad input, unless all ranks have the same facts: names with values, such as the version of
// the program. All ranks get the same error. A process alone agrees with itself.
func (m *Member) Agree(ctx context.Context, facts [][2]string) error {
	if m.Size() == 1 {
		return nil
	}
	mine, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	all, err := m.AllGather(ctx, mine)
	if err != nil {
		return err
	}
	var first, other [][2]string
	for rank, x := range all {
		if bytes.Equal(x, all[0]) {
			continue
		}
		if err := errors.Join(json.Unmarshal(all[0], &first), json.Unmarshal(x, &other)); err != nil {
			return err
		}
		for k := range max(len(first), len(other)) {
			if a, b := at(first, k), at(other, k); a != b {
				return structured.BadInput("%s has %s, but %s has %s: all ranks need the same", m.Name(rank), b, m.Name(0), a)
			}
		}
	}
	return nil
}

// at describes fact k.
func at(facts [][2]string, k int) string {
	if k >= len(facts) {
		return "nothing else"
	}
	value := facts[k][1]
	if len(value) > 200 {
		value = value[:200] + "…"
	}
	return strings.TrimSpace(facts[k][0] + " " + value)
}

// Finish waits until all ranks have done their work, and leave together. It fails if one of them does first, or if ctx
// ends; then the process leaves with that error.
func (m *Member) Finish(ctx context.Context) error {
	if m.mpi == nil {
		return nil
	}
	if m.watch == nil {
		return m.mpi.close(ctx)
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	m.watch.leave(leaves, "")
	_ = m.mpi.close(context.Background()) // all ranks get there
	return nil
}

// Leave ends the membership when the process is about to end with an error, of which the others learn at once. stopped
// tells an interrupt from a failure. Leave reports whether rank 0 has the same error, so that it need not be said
// again.
func (m *Member) Leave(ctx context.Context, err error, stopped func(error) bool) (said bool) {
	lost := (*LostError)(nil)
	switch {
	case m.mpi == nil:
		return false
	case m.watch == nil:
		_ = m.mpi.close(ctx)
		return false
	case errors.As(err, &lost):
		m.watch.leave(lost.kind(), lost.Text)
		return m.Rank() > 0 && lost.Rank > 0
	case stopped(err):
		m.watch.leave(interrupted, "")
		return m.Rank() > 0
	case structured.IsBadInput(err):
		m.watch.leave(refused, err.Error())
	default:
		m.watch.leave(failed, err.Error())
	}
	m.watch.mu.Lock()
	defer m.watch.mu.Unlock()
	return m.watch.last == err.Error()
}
