//go:build (linux || darwin) && !static

package ranks

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// library is an MPI library that is loaded.
type library struct {
	abi
	path    string
	version string

	world, bytes, returns uintptr // handles

	getVersion, initThread, finalize, commRank, commSize, setErrhandler, errorString uintptr
	isend, irecv, test, ibcast, iallgather, iallgatherv, ibarrier                    uintptr
}

// functions are the functions of a library, where it keeps them.
func (l *library) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"MPI_Get_library_version": &l.getVersion, "MPI_Init_thread": &l.initThread, "MPI_Finalize": &l.finalize,
		"MPI_Comm_rank": &l.commRank, "MPI_Comm_size": &l.commSize, "MPI_Comm_set_errhandler": &l.setErrhandler, "MPI_Error_string": &l.errorString,
		"MPI_Isend": &l.isend, "MPI_Irecv": &l.irecv, "MPI_Test": &l.test,
		"MPI_Ibcast": &l.ibcast, "MPI_Iallgather": &l.iallgather, "MPI_Iallgatherv": &l.iallgatherv, "MPI_Ibarrier": &l.ibarrier,
	}
}

// loadLibrary loads the library that fits a launcher. Loading starts nothing.
func loadLibrary(from Launcher) (*library, error) {
	names, named := candidates(from)
	for _, name := range names {
		lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL) // Open MPI's plugins look for its symbols
		if err != nil {
			if named {
				return nil, fmt.Errorf("%s: cannot load the MPI library %s: %w", LibraryVariable, name, err)
			}
			continue
		}
		l := &library{path: name}
		for symbol, at := range l.functions() {
			if *at, err = purego.Dlsym(lib, symbol); err != nil {
				return nil, fmt.Errorf("%s lacks %s, which MPI has since version 3; %s", name, symbol, install)
			}
		}
		text, n := onHeap[byte](8192), onHeap[int32](1)
		purego.SyscallN(l.getVersion, address(text), address(n))
		whole := string(text[:min(max(int(n[0]), 0), len(text))])
		l.version = firstLine(whole)
		if l.abi, err = abiOf(name, whole, func(symbol string) bool { _, err := purego.Dlsym(lib, symbol); return err == nil }); err != nil {
			return nil, err
		}
		for to, h := range map[*uintptr]handle{&l.world: l.abi.world, &l.bytes: l.abi.bytes, &l.returns: l.abi.returns} {
			*to = h.number
			if h.symbol == "" {
				continue
			}
			if *to, err = purego.Dlsym(lib, h.symbol); err != nil {
				return nil, fmt.Errorf("%s lacks %s, which Open MPI has; %s", name, h.symbol, install)
			}
		}
		return l, nil
	}
	return nil, fmt.Errorf("no MPI library found (tried %v on the system's path and LD_LIBRARY_PATH); %s", names, install)
}

// FindLibrary says which MPI library would be used, or why none.
func FindLibrary() (string, error) {
	from, _ := Launched()
	l, err := loadLibrary(from)
	if err != nil {
		return "", err
	}
	return l.describe(), nil
}

func (l *library) describe() string { return fmt.Sprintf("%s (%s)", l.version, l.path) }
