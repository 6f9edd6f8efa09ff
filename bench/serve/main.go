// Serve measures dsp serve: how long requests take at a fixed rate, whether any is lost under overload, and whether
// memory stays flat.
//
//	go run ./bench/serve --dsp bin/dsp --model runs/names --seconds 120
//
// The model reads the columns word and pos, or word alone. It sends sentences of 25 tokens over loopback, in
// connections that stay open, at times that do not depend on the answers (an open loop): a slow answer does not delay
// the next request, and times count from when a request was due. Then it asks four times as much as the server can
// answer, with a short queue.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	program = flag.String("dsp", "dsp", "the program")
	model   = flag.String("model", "", "model file or run folder")
	rate    = flag.Int("rate", 1000, "requests per second")
	seconds = flag.Int("seconds", 120, "length of the run at that rate")
	length  = flag.Int("tokens", 25, "tokens of a sentence")
)

func main() {
	flag.Parse()
	s := start("--queue", "256")
	bodies := sentences(s, 4096)
	load(s, bodies, *rate, 2*time.Second) // warms up
	fmt.Println("| requests/s | seconds | median, ms | 90 % | 99 % | within 1 ms by the server's clock | processor µs " +
		"per answer | memory, MiB | answers by code | lost |\n|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|")
	for range 4 {
		before := s.cpu()
		row(s, before, load(s, bodies, *rate, time.Duration(*seconds)*time.Second/4), *rate, *seconds/4)
	}
	s.stop()

	s = start("--queue", "16")
	capacity := burst(s, bodies, 3*time.Second) // of 16 connections that ask again at once
	before := s.cpu()
	row(s, before, load(s, bodies, int(4*capacity), 5*time.Second), int(4*capacity), 5)
	s.stop()
}

// served is a running server.
type served struct {
	command *exec.Cmd
	url     string
	client  *http.Client
}

func start(flags ...string) *served {
	s := &served{command: exec.Command(*program,
		append([]string{"serve", "--json", "--quiet", "--model", "m=" + *model, "--listen", "127.0.0.1:0"}, flags...)...)}
	s.command.Stderr = os.Stderr
	out, err := s.command.StdoutPipe()
	check(err)
	check(s.command.Start())
	var at struct{ URL string }
	check(json.NewDecoder(out).Decode(&at))
	s.url = at.URL
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512, MaxConnsPerHost: 512},
		Timeout: time.Minute}
	return s
}

func (s *served) stop() {
	check(s.command.Process.Signal(syscall.SIGTERM))
	check(s.command.Wait())
}

// memory returns the resident memory in MiB.
func (s *served) memory() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	check(err)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[0] == "VmRSS:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			check(err)
			return kib / 1024
		}
	}
	return 0
}

// metric returns a number of the server's own metrics, 0 if it is not there.
func (s *served) metric(name string) float64 {
	response, err := s.client.Get(s.url + "metrics")
	check(err)
	text, err := io.ReadAll(response.Body)
	check(err)
	check(response.Body.Close())
	_, after, _ := strings.Cut(string(text), "\n"+name+" ")
	line, _, _ := strings.Cut(after, "\n")
	number, _ := strconv.ParseFloat(line, 64)
	return number
}

// cpu returns the CPU time of the server in seconds.
func (s *served) cpu() float64 { return s.metric("process_cpu_seconds_total") }

// within returns the share of requests that the server answered within some seconds, from their header on, as it
// measures itself.
func (s *served) within(seconds string) float64 {
	const of = `{model="m",route="/predict"`
	return 100 * s.metric("dsp_request_seconds_bucket"+of+`,le="`+seconds+`"}`) /
		s.metric("dsp_request_seconds_count"+of+"}")
}

// sentences returns bodies of random words with random tags.
func sentences(s *served, n int) [][]byte {
	response, err := s.client.Get(s.url + "v2/models/m")
	check(err)
	var about struct{ Inputs []struct{ Name string } }
	check(json.NewDecoder(response.Body).Decode(&about))
	check(response.Body.Close())
	r := rand.New(rand.NewPCG(1, 2))
	tags := []string{"NN", "DT", "JJ", "VB", "IN", "RB", "NNS", "VBD", "PRP", "CC", "TO", "CD"}
	all := make([][]byte, n)
	for k := range all {
		columns := map[string][]string{}
		for range *length {
			tag := tags[r.IntN(len(tags))]
			for _, in := range about.Inputs {
				switch in.Name {
				case "word":
					columns["word"] = append(columns["word"], strings.ToLower(tag)+strconv.Itoa(r.IntN(1500)))
				case "pos":
					columns["pos"] = append(columns["pos"], tag)
				}
			}
		}
		all[k], err = json.Marshal(map[string]any{"columns": columns})
		check(err)
	}
	return all
}

// report counts answers by status code, and what got none, with the times of the good ones.
type report struct {
	mutex sync.Mutex
	codes map[int]int
	lost  map[string]int
	times []time.Duration
}

// row prints what became of requests at a rate, as a row of a table. before is the server's CPU time when they began.
func row(s *served, before float64, r *report, rate, seconds int) {
	slices.Sort(r.times)
	at := func(q float64) float64 {
		if len(r.times) == 0 {
			return 0
		}
		return r.times[int(q*float64(len(r.times)-1))].Seconds() * 1000
	}
	lost := 0
	for _, n := range r.lost {
		lost += n
	}
	codes := strings.TrimPrefix(fmt.Sprint(r.codes), "map")
	fmt.Printf("| %d | %d | %.2f | %.2f | %.2f | %.1f %% | %.0f | %.0f | %s | %d |\n", rate, seconds, at(.5), at(.9),
		at(.99), s.within("0.001"),
		1e6*(s.cpu()-before)/float64(max(1, r.codes[http.StatusOK])), s.memory(), codes, lost)
}

// ask sends one request, which was due at a time.
func (s *served) ask(body []byte, due time.Time, r *report) {
	response, err := s.client.Post(s.url+"predict", "application/json", bytes.NewReader(body))
	code := 0
	if err == nil {
		code = response.StatusCode
		_, err = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	spent := time.Since(due)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case err != nil:
		r.lost[err.Error()]++
	case code == http.StatusOK:
		r.times = append(r.times, spent)
		fallthrough
	default:
		r.codes[code]++
	}
}

// load sends requests at a rate.
func load(s *served, bodies [][]byte, rate int, duration time.Duration) *report {
	r := &report{codes: map[int]int{}, lost: map[string]int{}}
	var waiting sync.WaitGroup
	begun := time.Now()
	n := int(duration.Seconds() * float64(rate))
	for k := range n {
		due := begun.Add(time.Duration(float64(k) / float64(rate) * float64(time.Second)))
		time.Sleep(time.Until(due))
		waiting.Go(func() { s.ask(bodies[k%len(bodies)], due, r) })
	}
	waiting.Wait()
	return r
}

// burst returns how many requests per second 16 connections get answered, each of which asks again at once.
func burst(s *served, bodies [][]byte, duration time.Duration) float64 {
	r := &report{codes: map[int]int{}, lost: map[string]int{}}
	var waiting sync.WaitGroup
	end := time.Now().Add(duration)
	for c := range 16 {
		waiting.Go(func() {
			for k := c; time.Now().Before(end); k += 16 {
				s.ask(bodies[k%len(bodies)], time.Now(), r)
			}
		})
	}
	waiting.Wait()
	return float64(r.codes[http.StatusOK]) / duration.Seconds()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
