package pieces

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/dsp-go/dsp/structured"
)

// precompiled is the table of replacements of a SentencePiece model: a double-array trie (Darts) over bytes, whose
// values are places in a list of texts that end with a zero byte.
type precompiled struct {
	units []uint32
	texts []byte
}

func newPrecompiled(raw json.RawMessage) (normaliser, error) {
	var p struct {
		Table string `json:"precompiled_charsmap"`
	}
	if err := decode(raw, "Precompiled", &p); err != nil {
		return nil, err
	}
	table, err := base64.StdEncoding.DecodeString(p.Table)
	if err != nil {
		return nil, structured.BadInput("Precompiled: precompiled_charsmap: %w", err)
	}
	if len(table) == 0 {
		return plainly(func(s string) string { return s }), nil
	}
	if len(table) < 4 || uint64(binary.LittleEndian.Uint32(table)) > uint64(len(table)-4) {
		return nil, structured.BadInput("Precompiled: precompiled_charsmap ends in the middle")
	}
	n := int(binary.LittleEndian.Uint32(table))
	t := &precompiled{units: make([]uint32, n/4), texts: table[4+n:]}
	for k := range t.units {
		t.units[k] = binary.LittleEndian.Uint32(table[4+4*k:])
	}
	return t.normalise, nil
}

// normalise replaces graphemes that the table has, and in the others the characters that it has. Only short graphemes
// are looked up whole, as in SentencePiece's ports.
func (p *precompiled) normalise(s string, most int) (string, error) {
	var b strings.Builder
	for state := -1; s != ""; {
		if err := checkGrowth(b.Len(), most); err != nil {
			return "", err
		}
		var grapheme string
		grapheme, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		if len(grapheme) < 6 {
			if to, ok := p.replacement(grapheme); ok {
				b.Write(to)
				continue
			}
		}
		for i, r := range grapheme {
			part := grapheme[i : i+utf8.RuneLen(r)]
			if to, ok := p.replacement(part); ok {
				b.Write(to)
			} else {
				b.WriteString(part)
			}
		}
	}
	return b.String(), checkGrowth(b.Len(), most)
}

// replacement returns what the shortest prefix of s in the table is replaced by.
func (p *precompiled) replacement(s string) ([]byte, bool) {
	at := uint32(0)
	unit := func() (uint32, bool) {
		if int(at) >= len(p.units) {
			return 0, false
		}
		return p.units[at], true
	}
	offset := func(u uint32) uint32 { return u >> 10 << (u & (1 << 9) >> 6) }
	u, ok := unit()
	if !ok {
		return nil, false
	}
	at ^= offset(u)
	for i := 0; i < len(s) && s[i] != 0; i++ {
		at ^= uint32(s[i])
		if u, ok = unit(); !ok || u&(1<<31|0xFF) != uint32(s[i]) {
			return nil, false
		}
		at ^= offset(u)
		if u>>8&1 == 1 { // a key ends here
			leaf, ok := unit()
			if from := leaf & (1<<31 - 1); ok && int(from) <= len(p.texts) {
				text := p.texts[from:]
				if end := bytes.IndexByte(text, 0); end >= 0 {
					text = text[:end]
				}
				return text, true
			}
			return nil, false
		}
	}
	return nil, false
}
