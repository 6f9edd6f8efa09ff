//go:build (linux || darwin) && !static

package ranks_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// asRank is the variable that makes the test program a rank of one of the programs below.
const asRank = "DSP_TEST_AS_RANK"

var programs = map[string]func(ctx context.Context, m *ranks.Member) error{
	"sums": sums, "gathers": gathers, "disagrees": disagrees, "dies": dies, "fails": fails, "large": large, "pieces": pieces, "stuck": stuck, "refuses": refuses, "absent": sums,
	"interrupted": sums, "hangs": hangs,
}

func TestMain(m *testing.M) {
	program, ok := programs[os.Getenv(asRank)]
	if !ok {
		os.Exit(m.Run())
	}
	ctx, interrupt := signal.NotifyContext(context.Background(), os.Interrupt)
	from, _ := ranks.Launched()
	if who, moment := leaver(); from.Rank == who {
		act := stops
		if os.Getenv(asRank) == "interrupted" {
			act = interrupts
		}
		if moment < 0 {
			act(nil)
		}
		fmt.Printf("met, or not: %v\n", ranks.MeetUntil(ctx, from, moment, act)) // no test gets here
		os.Exit(3)
	}
	g, err := ranks.Join(ctx, from, interrupt, func(err error) {
		fmt.Printf("stuck: %v\n", err)
		os.Exit(1)
	})
	if err == nil {
		if err = program(ctx, g); err == nil {
			err = g.Finish(ctx)
		}
	}
	if err != nil {
		fmt.Printf("error: %v\n", err) // before others end, and with them all
	}
	if err != nil && g != nil {
		g.Leave(ctx, err, func(err error) bool { return errors.Is(err, context.Canceled) })
	}
	switch {
	case structured.IsBadInput(err):
		os.Exit(2)
	case errors.Is(err, context.Canceled):
		os.Exit(130)
	case err != nil:
		os.Exit(1)
	}
	ranks.Exit(0)
	os.Exit(0)
}

// asLeaver is the variable that names a rank that never gets to the end of the meeting, and the moment of the meeting
// (see ranks.MeetUntil) at which it is gone. At −1 it has not started MPI.
const asLeaver = "DSP_TEST_LEAVER"

// leaver returns the rank that leaves, or −1, and the moment.
func leaver() (rank, moment int) {
	if _, err := fmt.Sscan(os.Getenv(asLeaver), &rank, &moment); err != nil {
		return -1, 0
	}
	return rank, moment
}

// stops stops this process.
func stops([][]byte) {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	select {} // a launcher may continue it before it kills it
}

// interrupts interrupts rank 0, which has told its name, and stops this process.
func interrupts(names [][]byte) {
	_, text, _ := strings.Cut(string(names[0]), ", process ")
	pid := 0
	if _, err := fmt.Sscan(text, &pid); err != nil || pid < 2 {
		fmt.Printf("rank 0 is %q: %v\n", names[0], err)
		os.Exit(3)
	}
	_ = syscall.Kill(pid, syscall.SIGINT)
	stops(nil)
}

// Sums have the bits of additions in the order of the ranks, whatever the number of pieces and the windows. They would
// not have these in another order.
func sums(ctx context.Context, m *ranks.Member) error {
	share := func(rank, j int) float64 { return math.Exp(math.Sin(float64(1+rank*7919+j*31)) * 20) }
	for _, pieces := range []int{0, 1, 2, 5, 16} {
		for n, window := range []int{0, 1, 3, 100, 0, 1, 3, 100} {
			back := pieces // how many pieces come back to all ranks
			if n >= 4 {
				back = min(n-4, pieces)
			}
			all := make([][]float64, pieces)
			memory := make([][]byte, pieces)
			for k := range all {
				all[k] = make([]float64, k%4*1000) // some are empty
				memory[k] = vec.Bytes(all[k])
			}
			add := func(lo, hi int) error {
				for k := lo; k < hi; k++ {
					for j := range all[k] {
						all[k][j] += share(m.Rank(), j+k)
					}
				}
				return nil
			}
			var err error
			if n < 4 {
				err = m.Sum(ctx, memory, window, add)
			} else {
				err = m.SumToLast(ctx, memory, back, window, add)
			}
			if err != nil {
				return err
			}
			if m.Rank() < m.Size()-1 {
				all = all[:back]
			}
			differs := 0
			for k := range all {
				for j, x := range all[k] {
					want, backwards := 0.0, 0.0
					for r := range m.Size() {
						want += share(r, j+k)
						backwards += share(m.Size()-1-r, j+k)
					}
					if x != want {
						return fmt.Errorf("rank %d, piece %d of %d: %v, expected %v", m.Rank(), k, pieces, x, want)
					}
					if want != backwards {
						differs++
					}
				}
			}
			if m.Size() > 2 && len(all) > 2 && differs == 0 {
				return errors.New("the order does not matter in this test")
			}
		}
	}
	return nil
}

