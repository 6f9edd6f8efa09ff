package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/cmd/dsp/server"
	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/structured"
)

func serveCommand() *cobra.Command {
	o := server.Options{Version: version(), Limits: requests.DefaultLimits(), Splitter: tokens.Unicode{}}
	var listen, tokenFile string
	var megabytes, memory int
	cmd := &cobra.Command{
		Use:   "serve --model DIR [--model NAME=DIR …]",
		Short: "Answer requests for predictions over HTTP, with one or more models",
		Long: `serve answers requests over HTTP. POST /predict takes one JSON object per line and answers what dsp predict --json
prints for it. The routes under /v2 are those of the Open Inference Protocol. GET / is a page to try the models on, and
GET /metrics is for Prometheus.

Requests that arrive together are predicted together. A model is loaded again, without a gap, on SIGHUP, on
POST /v2/repository/models/NAME/load, and with --watch whenever its file changes; a file that cannot be loaded leaves the
model as it is. SIGTERM and SIGINT stop the server when the requests that it has accepted are answered.`,
		Example: `  dsp serve --model runs/ner
  curl -d '{"words": ["John", "Smith", "lives", "in", "Rome"]}' http://127.0.0.1:8080/predict
  dsp serve --model ner=runs/ner --model parser=runs/parser --listen 0.0.0.0:8080 --token-file secret`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if listen == "" { // which net.Listen takes for all addresses and any port
				return structured.BadInput("--listen: it is empty, expected ADDRESS:PORT, such as 127.0.0.1:8080")
			}
			if megabytes < 1 || megabytes > mostMegabytes {
				return structured.BadInput("--max-body %d: expected 1 to %d MiB", megabytes, mostMegabytes)
			}
			o.MaxBody = int64(megabytes) << 20
			if memory < 0 || memory > mostMegabytes<<4 {
				return structured.BadInput("--memory %d: expected 64 to %d MiB, or 0 for half of what is available", memory, mostMegabytes<<4)
			}
			o.Memory = int64(memory) << 20
			if o.Watch != 0 && o.Watch < 100*time.Millisecond {
				return structured.BadInput("--watch %v: expected 0 (never), or at least 100ms", o.Watch)
			}
			if cmd.Flags().Changed("token") && strings.TrimSpace(o.Token) == "" {
				return structured.BadInput("--token: it is empty, expected a token; leave the flag out if anyone may ask")
			}
			if tokenFile != "" {
				if o.Token != "" {
					return structured.BadInput("--token and --token-file: give one of the two")
				}
				text, err := os.ReadFile(tokenFile)
				if err != nil {
					return structured.BadInput("--token-file: %w", err)
				}
				switch o.Token = strings.TrimSpace(string(text)); {
				case o.Token == "":
					return structured.BadInput("--token-file %s: the file is empty, expected a token", tokenFile)
				case strings.ContainsAny(o.Token, "\r\n"):
					return structured.BadInput("--token-file %s: several lines, expected a token and no more", tokenFile)
				}
			}
			if cmd.Flags().Changed("max-length") && cmd.Flags().Changed("max-positions") {
				return structured.BadInput("--max-length is another name of --max-positions: give one of them")
			}
			loading, loaded := context.WithCancel(cmd.Context())
			breakSilence(loading)
			s, err := server.New(o)
			if loaded(); err != nil {
				return err
			}
			l, err := net.Listen("tcp", listen)
			if err != nil {
				s.Close()
				if refused := new(os.SyscallError); errors.As(err, &refused) { // by the system: the address is well-formed
					return structured.BadInput("--listen %s: %w; choose another address or port", listen, refused.Err)
				}
				return structured.BadInput("--listen %s: %w; expected ADDRESS:PORT, such as 127.0.0.1:8080", listen, err)
			}
			announce(l.Addr(), o.Token)
			if isSet(cmd, "json") {
				if err := printJSON(os.Stdout, map[string]string{"url": "http://" + l.Addr().String() + "/"}); err != nil {
					return err
				}
			}
			ctx, stop := reloading(cmd.Context(), s.ReloadAll)
			defer stop()
			return s.Serve(ctx, l)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&o.Models, "model", nil, "`[NAME=]MODEL`: a model file, or the folder of a run; repeat the flag for several models; without a name, the folder's is taken")
	flags.StringArrayVar(&o.Taggers, "tagger", nil, "`[COLUMN=]MODEL` labels the words first, for every model that reads such a column beside the words, such as upos of a parser; may be repeated")
	flags.StringVar(&o.Encoder, "encoder", "", encoderHelp)
	flags.StringVar(&listen, "listen", "127.0.0.1:8080", "`ADDRESS:PORT` to listen on; port 0 takes a free one, which the log names")
	flags.StringVar(&o.Token, "token", "", "requests must carry the header Authorization: Bearer `TOKEN`, but for the page and the health routes; other users of this computer can see the command line, so --token-file is safer")
	flags.StringVar(&tokenFile, "token-file", "", "`FILE` that holds the token")
	flags.StringArrayVar(&o.Hosts, "host", nil, "`NAME` by which clients call this server, beside localhost; may be repeated. On loopback requests by other names are refused, elsewhere only if some are given")
	flags.IntVar(&o.Threads, "threads", 0, "number `N` of threads for each model; 0: all cores")
	flags.IntVar(&o.Queue, "queue", 256, "most requests `N` for one model that wait or are being predicted; more are answered with 429, too many requests")
	flags.IntVar(&megabytes, "max-body", 8, "largest body of a request, in `MIB`; larger ones are answered with 413")
	flags.IntVar(&memory, "memory", 0, "memory for all requests together, in `MIB`, at least 64: what does not fit at the moment waits or is answered with 503, what never fits with 413; 0: half of what is available")
	flags.DurationVar(&o.Timeout, "timeout", 10*time.Second, "`TIME` from the header of a request to its answer; slower bodies are answered with 408, slower predictions with 504")
	flags.IntVar(&o.Limits.Words, "max-words", 0, "longest sentence, in words `N`; 0: as --max-positions, or 512 for trees and links, whose memory grows with its square")
	flags.IntVar(&o.Limits.Positions, "max-positions", o.Limits.Positions, "most positions `N` of other examples: rows of features, variables, frames, and pieces of words as an encoder reads them")
	flags.IntVar(&o.Limits.Positions, "max-length", o.Limits.Positions, "another name of --max-positions")
	_ = flags.MarkHidden("max-length")
	flags.DurationVar(&o.Watch, "watch", 0, "look at the models' files every `TIME`, and load those again that have changed; 0: never")
	return cmd
}

// mostMegabytes bounds --max-body. No machine has memory for longer ones.
const mostMegabytes = 1 << 20

// announce logs the address, and warns if anyone may ask.
func announce(at net.Addr, token string) {
	slog.Info("listening", "url", "http://"+at.String()+"/")
	if host, ok := at.(*net.TCPAddr); ok && !host.IP.IsLoopback() && token == "" {
		slog.Warn("ANYONE who can reach this address can use the models and load them again: give --token-file, or --listen 127.0.0.1:8080", "address", at.String())
	}
}

// reloading has SIGHUP load the models again, by reload, until the context ends. Elsewhere in the program it
// interrupts, as Main arranges.
func reloading(parent context.Context, reload func()) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(parent)
	again := make(chan os.Signal, 1)
	signal.Reset(syscall.SIGHUP) // takes it from Main's context, which it would cancel
	signal.Notify(again, syscall.SIGHUP)
	go func() {
		defer signal.Stop(again)
		reloadOn(ctx, again, reload)
	}()
	return ctx, stop
}

// reloadOn calls reload for each signal, one call after the other, until the context ends.
func reloadOn(ctx context.Context, again <-chan os.Signal, reload func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
			reload()
		}
	}
}
