package cli

import "os"

// standardOutput is os.Stdout with the first error of a write, for those who cannot return it: cobra's help and
// version.
type standardOutput struct{ failed error }

func (s *standardOutput) Write(text []byte) (int, error) {
	n, err := os.Stdout.Write(text)
	if s.failed == nil {
		s.failed = err
	}
	return n, err
}
