//go:build (linux || darwin) && !static

package ranks

import (
	"sync/atomic"
	"time"

	"github.com/ebitengine/purego"
)

// finalized says that an MPI library has started in this process, and ended.
var finalized atomic.Bool

// longestExit is how long C's exit may take: it only says farewell.
const longestExit = 10 * time.Second

// Exit ends the process with a code as C programs end, by C's exit, if MPI has started in it and ended well; else it
// returns. Call it right before os.Exit, which ends the process without that. MPICH since 4.2 tells its launcher at C's
// exit, and not in MPI_Finalize, that a process has ended well, and its launcher kills the whole job where one ends
// without that: a rank's shell would not get to its next command.
func Exit(code int) {
	if !finalized.Load() {
		return
	}
	exit, err := purego.Dlsym(purego.RTLD_DEFAULT, "exit")
	if err != nil {
		return
	}
	go purego.SyscallN(exit, uintptr(code))
	time.Sleep(longestExit)
}
