//go:build gpu && linux && amd64

package driver

// #include <cuda.h>
//
// static CUresult load_module(CUmodule* to, const char* code, char* log, size_t bytes) {
// 	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
// 	void* values[] = {log, (void*)bytes};
// 	return cuModuleLoadDataEx(to, code, 2, options, values);
// }
//
// static CUresult end_capture(CUstream s, CUgraphExec* to, const char** call) {
// 	CUgraph graph = NULL;
// 	*call = "cuStreamEndCapture";
// 	CUresult r = cuStreamEndCapture(s, &graph);
// 	if (r == CUDA_SUCCESS) {
// 		*call = "cuGraphInstantiate";
// 		r = cuGraphInstantiate(to, graph, 0);
// 	}
// 	if (graph) cuGraphDestroy(graph);
// 	return r;
// }
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// start loads the driver and initialises it.
func start() error {
	var why *C.char
	r := C.driver_load(&why)
	switch {
	case why == nil && r == C.CUDA_SUCCESS:
		return nil
	case why == nil:
		return named("cuInit", int(r))
	}
	reason := C.GoString(why)
	switch named := os.Getenv("DSP_CUDA_LIBRARY"); {
	case named != "":
		return fmt.Errorf("DSP_CUDA_LIBRARY=%s: %s", named, reason)
	case strings.Contains(reason, "No such file"):
		return errors.New("libcuda.so.1 not found: no NVIDIA driver")
	}
	return errors.New(reason)
}

// named returns the error of a result code; nil for success.
func named(call string, code int) error {
	if code == 0 {
		return nil
	}
	e := &Error{Code: code, Name: fmt.Sprintf("CUresult %d", code), Call: call}
	var s *C.char
	if C.cuGetErrorName(C.CUresult(code), &s) == C.CUDA_SUCCESS && s != nil {
		e.Name = C.GoString(s)
	}
	s = nil
	if C.cuGetErrorString(C.CUresult(code), &s) == C.CUDA_SUCCESS && s != nil {
		e.Text = C.GoString(s)
	}
	return e
}

func result(call string, r C.CUresult) error { return named(call, int(r)) }

func (s Stream) c() C.CUstream   { return *(*C.CUstream)(unsafe.Pointer(&s)) }
func (g Graph) c() C.CUgraphExec { return *(*C.CUgraphExec)(unsafe.Pointer(&g)) }

func (*library) Current() (Context, error) {
	var c C.CUcontext
	err := result("cuCtxGetCurrent", C.cuCtxGetCurrent(&c))
	return *(*Context)(unsafe.Pointer(&c)), err
}

func (*library) Owner(at Address) (int, error) {
	const invalidValue = 1 // the driver's answer about memory of the host that it was never told of
	var kind C.uint
	switch r := C.cuPointerGetAttribute(unsafe.Pointer(&kind), C.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, C.CUdeviceptr(at)); {
	case r == invalidValue, r == 0 && kind != C.CU_MEMORYTYPE_DEVICE:
		return -1, nil
	case r != 0:
		return 0, result("cuPointerGetAttribute", r)
	}
	var ordinal C.int
	r := C.cuPointerGetAttribute(unsafe.Pointer(&ordinal), C.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, C.CUdeviceptr(at))
	return int(ordinal), result("cuPointerGetAttribute", r)
}

func (*library) AllocateHost(bytes int) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := result("cuMemHostAlloc", C.cuMemHostAlloc(&p, C.size_t(bytes), 0))
	return p, err
}

func (*library) LoadModule(code string) (Module, error) {
	const log = 16 << 10
	text, said := C.CString(code), (*C.char)(C.calloc(1, log))
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(said))
	var m C.CUmodule
	err := result("cuModuleLoadDataEx", C.load_module(&m, text, said, log-1))
	if e, ok := errors.AsType[*Error](err); ok {
		e.Log = strings.TrimSpace(C.GoString(said))
	}
	return *(*Module)(unsafe.Pointer(&m)), err
}

func (*library) SetShared(f Function, bytes int) error {
	return result("cuFuncSetAttribute", C.cuFuncSetAttribute(*(*C.CUfunction)(unsafe.Pointer(&f)),
		C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)))
}

// BeginCapture captures in relaxed mode, because a goroutine can move between threads during a capture.
func (*library) BeginCapture(s Stream) error {
	return result("cuStreamBeginCapture", C.cuStreamBeginCapture(s.c(), C.CU_STREAM_CAPTURE_MODE_RELAXED))
}

func (*library) EndCapture(s Stream) (Graph, error) {
	var g C.CUgraphExec
	var call *C.char
	r := C.end_capture(s.c(), &g, &call)
	return *(*Graph)(unsafe.Pointer(&g)), result(C.GoString(call), r)
}

func (*library) LaunchGraph(g Graph, s Stream) error {
	return result("cuGraphLaunch", C.cuGraphLaunch(g.c(), s.c()))
}

func (*library) FreeGraph(g Graph) error {
	return result("cuGraphExecDestroy", C.cuGraphExecDestroy(g.c()))
}

func (*library) Reached(e Event) (bool, error) {
	const notReady = 600
	r := C.cuEventQuery(*(*C.CUevent)(unsafe.Pointer(&e)))
	if r == notReady {
		return false, nil
	}
	return r == 0, result("cuEventQuery", r)
}

func (*library) Await(s Stream, e Event) error {
	return result("cuStreamWaitEvent", C.cuStreamWaitEvent(s.c(), *(*C.CUevent)(unsafe.Pointer(&e)), 0))
}
