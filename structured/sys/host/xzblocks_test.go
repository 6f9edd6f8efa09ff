package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/seeds"
)

// Blocks of xz files whose dictionaries would take much memory are refused wherever they are in the file, before the
// memory is taken. Files of several blocks and streams, also of data that cannot be compressed, are read as they are.
func TestXZDictionaries(t *testing.T) {
	rng := rand.New(rand.NewPCG(seeds.Draw(t), 0))
	noise := make([]byte, 1<<16)
	for k := range noise {
		noise[k] = byte(rng.Uint32())
	}
	pack := func(text []byte, block int64, check byte) []byte {
		var packed bytes.Buffer
		w, err := xz.WriterConfig{BlockSize: block, CheckSum: check, NoCheckSum: check == xz.None}.NewWriter(&packed)
		if err == nil {
			_, err = w.Write(text)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return packed.Bytes()
	}
	read := func(packed []byte) ([]byte, error) {
		f, err := Unpack(io.NopCloser(bytes.NewReader(packed)), "data.xz")
		if err != nil {
			return nil, err
		}
		return io.ReadAll(f)
	}
	short := 1 + rng.IntN(2000)
	padded := append(pack(noise[:short], 1<<20, xz.SHA256), make([]byte, 4+4*rng.IntN(4))...)
	for n, check := range []byte{xz.CRC32, xz.CRC64, xz.SHA256, xz.None} {
		text := bytes.Repeat([]byte("a text "), 2000+rng.IntN(2000))
		last := pack(text, 10_001, check)
		whole := slices.Concat(pack(noise, 20_000+rng.Int64N(30_000), xz.CRC64), padded, last)
		if got, err := read(whole); err != nil || !bytes.Equal(got, slices.Concat(noise, noise[:short], text)) {
			t.Errorf("%d bytes read: %v", len(got), err)
		}
		// The header of the last block: its size, a flag, the filter, one byte of properties, padding, and a checksum.
		header := whole[len(whole)-len(last)+bytes.LastIndex(last, []byte{2, 0, 0x21, 1}):][:12]
		for _, c := range []struct {
			dictionary byte
			bad        bool
		}{{30, false}, {33, true}, {38, true}, {40, true}} { // 128, 384, 2048 and 4096 MiB
			header[4] = c.dictionary
			binary.LittleEndian.PutUint32(header[8:], crc32.ChecksumIEEE(header[:8]))
			if !c.bad && n > 0 {
				continue
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(whole)
			runtime.ReadMemStats(&after)
			want := "xz data with a dictionary of more than 256 MiB"
			if (err != nil) != c.bad || c.bad && (!structured.IsBadInput(err) || !strings.Contains(err.Error(), want)) {
				t.Errorf("dictionary %d: %v", c.dictionary, err)
			}
			if f, err := Unpack(io.NopCloser(bytes.NewReader(whole)), "data.xz"); c.bad && err == nil {
				lines := NewLines(f, "data.xz")
				for _, more := lines.Next(); more; _, more = lines.Next() {
				}
				if err := lines.Err(); err == nil || strings.Count(err.Error(), "data.xz") != 1 ||
					!strings.Contains(err.Error(), want) {
					t.Errorf("dictionary %d, read by lines: %v", c.dictionary, err)
				}
			}
			if taken := after.TotalAlloc - before.TotalAlloc; c.bad && taken > 256<<20 {
				t.Errorf("dictionary %d: %d MiB were taken", c.dictionary, taken>>20)
			}
		}
	}
}
