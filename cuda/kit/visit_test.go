//go:build linux

package kit_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeDsp fails a check of the selftest, unless it runs alone, and does everything else.
const fakeDsp = `#!/bin/sh
case "$*" in
info*) echo "GPU       $FAKE_GPU" ;;
selftest*--only*) echo "ok    matrix products, float32                                 1  0.0e+00      0.0  fine" ;;
selftest*)
	echo "      check                                                  cases    error  seconds  found"
	echo "ok    arrays, copies and graphs                               2000  0.0e+00      0.0  fine"
	echo "FAIL  matrix products, float32                                   1  1.0e+00      0.0  entry 3 is |7| \"or\" 8 × 9"
	exit 1 ;;
bench*) echo "Viterbi with paths                        B=4096, T=64, Y=32                             0.115 ms   12 %" >&2 ;;
train*)
	while [ "$1" != --out ]; do shift; done
	mkdir -p "$2"
	echo model >"$2/model.safetensors"
	echo '{"objective": 1.5, "passes": 3}' ;;
esac
`

// fakeTest fails or hangs in one of its tests, if the test binary of its name should.
const fakeTest = `#!/bin/sh
[ -n "$DSP_CUDA_LIBRARY" ] || [ "$DSP_CUDA_TEST" = device ] || exit 4
case "$LD_LIBRARY_PATH" in */usr/local/nvidia/lib64*) ;; *) exit 5 ;; esac
case "$(basename "$0") $*" in
*-test.run*|*-test.skip*) echo "--- PASS: TestOther (0.00s)" ;;
device*) echo "--- PASS: TestA (0.00s)"; echo "--- FAIL: TestB (0.00s)"; echo "    --- FAIL: TestB/part (0.00s)"; exit 1 ;;
resident*) echo "=== RUN   TestHangs"; trap "" TERM; sleep 1000 ;;
driver*) cp "$FAKE_OUT/visit.json" "$FAKE_OUT/before.json"; echo "--- PASS: TestA (0.00s)" ;;
*) echo "--- PASS: TestA (0.00s)" ;;
esac
`

const fakeSanitizer = `#!/bin/sh
[ "$1 $3 $4" = "--tool --error-exitcode 9" ] && [ "$DSP_CUDA_MEMORY" = guarded ] || exit 6
shift 4
"$@"
`

// results is what visit.sh writes.
type results struct {
	Device   string
	Emulated bool
	Steps    []struct {
		Step, Verdict, Found, Card string
		Seconds                    int
	}
}

func (r *results) read(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, text)
	}
}

// visit runs visit.sh with fake programs, no Go and no C compiler, and expects some verdicts.
func visit(t *testing.T, gpu string, environment []string, want map[string]string) *results {
	t.Parallel()
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("there is no timeout command")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("visit.sh")
	if err != nil {
		t.Fatal(err)
	}
	write("visit.sh", string(script))
	write("dsp", fakeDsp)
	for _, name := range []string{"device", "cudaoracles", "cudanets", "accelerator", "resident", "driver"} {
		write("tests/"+name+".test", fakeTest)
	}
	write("path/compute-sanitizer", fakeSanitizer)
	write("path/python3", "#!/bin/sh\nexit 1\n") // without torch
	write("path/mpirun", "#!/bin/sh\nshift 2\nexec \"$@\"\n")
	out := filepath.Join(dir, "out")
	cmd := exec.Command("sh", filepath.Join(dir, "visit.sh"), "162", out)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + filepath.Join(dir, "path") + ":/usr/bin:/bin", "HOME=" + dir, "FAKE_GPU=" + gpu,
		"FAKE_OUT=" + out}, environment...)
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Fatalf("exit code %d, %v\n%s", code, err, said)
	}
	var before, r results
	before.read(t, filepath.Join(out, "before.json"))
	r.read(t, filepath.Join(out, "visit.json"))
	if len(before.Steps) != len(r.Steps)-1 {
		t.Errorf("%d steps before the last one, %d in all", len(before.Steps), len(r.Steps))
	}
	table, err := os.ReadFile(filepath.Join(out, "visit.md"))
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(string(table), "\n| ") - 1; rows != len(r.Steps) {
		t.Errorf("the table has %d rows, the JSON %d steps\n%s", rows, len(r.Steps), table)
	}
	for _, s := range r.Steps {
		if !strings.Contains(string(table), "\n| "+s.Step+" | "+s.Verdict+" |") {
			t.Errorf("the table lacks %q, %s", s.Step, s.Verdict)
		}
		if verdict, ok := want[s.Step]; ok && verdict != s.Verdict {
			t.Errorf("%s: %s, expected %s", s.Step, s.Verdict, verdict)
		}
		delete(want, s.Step)
	}
	for step := range want {
		t.Errorf("there is no step %q\n%s", step, said)
	}
	return &r
}

