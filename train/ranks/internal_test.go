package ranks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		variables map[string]string
		name      string
		size      int
		rank      int
		ok        bool
	}{
		{nil, "", 0, 0, false},
		{map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "2", "PMIX_RANK": "2"}, "mpirun of Open MPI", 4, 2, true},
		{map[string]string{"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, "mpirun of Open MPI", 1, 0, false},
		{map[string]string{"PMI_SIZE": "3", "PMI_RANK": "0"}, "mpirun of MPICH", 3, 0, true},
		{map[string]string{"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, "", 0, 0, false}, // a script of sbatch, not of srun
		{map[string]string{"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "7"}, "srun", 8, 7, true},
		{map[string]string{"PMIX_RANK": "1"}, "a launcher with PMIx", 0, 1, true},
	} {
		l, ok := launched(func(name string) (string, bool) { x, ok := c.variables[name]; return x, ok })
		if ok != c.ok || l.Name != c.name || l.Size != c.size || l.Rank != c.rank {
			t.Errorf("%v: %+v, %v", c.variables, l, ok)
		}
	}
}

// A library sees as many processes as the launcher started, where that says how many; one process alone is not
// excepted.
func TestProcessesOfTheLauncher(t *testing.T) {
	for _, x := range []struct {
		started, seen int
		bad           bool
	}{{0, 1, false}, {0, 4, false}, {1, 1, false}, {4, 4, false}, {4, 1, true}, {1, 4, true}, {4, 5, true}} {
		err := Launcher{Name: "srun", Size: x.started}.check(x.seen, "a library")
		want := fmt.Sprintf("srun started %d processes, but a library sees %d: ", x.started, x.seen)
		if (err != nil) != x.bad || x.bad && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

func TestABI(t *testing.T) {
	open := func(symbol string) bool { return symbol == "ompi_mpi_comm_world" }
	none := func(string) bool { return false }
	for _, c := range []struct {
		path, version string
		has           func(string) bool
		want          string
	}{
		{"libmpi.so.40", "Open MPI v4.1.4, package: Debian", open, "Open MPI"},
		{"/opt/lib/libmpi.so.12", "Intel(R) MPI Library 2021.9", none, "MPICH"},
		{"libmpich.so.12", "MPICH Version:\t4.0.2", none, "MPICH"},
		{"/usr/lib/libmpi_abi.so.0", "MPICH Version: 5.0", none, "the standard ABI of MPI 5"},
	} {
		if got, err := abiOf(c.path, c.version, c.has); err != nil || got.name != c.want {
			t.Errorf("%s: %q, %v; expected %q", c.path, got.name, err, c.want)
		}
	}
	if _, err := abiOf("libmpi.so.1", "Own MPI 1.0\nof us", none); err == nil || !strings.Contains(err.Error(), `("Own MPI 1.0")`) || !strings.Contains(err.Error(), "DSP_MPI_LIBRARY") {
		t.Errorf("an unknown library: %v", err)
	}
}

func TestNoLibrary(t *testing.T) {
	t.Setenv(LibraryVariable, "/no/libmpi.so")
	if _, err := FindLibrary(); err == nil || !strings.Contains(err.Error(), "/no/libmpi.so") {
		t.Errorf("a missing library: %v", err)
	}
}

// watches connects a watch for each of some ranks, as Join does.
func watches(t *testing.T, size int) []*watch {
	t.Helper()
	l, p, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]*watch, size)
	for r := range all {
		all[r] = &watch{interrupt: func() {}, conns: map[int]net.Conn{}, ended: map[int]chan struct{}{}}
		for n := range size {
			all[r].names = append(all[r].names, "rank "+string(rune('0'+n)))
		}
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil { // a stranger is not let in
		_, _ = c.Write(make([]byte, 20))
		defer c.Close()
	}
	done := make(chan error)
	go func() { done <- all[0].accept(t.Context(), l, p, size) }()
	for r := 1; r < size; r++ {
		if err := all[r].dial(t.Context(), p, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return all
}

// reads returns the error of reading from a connection.
func reads(c net.Conn) <-chan error {
	end := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		end <- err
	}()
	return end
}

// Rank 0 waits for connections no longer than its context lasts, and takes no stranger for a rank.
func TestAcceptEnds(t *testing.T) {
	defer func(before time.Duration) { dialling = before }(dialling)
	dialling = time.Hour // so that nothing else ends the wait
	l, p, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	w, done := &watch{conns: map[int]net.Conn{}}, make(chan error)
	go func() { done <- w.accept(ctx, l, p, 2) }()
	almost := slices.Clone(p.Token)
	almost[len(almost)-1] ^= 1
	for what, hello := range map[string][]byte{
		"a stranger": make([]byte, 20), "rank 1 with another token": append(almost, 1, 0, 0, 0),
		"rank 0": append(slices.Clone(p.Token), 0, 0, 0, 0), "rank 2 of 2": append(slices.Clone(p.Token), 2, 0, 0, 0),
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(hello)
		select {
		case err := <-done: // it has let somebody in, and waits no more
			t.Fatalf("rank 0 takes %s for rank 1: %v", what, err)
		case err := <-reads(c): // until rank 0 has refused it, and waits again
			if err == nil {
				t.Errorf("rank 0 answers %s", what)
			}
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) || len(w.conns) > 0 {
		t.Errorf("%v, with %d connections", err, len(w.conns))
	}
}

// eventually waits for a loss.
func eventually(t *testing.T, w *watch) string {
	t.Helper()
	for range 6000 {
		if err := w.loss(); err != nil {
			return err.Error()
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("a loss that nobody learns of")
	return ""
}

// Every rank learns of one whose connection ends, and why.
func TestWatch(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(w *watch)
		says string
	}{
		{"dies", func(w *watch) { _ = w.conns[0].Close() }, "rank 2 is lost: it died"},
		{"fails", func(w *watch) { _ = w.send(0, failed, "disk full") }, "rank 2 failed: disk full"},
	} {
		all := watches(t, 4)
		for _, w := range all {
			w.begin()
		}
		c.end(all[2])
		for _, r := range []int{0, 1, 3} {
			if got := eventually(t, all[r]); got != c.says {
				t.Errorf("%s: rank %d learns %q, expected %q", c.name, r, got, c.says)
			}
		}
		for _, w := range all {
			w.leave(leaves, "")
		}
	}
}

// The death of rank 0, too, is known to all; an interrupt reaches all; and ranks that leave in order are not lost.
func TestWatchOfRankZero(t *testing.T) {
	all := watches(t, 3)
	for _, w := range all {
		w.begin()
	}
	all[0].mu.Lock()
	all[0].over = true // a dead process tells nobody anything
	all[0].mu.Unlock()
	for _, c := range all[0].conns {
		_ = c.Close()
	}
	for r := 1; r < 3; r++ {
		if got := eventually(t, all[r]); got != "rank 0 is lost: it died" {
			t.Errorf("rank %d learns %q", r, got)
		}
	}

	all = watches(t, 3)
	reached := make(chan int, 2)
	for r := range 2 {
		all[r].interrupt = func() { reached <- r }
	}
	for _, w := range all {
		w.begin()
	}
	_ = all[2].send(0, interrupted, "")
	if a, b := <-reached, <-reached; a+b != 1 {
		t.Errorf("an interrupt reached ranks %d and %d", a, b)
	}
	go all[2].leave(interrupted, "") // which waits until rank 0 has left
	all[0].leave(interrupted, "")
	<-all[2].ended[0]
	for r := range 2 {
		if err := all[r].loss(); !errors.Is(err, context.Canceled) { // whatever context it waits with
			t.Errorf("rank %d: %v after an interrupt of another", r, err)
		}
	}

	all = watches(t, 3)
	for _, w := range all {
		w.begin()
	}
	for _, w := range all {
		w.mu.Lock()
		w.over = true // as after the barrier before leaving
		w.mu.Unlock()
	}
	for _, w := range all {
		w.leave(leaves, "")
	}
	for r, w := range all {
		if err := w.loss(); err != nil {
			t.Errorf("rank %d: %v after all have left in order", r, err)
		}
	}
}

// After a loss, a call of the library that does not return ends the process; many short ones do not.
func TestEndStuck(t *testing.T) {
	looks, lost := []uint64{1, 3, 4, 4, 5, 5}, errors.New("rank 1 is lost") // before and after a while: two calls, none, and one
	endStuck(func() uint64 {
		call := looks[0]
		looks = looks[1:]
		return call
	}, 1, lost, func(err error) {
		if len(looks) > 0 || !errors.Is(err, lost) || !strings.Contains(err.Error(), "a call of the MPI library does not return") {
			t.Errorf("%v, with %d looks left", err, len(looks))
		}
		lost = nil
	})
	if lost != nil {
		t.Error("it did not end the process")
	}
}

// An error that comes while results of an earlier round are awaited is that of the round it belongs to.
func TestTake(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only what is wrong takes so long
	defer cancel()
	w := &worker[int, int]{results: make(chan int, 3), failed: make(chan error, 1)}
	w.err = errors.New("item 3 is bad") // take has seen it while it waited for the first result
	for _, k := range []int{0, 1, 2} {
		w.results <- k
	}
	for _, want := range []struct {
		results string
		failed  bool
	}{{"[0 1]", false}, {"[2]", true}, {"[]", true}} {
		if got, err := w.take(ctx, 2); fmt.Sprint(got) != want.results || (err != nil) != want.failed || ctx.Err() != nil {
			t.Errorf("%v, %v; expected %+v", got, err, want)
		}
	}
}

// Rank 0 listens at a port that it tells the others, with a token that is another one for each run.
func TestPlace(t *testing.T) {
	l, p, err := listen()
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	other, q, err := listen()
	if err != nil {
		t.Skip(err)
	}
	defer other.Close()
	if len(p.Token) < 16 || slices.Equal(p.Token, q.Token) || p.Port == 0 || p.Port != l.Addr().(*net.TCPAddr).Port {
		t.Errorf("places %+v and %+v", p, q)
	}
}

// Rank 0 tells the others addresses of its host at which they can reach it, none of which means another host there.
func TestReachable(t *testing.T) {
	var own []net.Addr
	for _, a := range []string{"127.0.0.1/8", "10.1.2.3/16", "::1/128", "169.254.7.7/16", "fe80::5/64",
		"fd12::9/64", "203.0.113.4/24", "2001:db8::1/32"} {
		ip, of, err := net.ParseCIDR(a)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, &net.IPNet{IP: ip, Mask: of.Mask})
	}
	if got, want := reachable(own), []string{"10.1.2.3", "fd12::9", "203.0.113.4",
		"2001:db8::1"}; !slices.Equal(got, want) {
		t.Errorf("told %q, expected %q", got, want)
	}
}

// A rank reaches rank 0 at the first of its addresses that answers.
func TestDialTriesEveryAddress(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	p := place{Host: "elsewhere.invalid", Addresses: []string{"::1", "127.0.0.1"},
		Port: l.Addr().(*net.TCPAddr).Port, Token: []byte("of sixteen bytes")}
	zero, one := &watch{conns: map[int]net.Conn{}}, &watch{conns: map[int]net.Conn{}}
	done := make(chan error)
	go func() { done <- zero.accept(t.Context(), l, p, 2) }()
	err = one.dial(t.Context(), p, 1)
	if err = errors.Join(err, <-done); err != nil || one.conns[0] == nil || zero.conns[1] == nil {
		t.Fatalf("no connection: %v", err)
	}
	_, _ = one.conns[0].Close(), zero.conns[1].Close()
}
