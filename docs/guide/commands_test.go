// Package guide holds the pages for people who use dsp. Its tests run the commands of these pages.
package guide

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
)

const asProgram = "DSP_GUIDE_AS_PROGRAM"

// The test is the program, too: under the name dsp it stands first in the path of the commands.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main())
	}
	os.Exit(m.Run())
}

// A block is fenced code of a page.
type block struct {
	word   string // the first one behind the fence
	reason string // what follows it there
	text   string
	line   int // of the fence, from 1
}

// blocksOf returns the fenced blocks of a page, and the lines outside of them.
func blocksOf(page string) (blocks []block, outside []string) {
	in := false
	for i, line := range strings.SplitAfter(page, "\n") {
		switch fence, found := strings.CutPrefix(line, "```"); {
		case found && !in:
			word, reason, _ := strings.Cut(strings.TrimSpace(fence), " ")
			blocks, in = append(blocks, block{word: word, reason: reason, line: i + 1}), true
		case found:
			in = false
		case in:
			blocks[len(blocks)-1].text += line
		default:
			outside = append(outside, line)
		}
	}
	return blocks, outside
}

const front = "../../README.md"

// pages returns the paths of the pages whose commands are run.
func pages(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(paths, front)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The blocks "sh" of a page run in order, in one folder. The lines of a block "text" behind one are among what it prints, in order. A block
// "console" is not run, and says why behind the word.
func TestCommands(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := t.TempDir()
	if err := os.Symlink(self, filepath.Join(program, "dsp")); err != nil {
		t.Skip(err)
	}
	for _, path := range pages(t) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			blocks, outside := blocksOf(read(t, path))
			for _, line := range outside {
				if strings.HasPrefix(line, "    dsp ") {
					t.Errorf("a command stands outside of fences: %s", line)
				}
			}
			s := session{t: t, shell: shell, program: program, folder: t.TempDir()}
			defer s.stop()
			for i, b := range blocks {
				switch {
				case b.word == "console" && b.reason == "":
					t.Errorf("%s:%d: the block does not say why it is not run", path, b.line)
				case b.word == "sh":
					printed := s.run(b)
					if i+1 < len(blocks) && blocks[i+1].word == "text" {
						promised(t, path, blocks[i+1], printed)
					}
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%.1f s of processor time", s.work.Seconds())
		})
	}
}

// A session runs the blocks of a page.
type session struct {
	t                      *testing.T
	shell, program, folder string
	server                 *exec.Cmd
	address                string // of the server
	work                   time.Duration
}

// command is the shell with a script, with dsp in its path.
func (s *session) command(ctx context.Context, script string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.shell, "-ec", script)
	c.Dir, c.WaitDelay = s.folder, time.Second
	c.Env = append(os.Environ(), asProgram+"=1", "DSP_CURVES=off", "GOGC=400",
		"PATH="+s.program+string(os.PathListSeparator)+os.Getenv("PATH"))
	return c
}

// run runs a block and returns what it prints. A server that the last line starts runs until the next one, or to the end of the page.
func (s *session) run(b block) string {
	s.t.Helper()
	script := strings.TrimRight(b.text, "\n")
	if strings.Contains(script, "curl ") {
		if _, err := exec.LookPath("curl"); err != nil {
			s.t.Skip("no curl")
		}
	}
	last := strings.LastIndex(script, "\n") + 1
	if strings.HasPrefix(script[last:], "dsp serve ") {
		s.stop()
		return s.serve(script[:last] + "exec " + script[last:] + " --listen 127.0.0.1:0")
	}
	if s.address != "" {
		script = strings.ReplaceAll(script, documented, s.address)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	c := s.command(ctx, script)
	printed, err := c.CombinedOutput()
	if c.ProcessState != nil {
		s.work += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	if err != nil {
		s.t.Fatalf("line %d: %v\n%s\n%s", b.line, err, script, printed)
	}
	return string(printed)
}

// documented is where a server listens on a page. In the tests the system chooses the port.
const documented = "127.0.0.1:8080"

var listens = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`)

// serve starts a server and returns what it prints until it says where it listens.
func (s *session) serve(script string) string {
	s.t.Helper()
	s.server = s.command(context.Background(), script)
	output, err := s.server.StderrPipe()
	if err == nil {
		err = s.server.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var printed strings.Builder
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		printed.WriteString(lines.Text() + "\n")
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			s.address = m[1]
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return strings.ReplaceAll(printed.String(), s.address, documented)
		}
	}
	s.t.Fatalf("the server ended: %v\n%s", s.server.Wait(), printed.String())
	return ""
}

// stop ends the server.
func (s *session) stop() {
	if s.server == nil || s.server.ProcessState != nil {
		return
	}
	err := s.server.Process.Signal(syscall.SIGTERM)
	if err == nil {
		err = s.server.Wait()
	}
	if err != nil {
		s.t.Errorf("the server ends with %v", err)
	}
	s.server = nil
}

var (
	number  = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?`)
	seconds = regexp.MustCompile(`^ ?(?:s|ms|µs|minutes|seconds)(?:\W|$)`)
)

