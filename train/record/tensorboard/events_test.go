package tensorboard

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The checksum of RFC 3720's ascending bytes is 0x46dd794e.
func TestMask(t *testing.T) {
	b := make([]byte, 32)
	for i := range b {
		b[i] = byte(i)
	}
	if c := crc32.Checksum(b, castagnoli()); c != 0x46dd794e {
		t.Fatalf("crc32c %#x", c)
	}
	if got, want := mask(b), uint32(0x951f_7892); got != want {
		t.Fatalf("masked %#x, want %#x", got, want)
	}
}

// readEvent is one decoded record.
type readEvent struct {
	time    float64
	step    uint64
	version string
	scalars []Scalar
}

// fields splits a message into its fields and calls do on each.
func fields(t *testing.T, b []byte, do func(n protowire.Number, v any)) {
	t.Helper()
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		switch typ {
		case protowire.BytesType:
			v, k := protowire.ConsumeBytes(b)
			n = k
			do(num, v)
		case protowire.VarintType:
			v, k := protowire.ConsumeVarint(b)
			n = k
			do(num, v)
		case protowire.Fixed32Type:
			v, k := protowire.ConsumeFixed32(b)
			n = k
			do(num, v)
		case protowire.Fixed64Type:
			v, k := protowire.ConsumeFixed64(b)
			n = k
			do(num, v)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
	}
}

func read(t *testing.T, b []byte) (events []readEvent) {
	t.Helper()
	for len(b) > 0 {
		n := binary.LittleEndian.Uint64(b)
		if got := binary.LittleEndian.Uint32(b[8:]); got != mask(b[:8]) {
			t.Fatalf("length checksum %#x", got)
		}
		data := b[12 : 12+n]
		if got := binary.LittleEndian.Uint32(b[12+n:]); got != mask(data) {
			t.Fatalf("data checksum %#x", got)
		}
		b = b[16+n:]
		var e readEvent
		fields(t, data, func(num protowire.Number, v any) {
			switch num {
			case 1:
				e.time = math.Float64frombits(v.(uint64))
			case 2:
				e.step = v.(uint64)
			case 3:
				e.version = string(v.([]byte))
			case 5:
				fields(t, v.([]byte), func(_ protowire.Number, value any) {
					var s Scalar
					fields(t, value.([]byte), func(num protowire.Number, v any) {
						switch num {
						case 1:
							s.Tag = string(v.([]byte))
						case 2:
							s.Value = math.Float32frombits(v.(uint32))
						}
					})
					e.scalars = append(e.scalars, s)
				})
			}
		})
		events = append(events, e)
	}
	return events
}

func TestEvents(t *testing.T) {
	var b bytes.Buffer
	w, err := newWriter(&b, 1.5e9)
	if err != nil {
		t.Fatal(err)
	}
	scalars := []Scalar{{"objective", 0.25}, {"dev/token_error", -1}}
	if err := w.scalars(1.5e9+0.5, 3, scalars...); err != nil {
		t.Fatal(err)
	}
	if err := w.scalars(1.5e9+1, 300); err != nil {
		t.Fatal(err)
	}
	want := []readEvent{{1.5e9, 0, "brain.Event:2", nil}, {1.5e9 + 0.5, 3, "", scalars}, {1.5e9 + 1, 300, "", nil}}
	if got := read(t, b.Bytes()); !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}