// A step that fails or hangs costs only itself; what failed runs again alone.
func TestVisitGoesOn(t *testing.T) {
	r := visit(t, "cuda:0 dsp emulated device", []string{"DSP_CUDA_LIBRARY=emulated.so"}, map[string]string{
		"tests of device":                               "failed",
		"tests of device: TestB alone":                  "ok",
		"tests of device: all but TestB":                "ok",
		"selftest":                                      "failed",
		"selftest: matrix products, float32 alone":      "ok",
		"tests of accelerator":                          "ok",
		"tests of resident":                             "stopped",
		"bench":                                         "ok",
		"bench: Viterbi with paths, B=4096, T=64, Y=32": "measured",
		"prox-linear twice":                             "ok",
		"adam twice":                                    "ok",
		"batches in parts":                              "ok",
		"PTX without cubins":                            "ok",
		"cuBLAS":                                        "not run",
		"sanitizer":                                     "not run",
		"tests of driver":                               "ok",
	})
	if !r.Emulated || !strings.Contains(r.Device, "no card was here") {
		t.Errorf("emulated %v, device %q", r.Emulated, r.Device)
	}
	for _, s := range r.Steps {
		switch {
		case s.Verdict == "not run" && s.Card == "":
			t.Errorf("%s does not say what a card would have had to show", s.Step)
		case s.Step == "tests of device" && s.Found != "1 tests passed, 1 failed: TestB":
			t.Errorf("found %q", s.Found)
		case s.Step == "selftest" && s.Found != "1 checks ok, 1 failed: matrix products, float32;":
			t.Errorf("found %q", s.Found)
		case strings.HasPrefix(s.Step, "bench: ") && s.Found != "0.115 ms, 12 % of the bound":
			t.Errorf("found %q", s.Found)
		case s.Step == "batches in parts" && s.Found != "two processes that share the card give the bits of one":
			t.Errorf("found %q", s.Found)
		case s.Step == "adam twice" && s.Found != "objective 1.5, on the CPU 1.5":
			t.Errorf("found %q", s.Found)
		}
	}
}

// On a card the sanitizer runs as well, with every array an allocation of its own, and tests know that the device is
// real.
func TestVisitOfACard(t *testing.T) {
	r := visit(t, "cuda:0 NVIDIA H200, 141 GB", nil, map[string]string{
		"tests of device":                    "failed",
		"tests of cudanets":                  "ok",
		"tests of resident":                  "stopped",
		"tests of resident: TestHangs alone": "ok",
		"sanitizer: does it work here":       "ok",
		"sanitizer: memcheck":                "ok",
		"sanitizer: racecheck":               "ok",
		"sanitizer: synccheck":               "ok",
		"sanitizer: initcheck":               "ok",
		"PyTorch":                            "not run",
		"tests of driver":                    "ok",
	})
	if r.Emulated || !strings.Contains(r.Device, "NVIDIA H200") {
		t.Errorf("emulated %v, device %q", r.Emulated, r.Device)
	}
}