// promised checks that the lines of a block are among those printed, in order. An ellipsis stands for any text, or any lines. Numbers may
// differ by 5 per cent, because kernels of different processors round differently, and times as they like.
func promised(t *testing.T, path string, b block, printed string) {
	t.Helper()
	rest := strings.Split(printed, "\n")
	for i, line := range strings.Split(strings.TrimRight(b.text, "\n"), "\n") {
		if strings.TrimSpace(line) == "" || strings.TrimSpace(line) == "…" {
			continue
		}
		k := 0
		for k < len(rest) && !sameLine(line, rest[k]) {
			k++
		}
		if k == len(rest) {
			t.Fatalf("%s:%d: promised, and not printed:\n%s\nPrinted:\n%s", path, b.line+1+i, line, printed)
		}
		rest = rest[k+1:]
	}
}

// sameLine reports whether a printed line is what a page promises.
func sameLine(promise, printed string) bool {
	var pattern strings.Builder
	var expected []float64
	words := func(text string) {
		for i, part := range strings.Split(text, "…") {
			if i > 0 {
				pattern.WriteString(".*")
			}
			pattern.WriteString(blanks.ReplaceAllString(regexp.QuoteMeta(part), `\s+`))
		}
	}
	pattern.WriteString("^")
	from := 0
	promise = strings.TrimRight(promise, " \t")
	for _, at := range number.FindAllStringIndex(promise, -1) {
		words(promise[from:at[0]])
		from = at[1]
		if seconds.MatchString(promise[from:]) {
			pattern.WriteString(number.String())
			continue
		}
		pattern.WriteString("(" + number.String() + ")")
		expected = append(expected, valueOf(promise[at[0]:at[1]]))
	}
	words(promise[from:])
	found := regexp.MustCompile(pattern.String() + `\s*$`).FindStringSubmatch(printed)
	if found == nil {
		return false
	}
	for i, x := range expected {
		y := valueOf(found[i+1])
		if max(x-y, y-x) > 0.05*max(x, y) {
			return false
		}
	}
	return true
}

var blanks = regexp.MustCompile(`[ \t]+`)

func valueOf(number string) float64 {
	x, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
	if err != nil {
		panic(err) // the pattern admits numbers alone
	}
	return x
}

// Promises are kept by what may differ, and by nothing else.
func TestPromises(t *testing.T) {
	for _, c := range []struct {
		promise, printed string
		kept             bool
	}{
		{"accuracy:  97.30%; FB1: 91.76", "accuracy: 97.10%; FB1:  92.00", true},
		{"accuracy:  97.30%; FB1: 91.76", "accuracy: 97.10%; FB1:  82.00", false},
		{"16 passes took 2.89 s", "16 passes took 9.10 s", true},
		{"16 passes took 2.89 s", "26 passes took 2.89 s", false},
		{"1\tmange\tmanger", "1\tmange\tmanger", true},
		{"1\tmange\tmanger", "1\tmange\tmange", false},
		{`{"id":"0","labels":["B-PER","O"],"score":…}`, `{"id":"0","labels":["B-PER","O"],"score":1.5e-3,"probability":0.9}`, true},
		{`{"id":"0","labels":["B-PER","O"],"score":…}`, `{"id":"0","labels":["B-PER","B-PER"],"score":1}`, false},
		{"2000 examples", "2,000 examples", true},
	} {
		if sameLine(c.promise, c.printed) != c.kept {
			t.Errorf("%q against %q: kept is %v, expected %v", c.promise, c.printed, !c.kept, c.kept)
		}
	}
}

// word is one that has a letter or a digit: bars of tables are none.
var word = regexp.MustCompile(`\S*[\pL\pN]\S*`)

// Pages stay short, and so does the guide.
func TestLength(t *testing.T) {
	total := 0
	for _, path := range pages(t) {
		page := read(t, path)
		words := len(word.FindAllString(page, -1))
		switch path {
		case front:
			if len(page) > 9000 {
				t.Errorf("%s has %d characters, expected at most 9,000", path, len(page))
			}
			continue
		case "recipes.md": // is many pages in one
		default:
			if words > 900 {
				t.Errorf("%s has %d words, expected at most 900", path, words)
			}
		}
		total += words
	}
	if total > 20000 {
		t.Errorf("the guide has %d words, expected at most 20,000", total)
	}
}
