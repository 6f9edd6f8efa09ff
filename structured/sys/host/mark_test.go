package host

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A mark of byte order at the beginning is no part of a file, plain or compressed, as a whole and in ranges; one mark
// only, and none elsewhere.
func TestByteOrderMark(t *testing.T) {
	for text, want := range map[string]string{
		ByteOrderMark + "# a\nb": "# a\nb", "# a\nb": "# a\nb", ByteOrderMark: "", "": "", "\xef\xbb": "\xef\xbb",
		"a" + ByteOrderMark: "a" + ByteOrderMark, ByteOrderMark + ByteOrderMark + "x": ByteOrderMark + "x",
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		for kind, content := range map[string]string{"plain": text, "gzip": packed.String()} {
			path := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(f)
			if err != nil || f.Close() != nil || string(got) != want {
				t.Errorf("%s, %q: read %q, %v", kind, text, got, err)
			}
			at, err := OpenAt(path)
			if err != nil {
				t.Fatal(err)
			}
			ranged := make([]byte, len(want)+1)
			n, err := at.ReadAt(ranged, 0)
			if err != io.EOF || string(ranged[:n]) != want {
				t.Errorf("%s, %q: the range is %q, %v", kind, text, ranged[:n], err)
			}
			if len(want) > 1 {
				if n, err := at.ReadAt(ranged[:1], 1); n != 1 || err != nil || ranged[0] != want[1] {
					t.Errorf("%s, %q: byte 1 is %q, %v", kind, text, ranged[:n], err)
				}
			}
			if err := at.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
