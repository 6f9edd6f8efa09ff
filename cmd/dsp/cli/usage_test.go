package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// What a command line lacks or has too much of is bad input, which names what was probably meant.
func TestUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.conll")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"train", file}, "dsp train takes flags only, found \"" + file + "\"; did you mean --train " + file + "?"},
		{[]string{"eval", file}, "dsp eval takes flags only, found \"" + file + "\"; did you mean --model " + file + " or --data " + file + "?"},
		{[]string{"predict", file}, "dsp predict takes flags only, found \"" + file + "\"; did you mean --model " + file + " or --input " + file + "?"},
		{[]string{"train", "no-such-file"}, `dsp train takes flags only, found "no-such-file"; see dsp train --help`},
		{[]string{"trian"}, `dsp has no verb "trian"; did you mean train?`}, {[]string{"version"}, `dsp has no verb "version"; did you mean dsp --version?`},
		{[]string{"zzzzzzzz"}, `dsp has no verb "zzzzzzzz"; see dsp --help`},
		{[]string{"train", "--passses", "3"}, "dsp train has no flag --passses; did you mean --passes?"}, {[]string{"train", "-passes", "3"}, "dsp train has no flag -passes; did you mean --passes?"},
		{[]string{"train", "--input", "x"}, "dsp train has no flag --input; did you mean --train?"}, {[]string{"predict", "--out", "x"}, "dsp predict has no flag --out; did you mean --to?"},
		{[]string{"train", "--passes", "x"}, "--passes x: expected a whole number"}, {[]string{"train", "--lr", "x"}, "--lr x: expected a number"},
		{[]string{"train", "--passes", "99999999999999999999"}, "--passes 99999999999999999999: expected a whole number of 64 bits, which this is too large for"},
		{[]string{"serve", "--listen", "", "--model", "m"}, "--listen: it is empty, expected ADDRESS:PORT"},
		{[]string{"predict", "--model", "m", "--input", "x", "--to", "-"}, "--to -: expected the name of a file; leave the flag out to print to standard output"},
		{[]string{"train", "--seed", "-1"}, "--seed -1: expected a whole number that is not negative"}, {[]string{"train", "--stream=x"}, "--stream x: expected true or false"},
		{[]string{"train", "--text", "x"}, "dsp train"},
	} {
		root := Root()
		root.SetArgs(c.args)
		root.SetOut(new(strings.Builder))
		root.SetErr(new(strings.Builder))
		if err := root.Execute(); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(c.want, "; ") && err.Error() != c.want {
			t.Errorf("%q: %v\nexpected %s", c.args, err, c.want)
		}
	}
}
