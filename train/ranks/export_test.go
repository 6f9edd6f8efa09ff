//go:build (linux || darwin) && !static

package ranks

import (
	"context"
	"net"
	"time"

	"github.com/ebitengine/purego"
)

// SetMost sets the largest number of bytes in a call.
func SetMost(bytes int) { most = bytes }

// GetStuck lets a member stay for ever in its next call of the library that asks whether something is done. A loss ends
// the process soon then.
func GetStuck(m *Member) {
	longestCall = 100 * time.Millisecond
	m.mpi.test = purego.NewCallback(func(_, _, _ uintptr) uintptr { select {} })
}

// MeetUntil joins as Join does, but calls act at one moment of the meeting: 2k before the meeting gathers something for
// the k-th time, counted from 0, and 2k+1 after that. act gets the names of the ranks, which the meeting gathers first.
func MeetUntil(ctx context.Context, from Launcher, moment int, act func(names [][]byte)) error {
	g, err := openMPIGroup(ctx, from)
	if err != nil {
		return err
	}
	w := &watch{interrupt: func() {}, conns: map[int]net.Conn{}, ended: map[int]chan struct{}{}}
	m := &Member{Group: &acting{mpiGroup: g, moment: moment, act: act}, mpi: g, watch: w}
	return m.meet(ctx)
}

// acting is a group that acts at one moment.
type acting struct {
	*mpiGroup
	moment int // that is left
	act    func(names [][]byte)
	names  [][]byte
}

func (a *acting) AllGather(ctx context.Context, mine []byte) ([][]byte, error) {
	a.pass()
	all, err := a.mpiGroup.AllGather(ctx, mine)
	if a.names == nil {
		a.names = all
	}
	a.pass()
	return all, err
}

// pass passes a moment.
func (a *acting) pass() {
	if a.moment == 0 {
		a.act(a.names)
	}
	a.moment--
}

// SetPause sets how long rank 0 waits for one more item.
func SetPause(pause time.Duration) { pauseOfInput = pause }
