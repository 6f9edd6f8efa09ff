package main

import "fmt"

// kind is what the scan wants to know about an instruction.
type kind uint8

const (
	other  kind = iota
	wide        // uses vectors of 256 or 512 bits
	legacy      // an SSE instruction without VEX prefix on vector registers
	clears      // vzeroupper or vzeroall: upper halves are clean after it
	jump        // within a function, to a place that is in the instruction
)

// instruction is one instruction of x86-64.
type instruction struct {
	size   int
	kind   kind
	target int // of a jump, relative to the instruction's first byte
}

// Opcodes by what follows them, as in Intel's manual, volume 2, appendix A.
type shape uint8

const (
	bad   shape = iota
	alone       // nothing
	m           // ModRM
	m1          // ModRM and a byte
	m4          // ModRM and four bytes; two after the prefix 66
	i1          // a byte
	i2          // two bytes
	i3          // three bytes
	i4          // four bytes; two after the prefix 66
	move        // four bytes; eight after REX.W
	i8          // eight bytes
	test1       // ModRM, and a byte if its register field is 0 or 1
	test4       // ModRM, and four bytes if its register field is 0 or 1
	near1       // distance of a jump, one byte
	near4       // distance of a jump, four bytes
)

// opcodes returns a table from ranges of opcodes.
func opcodes(ranges map[shape][][2]int) (of [256]shape) {
	for s, list := range ranges {
		for _, r := range list {
			for op := r[0]; op <= r[1]; op++ {
				of[op] = s
			}
		}
	}
	return of
}

func one(op int) [2]int { return [2]int{op, op} }

// arithmetic returns the opcodes of add, or, adc, sbb, and, sub, xor and cmp, from their first offset to the last.
func arithmetic(first, last int) (all [][2]int) {
	for op := 0; op < 0x40; op += 8 {
		all = append(all, [2]int{op + first, op + last})
	}
	return all
}

var (
	oneByte = opcodes(map[shape][][2]int{
		alone: {{0x50, 0x5f}, {0x6c, 0x6f}, {0x90, 0x99}, {0x9b, 0x9f}, {0xa4, 0xa7}, {0xaa, 0xaf}, one(0xc3), one(0xc9), {0xcb, 0xcc}, one(0xcf),
			{0xec, 0xef}, one(0xf1), {0xf4, 0xf5}, {0xf8, 0xfd}},
		m:     append(arithmetic(0, 3), one(0x63), [2]int{0x84, 0x8f}, [2]int{0xd0, 0xd3}, [2]int{0xd8, 0xdf}, [2]int{0xfe, 0xff}),
		m1:    {one(0x6b), one(0x80), one(0x83), {0xc0, 0xc1}, one(0xc6)},
		m4:    {one(0x69), one(0x81), one(0xc7)},
		i1:    append(arithmetic(4, 4), one(0x6a), one(0xa8), [2]int{0xb0, 0xb7}, one(0xcd), [2]int{0xe4, 0xe7}),
		i2:    {one(0xc2), one(0xca)},
		i3:    {one(0xc8)},
		i4:    append(arithmetic(5, 5), one(0x68), one(0xa9)),
		move:  {{0xb8, 0xbf}},
		i8:    {{0xa0, 0xa3}},
		test1: {one(0xf6)},
		test4: {one(0xf7)},
		near1: {{0x70, 0x7f}, {0xe0, 0xe3}, one(0xeb)},
		near4: {{0xe8, 0xe9}},
	})
	twoBytes = opcodes(map[shape][][2]int{ // after 0F
		alone: {{0x05, 0x09}, one(0x0b), {0x30, 0x35}, one(0x37), one(0x77), {0xa0, 0xa2}, {0xa8, 0xaa}, {0xc8, 0xcf}},
		m: {{0x00, 0x03}, one(0x0d), {0x10, 0x2f}, {0x40, 0x6f}, {0x74, 0x76}, {0x78, 0x7f}, {0x90, 0x9f}, one(0xa3), one(0xa5), one(0xab),
			{0xad, 0xb9}, {0xbb, 0xc1}, one(0xc3), one(0xc7), {0xd0, 0xff}},
		m1:    {{0x70, 0x73}, one(0xa4), one(0xac), one(0xba), one(0xc2), {0xc4, 0xc6}},
		near4: {{0x80, 0x8f}},
	})
)

