package text

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
)

// AfterBlank returns the place in a file of size bytes, from at on, where a range of it may begin: after the first
// blank line that begins there, so that no sequence is cut. It is 0 for 0, and size if there is no such line.
func AfterBlank(f io.ReaderAt, size, at int64) (int64, error) {
	if at <= 0 {
		return 0, nil
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, at-1, size-at+1), 1<<16)
	for first, blank := true, true; ; {
		piece, err := in.ReadSlice('\n') // a line, or a part of a long one
		at += int64(len(piece))
		blank = blank && IsBlank(bytes.TrimSuffix(piece, []byte("\n")))
		switch {
		case errors.Is(err, io.EOF):
			return size, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return 0, err
		case blank && !first: // the first line began before
			return at - 1, nil
		default:
			first, blank = false, true
		}
	}
}

// CountLines returns how many lines r ends.
func CountLines(r io.Reader) (int, error) {
	_, lines, err := skipLines(r, math.MaxInt)
	return lines, err
}

// BytesOf returns how many bytes the first lines of r have; with fewer lines, those of all.
func BytesOf(r io.Reader, lines int) (int64, error) {
	bytes, _, err := skipLines(r, lines)
	return bytes, err
}

// skipLines reads lines until there are so many, or r ends, and returns how many bytes and lines these are.
func skipLines(r io.Reader, most int) (size int64, lines int, err error) {
	buffer := make([]byte, 1<<16)
	for lines < most {
		n, err := r.Read(buffer)
		rest := buffer[:n]
		found := bytes.Count(rest, []byte{'\n'})
		if lines+found < most {
			size, lines = size+int64(n), lines+found
		} else {
			for ; lines < most; lines++ {
				end := bytes.IndexByte(rest, '\n') + 1
				size, rest = size+int64(end), rest[end:]
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return size, lines, nil
		case err != nil:
			return 0, 0, err
		}
	}
	return size, lines, nil
}
