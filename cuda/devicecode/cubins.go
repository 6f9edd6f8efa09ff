package devicecode

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Architectures are those for which make cubins assembles the kernels.
var Architectures = []string{"sm_80", "sm_86", "sm_89", "sm_90"}

// cubinsVariable names the environment variable that names a folder of cubins.
const cubinsVariable = "DSP_CUDA_CUBINS"

// CubinFile returns where the cubin of a module's PTX for an architecture lies in a folder of cubins. The name holds a
// hash of the PTX, so that a cubin of another version is never loaded.
func CubinFile(architecture, module, ptx string) string {
	return filepath.Join(architecture, fmt.Sprintf("%s-%.16x.cubin", module, sha256.Sum256([]byte(ptx))))
}

// Cubin returns the kernels of a module as assembled for an architecture, from the folder that DSP_CUDA_CUBINS names,
// or "" if it has none.
func (s *Set) Cubin(architecture, module string) (string, error) {
	folder := os.Getenv(cubinsVariable)
	if folder == "" {
		return "", nil
	}
	if _, err := os.Stat(folder); err != nil {
		return "", fmt.Errorf("%s: %w", cubinsVariable, err)
	}
	ptx, err := s.PTX(module)
	if err != nil {
		return "", err
	}
	cubin, err := os.ReadFile(filepath.Join(folder, CubinFile(architecture, module, ptx)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(cubin), err
}