// Gather keeps the order of the ranks and takes any sizes, Broadcast spreads what rank 0 has, and Traffic counts.
func gathers(ctx context.Context, m *ranks.Member) error {
	for _, size := range []int{0, 1, 70000} {
		mine := slices.Repeat([]byte{byte(m.Rank() + 1)}, size*m.Rank()) // rank 0 gives nothing
		all, err := m.AllGather(ctx, mine)
		if err != nil {
			return err
		}
		for r, x := range all {
			if len(x) != size*r || len(x) > 0 && (x[0] != byte(r+1) || x[len(x)-1] != byte(r+1)) {
				return fmt.Errorf("rank %d gave %d bytes, expected %d", r, len(x), size*r)
			}
		}
	}
	for _, size := range []int{0, 1, 70000} { // and Complete does so in place
		var ends []int
		for r := range m.Size() {
			ends = append(ends, size*r*(r+1)/2)
		}
		x := make([]byte, ends[m.Size()-1])
		for j := ends[m.Rank()] - size*m.Rank(); j < ends[m.Rank()]; j++ {
			x[j] = byte(m.Rank() + 1)
		}
		if err := m.AllGatherV(ctx, x, ends); err != nil {
			return err
		}
		for r, end := range ends {
			if n := slices.IndexFunc(x[end-size*r:end], func(b byte) bool { return b != byte(r+1) }); n >= 0 {
				return fmt.Errorf("byte %d of rank %d is %d after Complete", n, r, x[end-size*r+n])
			}
		}
	}
	x := make([]float32, 1000)
	for j := range x {
		x[j] = float32(j + 5000*m.Rank())
	}
	if err := m.Broadcast(ctx, vec.Bytes(x), 0); err != nil {
		return err
	}
	if x[999] != 999 {
		return fmt.Errorf("rank %d has %v after a broadcast, expected 999", m.Rank(), x[999])
	}
	x[7] = float32(m.Rank())
	if err := m.Broadcast(ctx, vec.Bytes(x), m.Size()-1); err != nil {
		return err
	}
	if x[7] != float32(m.Size()-1) {
		return fmt.Errorf("rank %d has %v after a broadcast from the last rank", m.Rank(), x[7])
	}
	if seen := m.Traffic().Bytes; m.Rank() > 0 && seen < 4000 || seen > 1<<20 {
		return fmt.Errorf("rank %d counts %d bytes", m.Rank(), seen)
	}
	if m.Here != m.Size() || m.Local != m.Rank() {
		return fmt.Errorf("%d of %d ranks are on this machine, and %d of them before rank %d", m.Here, m.Size(), m.Local, m.Rank())
	}
	return m.Barrier(ctx)
}

// pieces gathers and broadcasts what does not fit into one call.
func pieces(ctx context.Context, m *ranks.Member) error {
	ranks.SetMost(3000)
	return gathers(ctx, m)
}

// large sums a piece of 16 MiB, more than any library sends at once.
func large(ctx context.Context, m *ranks.Member) error {
	x := make([]float64, 1<<21)
	pieces := [][]byte{vec.Bytes(x[:1<<20]), vec.Bytes(x[1<<20:])}
	err := m.Sum(ctx, pieces, 1, func(lo, hi int) error {
		for j := lo << 20; j < hi<<20; j++ {
			x[j] += float64(j)
		}
		return nil
	})
	if j := len(x) - 1; err == nil && x[j] != float64(m.Size()*j) {
		err = fmt.Errorf("%v, expected %v", x[j], m.Size()*j)
	}
	return err
}

func disagrees(ctx context.Context, m *ranks.Member) error {
	if err := m.Agree(ctx, [][2]string{{"version", "v1"}, {"--reg", "2"}}); err != nil {
		return err
	}
	return m.Agree(ctx, [][2]string{{"version", "v1"}, {"--seed", fmt.Sprint(7 + m.Rank()/2)}})
}

// dies loses its last rank while the others wait for it. Signals of the launcher are ignored, so that only the watch
// can end the wait.
func dies(ctx context.Context, m *ranks.Member) error {
	if m.Rank() == m.Size()-1 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return m.Barrier(ctx)
}

// fails has a rank that ends with an error while the others wait for it.
func fails(ctx context.Context, m *ranks.Member) error {
	if m.Rank() == 1 {
		return errors.New("no such file")
	}
	time.Sleep(100 * time.Millisecond)
	return m.Sum(ctx, [][]byte{make([]byte, 8)}, 1, func(int, int) error { return nil })
}

// refuses has a rank that refuses bad input while the others wait for it.
func refuses(ctx context.Context, m *ranks.Member) error {
	if m.Rank() == 1 {
		return structured.BadInput("no such file")
	}
	err := m.Barrier(ctx)
	if !structured.IsBadInput(err) {
		return errors.Join(errors.New("not bad input"), err)
	}
	return err
}

// stuck has a rank that is done, and is interrupted while it waits for one that is not. Both end.
func stuck(ctx context.Context, m *ranks.Member) error {
	if m.Rank() == 1 {
		return syscall.Kill(os.Getpid(), syscall.SIGINT)
	}
	<-ctx.Done()
	return ctx.Err()
}