// decode reads the first instruction of code.
func decode(code []byte) (in instruction, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("an instruction is cut off")
		}
	}()
	at, small, long := 0, false, false
prefixes:
	for ; ; at++ {
		switch code[at] {
		case 0x66:
			small = true
		case 0xf2, 0xf3, 0xf0, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65:
		default:
			break prefixes
		}
	}
	if code[at]&0xf0 == 0x40 {
		long = code[at]&8 != 0
		at++
	}
	var s shape
	op := code[at]
	at++
	switch op {
	case 0xc4, 0xc5, 0x62:
		return decodeVector(code, at-1)
	case 0x0f:
		op = code[at]
		at++
		switch op {
		case 0x38, 0x3a:
			s = m
			if op == 0x3a {
				s = m1
			}
			if code[at] < 0xf0 {
				in.kind = legacy
			}
			at++
		default:
			s = twoBytes[op]
			if op >= 0x10 && op <= 0x17 || op >= 0x28 && op <= 0x2f || op >= 0x50 && op <= 0x76 || op >= 0x7c && op <= 0x7f ||
				op == 0xc2 || op >= 0xc4 && op <= 0xc6 || op >= 0xd0 && op <= 0xfe {
				in.kind = legacy
			}
		}
	default:
		s = oneByte[op]
	}
	word := 4
	if small {
		word = 2
	}
	switch s {
	case alone:
	case m:
		at += modRM(code[at:])
	case m1:
		at += modRM(code[at:]) + 1
	case m4:
		at += modRM(code[at:]) + word
	case i1, i2, i3:
		at += int(s-i1) + 1
	case i4:
		at += word
	case move:
		if at += word; long {
			at += 4
		}
	case i8:
		at += 8
	case test1, test4:
		reads := code[at]>>3&7 < 2
		at += modRM(code[at:])
		switch {
		case reads && s == test1:
			at++
		case reads:
			at += word
		}
	case near1:
		in.kind, in.target = jump, at+1+int(int8(code[at]))
		at++
	case near4:
		if op != 0xe8 { // of a call
			in.kind, in.target = jump, at+4+int(int32(uint32(code[at])|uint32(code[at+1])<<8|uint32(code[at+2])<<16|uint32(code[at+3])<<24))
		}
		at += 4
	default:
		return in, fmt.Errorf("unknown instruction % x", code[:min(len(code), 15)])
	}
	_ = code[at-1]
	in.size = at
	return in, nil
}

// decodeVector reads an instruction with a prefix VEX or EVEX at code[at].
func decodeVector(code []byte, at int) (in instruction, err error) {
	const first, second, third = 1, 2, 3 // groups of opcodes: 0F, 0F 38, 0F 3A
	group, length := 0, 0                // length: 0 for 128 bits, 1 for 256, 2 for 512
	evex := false
	switch code[at] {
	case 0xc5:
		group, length = first, int(code[at+1]>>2&1)
		at += 2
	case 0xc4:
		group, length = int(code[at+1]&0x1f), int(code[at+2]>>2&1)
		at += 3
	default:
		evex = true
		group, length = int(code[at+1]&7), int(code[at+3]>>5&3)
		at += 4
	}
	op := code[at]
	at++
	if group == 0 || group > third {
		return in, fmt.Errorf("unknown instruction % x", code[:min(len(code), 15)])
	}
	masks := !evex && group == first && op >= 0x41 && op <= 0x4b // kandw and its kin have no vectors
	integers := !evex && group == second && op >= 0xf0           // andn, bzhi and their kin
	switch {
	case !evex && group == first && op == 0x77:
		in.kind, in.size = clears, at
		return in, nil
	case length > 0 && !masks && !integers:
		in.kind = wide
	}
	at += modRM(code[at:])
	if group == third || group == first && (op >= 0x70 && op <= 0x73 || op == 0xc2 || op >= 0xc4 && op <= 0xc6) {
		at++
	}
	_ = code[at-1]
	in.size = at
	return in, nil
}

// modRM returns how many bytes a ModRM byte, its SIB byte and its displacement take.
func modRM(code []byte) int {
	mode, base, size := code[0]>>6, code[0]&7, 1
	if mode == 3 {
		return size
	}
	if base == 4 {
		base = code[1] & 7
		size++
	}
	switch {
	case mode == 1:
		size++
	case mode == 2, base == 5:
		size += 4
	}
	return size
}
