package ranks

import (
	"fmt"
	"os"
	"strings"
)

// LibraryVariable names the variable of the environment that says which MPI library to load.
const LibraryVariable = "DSP_MPI_LIBRARY"

// install says how to get a library.
const install = "install one (Debian: apt-get install libopenmpi3 or libmpich12; conda: openmpi or mpich), or name its file in " + LibraryVariable

// abi is how a family of libraries writes what the standard leaves open.
type abi struct {
	name    string
	world   handle  // of MPI_COMM_WORLD
	bytes   handle  // of MPI_BYTE
	returns handle  // of MPI_ERRORS_RETURN
	serial  uintptr // MPI_THREAD_SERIALIZED
	inPlace uintptr // MPI_IN_PLACE
}

// handle is an object that a library has from the beginning: at the address of a symbol, or with a number.
type handle struct {
	symbol string
	number uintptr
}

var (
	openMPI  = abi{"Open MPI", handle{symbol: "ompi_mpi_comm_world"}, handle{symbol: "ompi_mpi_byte"}, handle{symbol: "ompi_mpi_errors_return"}, 2, 1}
	mpich    = abi{"MPICH", handle{number: 0x44000000}, handle{number: 0x4c00010d}, handle{number: 0x54000001}, 2, ^uintptr(0)}
	standard = abi{"the standard ABI of MPI 5", handle{number: 0x101}, handle{number: 0x247}, handle{number: 0x142}, 2048, 1}
)

// libraryNames are files to try, by the family that the launcher belongs to.
var libraryNames = map[bool][]string{
	false: {"libmpi.so.40", "libmpi.so.80", "libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so", "libmpi.so", "libmpi.dylib"},
	true:  {"libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so", "libmpi.so.40", "libmpi.so.80", "libmpi.so", "libmpich.dylib", "libmpi.dylib"},
}

// abiOf tells the family of a library from its file, its symbols and what it says of itself.
func abiOf(path, version string, has func(symbol string) bool) (abi, error) {
	switch base := path[strings.LastIndexByte(path, '/')+1:]; {
	case strings.Contains(base, "mpi_abi"):
		return standard, nil
	case has(openMPI.world.symbol):
		return openMPI, nil
	}
	for _, kin := range []string{"MPICH", "Intel(R) MPI", "MVAPICH"} {
		if strings.Contains(version, kin) {
			return mpich, nil
		}
	}
	return abi{}, fmt.Errorf("%s is an MPI library of an unknown kind (%q): dsp knows Open MPI, MPICH and libraries with its ABI (Intel MPI, MVAPICH, Cray), and the standard ABI of MPI 5; %s",
		path, firstLine(version), install)
}

// firstLine returns the first line of what a library says of itself.
func firstLine(version string) string {
	version, _, _ = strings.Cut(strings.TrimSpace(version), "\n")
	version, _, _ = strings.Cut(version, ", package:")
	return strings.Join(strings.Fields(version), " ")
}

// candidates are the files to try in order, and whether the user named the only one.
func candidates(l Launcher) (names []string, named bool) {
	if name := os.Getenv(LibraryVariable); name != "" {
		return []string{name}, true
	}
	return libraryNames[l.mpich], false
}