// hangs has a rank that fails while another stays in a call of the library.
func hangs(ctx context.Context, m *ranks.Member) error {
	if m.Rank() == 1 {
		return errors.New("no such file")
	}
	ranks.GetStuck(m)
	return m.Barrier(ctx)
}

func TestUnderLaunchers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range rankstest.Launchers(t) {
		for _, c := range []struct {
			program string
			n       int
			says    string // empty: it succeeds
		}{
			{"sums", 2, ""}, {"sums", 5, ""}, {"gathers", 3, ""}, {"pieces", 3, ""}, {"large", 2, ""},
			{"sums", 1, ""},
			{"disagrees", 3, ") has --seed 8, but rank 0 ("},
			{"fails", 3, "failed: no such file"},
			{"refuses", 3, "failed: no such file"},
			{"stuck", 2, "error: context canceled"},
			{"hangs", 2, "failed: no such file; and a call of the MPI library does not return"},
			{"dies", 3, ""},
		} {
			t.Run(fmt.Sprintf("%s/%s/%d", l.Name, c.program, c.n), func(t *testing.T) {
				t.Parallel() // launchers take a second to end after a failure
				out, err := l.Run(t, c.n, []string{asRank + "=" + c.program}, self)
				switch {
				case c.program == "dies":
					if err == nil {
						t.Errorf("no error:\n%s", out)
					}
				case (err == nil) != (c.says == "") || !strings.Contains(out, c.says):
					t.Errorf("%v, expected %q in:\n%s", err, c.says, out)
				case c.program == "refuses" && l.KeepsExitCode() && (strings.Contains(out, "not bad input") || exitCode(err) != 2):
					t.Errorf("%v, expected exit code 2:\n%s", err, out)
				}
			})
		}
	}
}

// Ranks that have ended well leave the job alive: what each rank's shell does next is done, whatever the others take.
// MPICH's launcher kills a job in which a process ends without a farewell.
func TestShellsGoOn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range rankstest.AllLaunchers(t) {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			out, err := l.Run(t, 2, []string{asRank + "=sums"}, "sh", "-c", `"$0" && sleep 0.2 && echo goes on`, self)
			if err != nil || strings.Count(out, "goes on") != 2 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A rank that has stopped before all have met cannot be watched. The others wait for it no longer than they are told,
// in the library and at every step of the meeting.
func TestRanksThatDoNotMeet(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range rankstest.Launchers(t) {
		for _, leaver := range []string{
			"1 -1", // before MPI starts
			"1 0",  // before the meeting
			"0 4",  // rank 0 has not told the others where it is
			"0 5",  // it has, and does not accept them
			"1 5",  // it does not dial
			"1 6",  // it has dialled
		} {
			t.Run(l.Name+"/"+leaver, func(t *testing.T) {
				t.Parallel()
				out, err := l.Run(t, 2, []string{asRank + "=absent", asLeaver + "=" + leaver, ranks.StartVariable + "=3s"}, self)
				if err == nil || !strings.Contains(out, "error: not all ranks have met within 3s") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
	t.Setenv(ranks.StartVariable, "soon")
	if _, err := ranks.Join(t.Context(), ranks.Launcher{}, nil, nil); !structured.IsBadInput(err) || !strings.Contains(err.Error(), `DSP_MPI_START is "soon", expected`) {
		t.Errorf("a start of %q: %v", "soon", err)
	}
}

// An interrupt ends the wait for ranks that do not come to the meeting.
func TestInterruptedMeeting(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range rankstest.Launchers(t) {
		for _, leaver := range []string{"1 1", "1 5"} { // rank 0 gathers where the others are, or accepts them
			t.Run(l.Name+"/"+leaver, func(t *testing.T) {
				t.Parallel()
				out, err := l.Run(t, 2, []string{asRank + "=interrupted", asLeaver + "=" + leaver, ranks.StartVariable + "=1h"}, self)
				if err == nil || !strings.Contains(out, "error: context canceled") || l.KeepsExitCode() && exitCode(err) != 130 {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// exitCode returns the exit code of a program, or −1.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}

// A launcher whose library is another one starts processes that do not see each other. They refuse to work side by
// side.
func TestAnotherLibrary(t *testing.T) {
	all := rankstest.Launchers(t)
	if len(all) < 2 {
		t.Skip("only one MPI here")
	}
	self, _ := os.Executable()
	for k, l := range all {
		other := map[string]string{"Open MPI": "libmpi.so.40", "MPICH": "libmpich.so.12"}[all[1-k].Name]
		out, err := l.Run(t, 2, []string{asRank + "=sums", ranks.LibraryVariable + "=" + other}, self)
		if err == nil || !strings.Contains(out, "is not the library of that launcher") {
			t.Errorf("%s with %s: %v\n%s", l.Name, other, err, out)
		}
	}
}

// Alone sums, gathers and broadcasts what it has.
func TestAlone(t *testing.T) {
	ctx, m := t.Context(), ranks.Solo()
	if err := errors.Join(sums(ctx, m), gathers(ctx, m), large(ctx, m)); err != nil {
		t.Error(err)
	}
}
