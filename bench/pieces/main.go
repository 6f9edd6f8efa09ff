// Command pieces prints the numbers of the pieces of words, for bench/pieces.py: it reads a word per line, as a JSON
// string, and writes the numbers of its pieces per line, separated by spaces. Its argument is the folder of an encoder.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/dsp-go/dsp/models/data/pieces"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pieces:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("expected the folder of an encoder")
	}
	t, err := pieces.Open(os.Args[1])
	if err != nil {
		return err
	}
	c := t.NewCutter()
	out := bufio.NewWriter(os.Stdout)
	var ids []int32
	var line []byte
	for words := json.NewDecoder(os.Stdin); words.More(); {
		var word string
		if err := words.Decode(&word); err != nil {
			return err
		}
		if ids, err = c.Cut(ids[:0], word); err != nil {
			return err
		}
		line = line[:0]
		for _, id := range ids {
			line = append(strconv.AppendInt(line, int64(id), 10), ' ')
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
