package predictions

import (
	"bufio"
	"strconv"
)

// WriteNumbered writes text with the numbers first, first+1, … at the given places; a negative place has none.
func WriteNumbered(w *bufio.Writer, text []byte, first int, places ...int) error {
	from := 0
	for k, at := range places {
		if at < 0 {
			continue
		}
		w.Write(text[from:at]) // bufio errors are sticky
		w.Write(strconv.AppendInt(w.AvailableBuffer(), int64(first+k), 10))
		from = at
	}
	_, err := w.Write(text[from:])
	return err
}
