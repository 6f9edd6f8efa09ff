//go:build gpu && linux && amd64

package driver

// #include <dlfcn.h>
// #include <stdlib.h>
//
// typedef struct { char bytes[128]; } nccl_id;
//
// // The functions that are used, in version 2.4 and later of the library.
// typedef struct {
// 	int (*get_version)(int* version);
// 	const char* (*error_string)(int code);
// 	int (*unique_id)(nccl_id* id);
// 	int (*init_rank)(void** to, int ranks, nccl_id id, int rank);
// 	int (*all_gather)(const void* from, void* to, size_t count, int type, void* of, void* stream);
// 	int (*async_error)(void* of, int* code);
// 	int (*abort)(void* of);
// 	int (*destroy)(void* of);
// } nccl;
//
// // nccl_open returns NULL on success, else why not: the name of a missing function if the file was opened.
// static const char* nccl_open(nccl* l, const char* file, int* opened) {
// 	void* so = dlopen(file, RTLD_NOW | RTLD_LOCAL);
// 	if (!(*opened = so != NULL)) return dlerror();
// 	const char* const names[] = {"ncclGetVersion", "ncclGetErrorString", "ncclGetUniqueId", "ncclCommInitRank", "ncclAllGather",
// 		"ncclCommGetAsyncError", "ncclCommAbort", "ncclCommDestroy"};
// 	void** const to[] = {(void**)&l->get_version, (void**)&l->error_string, (void**)&l->unique_id, (void**)&l->init_rank, (void**)&l->all_gather,
// 		(void**)&l->async_error, (void**)&l->abort, (void**)&l->destroy};
// 	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
// 		if (!(*to[i] = dlsym(so, names[i]))) return names[i];
// 	return NULL;
// }
//
// static int nccl_version(nccl* l) { int v = 0; return l->get_version(&v) ? 0 : v; }
// static const char* nccl_error(nccl* l, int code) { return l->error_string(code); }
// static int nccl_unique_id(nccl* l, void* to) { return l->unique_id((nccl_id*)to); }
// static int nccl_init_rank(nccl* l, size_t* to, int ranks, void* id, int rank) {
// 	return l->init_rank((void**)to, ranks, *(nccl_id*)id, rank);
// }
// static int nccl_all_gather(nccl* l, size_t from, size_t to, size_t count, int type, size_t of, size_t stream) {
// 	return l->all_gather((const void*)from, (void*)to, count, type, (void*)of, (void*)stream);
// }
// static int nccl_async_error(nccl* l, size_t of, int* code) { return l->async_error((void*)of, code); }
// static int nccl_abort(nccl* l, size_t of) { return l->abort((void*)of); }
// static int nccl_destroy(nccl* l, size_t of) { return l->destroy((void*)of); }
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// OpenNCCL opens a library by its name or path.
func OpenNCCL(file string) (NCCL, error) {
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	l := new(nccl)
	var opened C.int
	switch missing := C.nccl_open(&l.c, name, &opened); {
	case missing == nil:
		return l, nil
	case opened != 0:
		return nil, fmt.Errorf("%s has no function %s; NCCL 2.4 or later is needed", file, C.GoString(missing))
	default:
		return nil, errors.New(C.GoString(missing)) // begins with the file's name
	}
}

type nccl struct{ c C.nccl }

// status returns the error of one of the library's result codes; nil for success.
func (l *nccl) status(call string, code C.int) error {
	names := []string{"ncclSuccess", "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
		"ncclInvalidArgument", "ncclInvalidUsage", "ncclRemoteError", "ncclInProgress"}
	if code == 0 {
		return nil
	}
	e := &Error{Code: int(code), Name: fmt.Sprintf("ncclResult %d", code), Call: call,
		Text: C.GoString(C.nccl_error(&l.c, code))}
	if code > 0 && int(code) < len(names) {
		e.Name = names[code]
	}
	return e
}

func (l *nccl) Version() int { return int(C.nccl_version(&l.c)) }

func (l *nccl) NewIdentifier() (id Identifier, err error) {
	err = l.status("ncclGetUniqueId", C.nccl_unique_id(&l.c, unsafe.Pointer(&id)))
	return id, err
}

func (l *nccl) Join(ranks, rank int, group Identifier) (Communicator, error) {
	c := &ncclRank{l: l}
	err := l.status("ncclCommInitRank", C.nccl_init_rank(&l.c, &c.of, C.int(ranks), unsafe.Pointer(&group), C.int(rank)))
	return c, err
}

// ncclRank is a communicator.
type ncclRank struct {
	l  *nccl
	of C.size_t
}

func (c *ncclRank) AllGather(to, from Address, n int, s Stream) error {
	const float32Type = 7
	return c.l.status("ncclAllGather",
		C.nccl_all_gather(&c.l.c, C.size_t(from), C.size_t(to), C.size_t(n), float32Type, c.of, C.size_t(s)))
}

func (c *ncclRank) Failed() error {
	const inProgress = 7
	var code C.int
	if err := c.l.status("ncclCommGetAsyncError", C.nccl_async_error(&c.l.c, c.of, &code)); err != nil ||
		code == inProgress {
		return err
	}
	return c.l.status("ncclAllGather", code)
}

func (c *ncclRank) Abort() error { return c.l.status("ncclCommAbort", C.nccl_abort(&c.l.c, c.of)) }
func (c *ncclRank) Close() error { return c.l.status("ncclCommDestroy", C.nccl_destroy(&c.l.c, c.of)) }
