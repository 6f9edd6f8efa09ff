package ranks

import (
	"os"
	"strconv"
)

// Launcher is what started this process as one of several.
type Launcher struct {
	Name     string // as in messages
	Size     int    // how many it started; 0: it does not say
	Rank     int    // the number of this process; −1: it does not say
	Local    int    // its number among those on the same machine; −1: it does not say
	variable string // that says so
	mpich    bool   // its processes find each other by PMI, as MPICH's do
}

// launchers are the variables that launchers set.
var launchers = []struct {
	name, size, rank, local string
	mpich                   bool
}{
	{"mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", false},
	{"mpirun of MVAPICH", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", true},
	{"mpirun of MPICH", "PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID", true},
	{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID", false},
	{"a launcher with PMIx", "", "PMIX_RANK", "", false},
}

// Launched returns what started this process as one of several, by the variables of its environment. A process that was
// started alone, even by a launcher, has none.
func Launched() (Launcher, bool) { return launched(os.LookupEnv) }

func launched(lookup func(string) (string, bool)) (Launcher, bool) {
	number := func(name string, otherwise int) int {
		if text, ok := lookup(name); ok && name != "" {
			if n, err := strconv.Atoi(text); err == nil && n >= 0 {
				return n
			}
		}
		return otherwise
	}
	for _, l := range launchers {
		variable := l.size
		if variable == "" {
			variable = l.rank
		}
		if _, ok := lookup(variable); !ok {
			continue
		}
		found := Launcher{Name: l.name, Size: number(l.size, 0), Rank: number(l.rank, -1), Local: number(l.local, -1), variable: variable, mpich: l.mpich}
		return found, found.Size != 1
	}
	return Launcher{}, false
}
