package host

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/dsp-go/dsp/structured"
)

// Any range of a file can be read in any order, compressed or not, and reading beyond the end says so.
func TestOpenAt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 300_000)
	for i := range text {
		text[i] = "ab\n"[r.IntN(3)]
	}
	for name, pack := range map[string]func(io.Writer) (io.WriteCloser, error){
		"plain": nil,
		"gzip":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"xz":    func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		t.Run(name, func(t *testing.T) {
			content := text
			if pack != nil {
				var b bytes.Buffer
				// as of files that were packed one by one and joined
				for _, piece := range [][]byte{text[:len(text)/3], text[len(text)/3:]} {
					z, err := pack(&b)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := z.Write(piece); err != nil || z.Close() != nil {
						t.Fatal(err)
					}
				}
				content = b.Bytes()
			}
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := OpenAt(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for range 50 {
				from := r.IntN(len(text) + 10)
				p := make([]byte, r.IntN(1000))
				want := text[min(from, len(text)):min(from+len(p), len(text))]
				n, err := f.ReadAt(p, int64(from))
				if !bytes.Equal(p[:n], want) || n < len(p) && !errors.Is(err, io.EOF) || n == len(p) && n > 0 && err != nil {
					t.Fatalf("%d bytes from %d on: %d, %v, expected %d", len(p), from, n, err, len(want))
				}
			}
		})
	}
}

// Standard input and folders have no ranges.
func TestIsFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]bool{"-": false, dir: false, path: true, link: true} {
		if is, err := IsFile(path); is != want || err != nil {
			t.Errorf("%s: %v, %v", path, is, err)
		}
	}
	if _, err := IsFile(filepath.Join(dir, "none")); !structured.IsBadInput(err) {
		t.Errorf("a file that is not there: %v, expected bad input", err)
	}
}
