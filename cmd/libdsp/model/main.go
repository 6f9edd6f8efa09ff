// Command model is a C library that loads trained models and predicts with them in the caller's process: CGO_ENABLED=1 go build
// -buildmode=c-shared ./cmd/libdsp/model. It answers the requests of dsp serve, in the same form, and writes the decoding of chains as an ONNX graph.
// It is a library of its own since it is five times as large as that of the oracles, which a process may have to open again after a fork.
package main

/*
#include <stdlib.h>
#include "model.h"
*/
import "C"

import (
	"fmt"
	"log/slog"
	"math"
	"runtime/cgo"
	"time"
	"unsafe"

	"github.com/dsp-go/dsp/cmd/dsp/server"
	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/exchange/onnx"
)

func main() {}

// A library does not write to its host's standard error.
func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

func guarded(do func() error) (message *C.char) {
	defer func() {
		if r := recover(); r != nil {
			message = C.CString(fmt.Sprintf("internal error: %v", r))
		}
	}()
	if err := do(); err != nil {
		return C.CString(err.Error())
	}
	return nil
}

//export dsp_model_abi
func dsp_model_abi() C.int32_t { return C.DSP_MODEL_ABI }

// dsp_model_free frees a message or an answer.
//
//export dsp_model_free
func dsp_model_free(p *C.char) { C.free(unsafe.Pointer(p)) }

// dsp_model_open loads the model of a run folder or a model file.
//
//export dsp_model_open
func dsp_model_open(path *C.char, threads C.int32_t, model *C.int64_t) *C.char {
	return guarded(func() error {
		limits := requests.DefaultLimits()
		limits.Positions = 1 << 24 // the caller's own data: memory is the limit
		s, err := server.New(server.Options{
			Models: []string{"model=" + C.GoString(path)}, Threads: int(threads), Queue: math.MaxInt32, MaxBody: 1 << 31, Timeout: 1000 * time.Hour,
			Limits: limits, Splitter: tokens.Unicode{},
		})
		if err != nil {
			return err
		}
		*model = C.int64_t(cgo.NewHandle(s))
		return nil
	})
}

// dsp_model_close forgets a model.
//
//export dsp_model_close
func dsp_model_close(model C.int64_t) *C.char {
	return guarded(func() error {
		cgo.Handle(model).Value().(*server.Server).Close()
		cgo.Handle(model).Delete()
		return nil
	})
}

// dsp_model_ask answers a request, such as POST /predict?nbest=2 with a body of the given size: the HTTP status, and an answer that the caller gives to
// dsp_model_free.
//
//export dsp_model_ask
func dsp_model_ask(model C.int64_t, method, target, kind *C.char, body *C.char, size C.int64_t, status *C.int32_t, answer **C.char, length *C.int64_t) *C.char {
	return guarded(func() error {
		s := server.Local{Server: cgo.Handle(model).Value().(*server.Server)}
		code, text, err := s.Answer(C.GoString(method), C.GoString(target), C.GoString(kind), unsafe.Slice((*byte)(unsafe.Pointer(body)), int(size)))
		if err != nil {
			return err
		}
		*status, *answer, *length = C.int32_t(code), (*C.char)(C.CBytes(text)), C.int64_t(len(text))
		return nil
	})
}

// dsp_model_decoder writes the ONNX graph of onnx.Decoder, which the caller gives to dsp_model_free.
//
//export dsp_model_decoder
func dsp_model_decoder(labels, perPosition, marginals C.int32_t, graph **C.char, length *C.int64_t) *C.char {
	return guarded(func() error {
		content, err := onnx.Decoder{Labels: int(labels), PerPosition: perPosition != 0, Marginals: marginals != 0}.Encode()
		if err != nil {
			return err
		}
		*graph, *length = (*C.char)(C.CBytes(content)), C.int64_t(len(content))
		return nil
	})
}
