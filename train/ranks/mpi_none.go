//go:build static || (!linux && !darwin)

package ranks

import (
	"context"
	"errors"
	"runtime"
)

var errNoMPI = errors.New("this program loads no MPI library: only programs for Linux and macOS do, if they are built without the tag static; this one is for " + runtime.GOOS)

// FindLibrary says that there is none.
func FindLibrary() (string, error) { return "", errNoMPI }

// Exit returns: no MPI has started.
func Exit(int) {}

// mpiGroup has no values here.
type mpiGroup struct {
	Alone
	rank, size int
	lost       func() error
}

func (g *mpiGroup) describe() string            { return "" }
func (g *mpiGroup) inside() uint64              { return 0 }
func (g *mpiGroup) close(context.Context) error { return nil }

func openMPIGroup(context.Context, Launcher) (*mpiGroup, error) { return nil, errNoMPI }
