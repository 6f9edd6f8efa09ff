// Streams, events and graphs. A stream runs work immediately unless earlier work waits for something, or as late as it may
// (DSP_EMULATED_STREAMS=late), or records it during a capture.
#include "api.h"

#include <unistd.h>

namespace emulated {

// The handles 0, 1 and 2 are the built-in streams.
Stream* Context::stream(void* handle) {
	if ((uintptr_t)handle <= 2) return &legacy;
	auto s = streams.find((Stream*)handle);
	return s == streams.end() ? nullptr : *s;
}

bool Context::capturing() const {
	for (Stream* s : streams) {
		if (s->capturing) return true;
	}
	return false;
}

CUresult Context::not_capturing() {
	CUresult r = CUDA_SUCCESS;
	for (Stream* s : streams) {
		if (!s->capturing || s->relaxed) continue;
		s->invalid = true;
		r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return r;
}

CUresult Context::enqueue(void* handle, Operation operation) {
	Stream* s = stream(handle);
	if (!s) return CUDA_ERROR_INVALID_HANDLE;
	if (s == &legacy && capturing()) {
		not_capturing();
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	if (s->capturing) {
		if (s->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
		s->graph->operations->push_back(std::move(operation));
		return CUDA_SUCCESS;
	}
	if (!late && s->pending.empty()) {
		CUresult r = operation();
		if (r != CUDA_ERROR_NOT_READY) return r;
	}
	s->pending.push_back(std::move(operation));
	return CUDA_SUCCESS;
}

CUresult Context::advance(Stream* s, const Event* to, long record) {
	while (!s->pending.empty() && !(to && to->reached >= record)) {
		CUresult r = s->pending.front()();
		if (r == CUDA_ERROR_NOT_READY) return r;
		s->pending.pop_front();
		if (r) return r;
	}
	return CUDA_SUCCESS;
}

CUresult Context::advance_all() {
	if (CUresult r = advance(&legacy)) return r;
	for (Stream* s : streams) {
		if (CUresult r = advance(s)) return r;
	}
	return CUDA_SUCCESS;
}

CUresult Call::until(const Operation& look) {
	for (;;) {
		CUresult r = look();
		if (r != CUDA_ERROR_NOT_READY) return r;
		hold.unlock();
		usleep(50);
		hold.lock();
		if (context->lost) return context->lost;
	}
}

} // namespace emulated

using namespace emulated;

API cuStreamCreate(void** stream, unsigned) {
	SERVED(call);
	Stream* s = new Stream;
	call.context->streams.insert(s);
	*stream = s;
	return CUDA_SUCCESS;
}
API cuStreamCreateWithPriority(void** stream, unsigned flags, int) { return cuStreamCreate(stream, flags); }

API cuStreamDestroy_v2(void* stream) {
	SERVED(call);
	Stream* s = call.context->stream(stream);
	if (!s || s == &call.context->legacy) return CUDA_ERROR_INVALID_HANDLE;
	CUresult r = call.until([&] { return call.context->advance(s); });
	call.context->streams.erase(s);
	delete s->graph;
	delete s;
	return r;
}

static CUresult run_stream(void* stream, bool wait) {
	SERVED(call);
	Stream* s = call.context->stream(stream);
	if (!s) return CUDA_ERROR_INVALID_HANDLE;
	auto look = [&] { return call.context->advance(s); };
	if (!s->capturing) return wait ? call.until(look) : look();
	s->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}
API cuStreamSynchronize(void* stream) { return run_stream(stream, true); }
API cuStreamQuery(void* stream) { return run_stream(stream, false); }

// Work that a stream waits for runs in the event's own stream, and nothing after it.
API cuStreamWaitEvent(void* stream, void* event, unsigned) {
	SERVED(call);
	Context* c = call.context;
	Event* e = (Event*)event;
	if (!c->stream(stream) || !c->events.count(e)) return CUDA_ERROR_INVALID_HANDLE;
	if (c->stream(stream)->capturing) return CUDA_ERROR_NOT_SUPPORTED; // streams that join a capture are not emulated
	if (!e->stream) return CUDA_SUCCESS;
	Event then = *e;
	return c->enqueue(stream, [=]() -> CUresult {
		if (!c->events.count(e) || e->reached >= then.records) return CUDA_SUCCESS;
		return c->lives(then.stream) ? c->advance(then.stream, e, then.records) : CUDA_SUCCESS;
	});
}

API cuEventCreate(void** event, unsigned) {
	SERVED(call);
	Event* e = new Event;
	call.context->events.insert(e);
	*event = e;
	return CUDA_SUCCESS;
}

API cuEventDestroy_v2(void* event) {
	SERVED(call);
	if (!call.context->events.erase((Event*)event)) return CUDA_ERROR_INVALID_HANDLE;
	delete (Event*)event;
	return CUDA_SUCCESS;
}

API cuEventRecord(void* event, void* stream) {
	SERVED(call);
	if (!call.context->events.count((Event*)event)) return CUDA_ERROR_INVALID_HANDLE;
	Context* c = call.context;
	Event* e = (Event*)event;
	if (!c->stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
	if (c->stream(stream)->capturing) return CUDA_ERROR_NOT_SUPPORTED; // events within graphs are not emulated
	e->stream = c->stream(stream);
	long record = ++e->records;
	return c->enqueue(stream, [=] {
		if (!c->events.count(e)) return CUDA_SUCCESS; // destroyed since
		e->time = nanoseconds();
		e->reached = record;
		return CUDA_SUCCESS;
	});
}

static CUresult run_to(void* event, bool wait) {
	SERVED(call);
	Context* c = call.context;
	Event* e = (Event*)event;
	if (!c->events.count(e)) return CUDA_ERROR_INVALID_HANDLE;
	if (e->reached >= e->records) return CUDA_SUCCESS;
	auto look = [&] { return c->lives(e->stream) ? c->advance(e->stream, e, e->records) : CUDA_SUCCESS; };
	return wait ? call.until(look) : look();
}
API cuEventSynchronize(void* event) { return run_to(event, true); }
API cuEventQuery(void* event) { return run_to(event, false); }

API cuEventElapsedTime(float* milliseconds, void* from, void* to) {
	SERVED(call);
	Event *a = (Event*)from, *b = (Event*)to;
	if (!call.context->events.count(a) || !call.context->events.count(b) || !a->records || !b->records) return CUDA_ERROR_INVALID_HANDLE;
	if (a->reached < a->records || b->reached < b->records) return CUDA_ERROR_NOT_READY;
	*milliseconds = (float)((double)(b->time - a->time) * 1e-6);
	return CUDA_SUCCESS;
}

API cuStreamBeginCapture_v2(void* stream, int mode) {
	SERVED(call);
	Stream* s = call.context->stream(stream);
	if (!s) return CUDA_ERROR_INVALID_HANDLE;
	if (s == &call.context->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (s->capturing) return CUDA_ERROR_INVALID_VALUE;
	s->capturing = true;
	s->invalid = false;
	s->relaxed = mode == 2;
	s->graph = new Graph;
	return CUDA_SUCCESS;
}

API cuStreamEndCapture(void* stream, void** graph) {
	SERVED(call);
	*graph = nullptr;
	Stream* s = call.context->stream(stream);
	if (!s) return CUDA_ERROR_INVALID_HANDLE;
	if (!s->capturing) return CUDA_ERROR_INVALID_VALUE;
	Graph* g = s->graph;
	s->capturing = false;
	s->graph = nullptr;
	if (s->invalid) {
		delete g;
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	call.context->graphs.insert(g);
	*graph = g;
	return CUDA_SUCCESS;
}

API cuStreamIsCapturing(void* stream, int* status) {
	SERVED(call);
	Stream* s = call.context->stream(stream);
	if (!s) return CUDA_ERROR_INVALID_HANDLE;
	*status = !s->capturing ? 0 : s->invalid ? 2 : 1;
	return CUDA_SUCCESS;
}

API cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
	SERVED(call);
	if (!call.context->graphs.count((Graph*)graph)) return CUDA_ERROR_INVALID_HANDLE;
	Graph* g = new Graph(*(Graph*)graph);
	call.context->executables.insert(g);
	*executable = g;
	return CUDA_SUCCESS;
}
API cuGraphInstantiate_v2(void** executable, void* graph, void**, char*, size_t) { return cuGraphInstantiateWithFlags(executable, graph, 0); }
API cuGraphInstantiate(void** executable, void* graph, void**, char*, size_t) { return cuGraphInstantiateWithFlags(executable, graph, 0); }

API cuGraphLaunch(void* executable, void* stream) {
	SERVED(call);
	if (!call.context->executables.count((Graph*)executable)) return CUDA_ERROR_INVALID_HANDLE;
	auto operations = ((Graph*)executable)->operations;
	return call.context->enqueue(stream, [operations]() -> CUresult {
		for (const Operation& o : *operations) {
			if (CUresult r = o()) return r;
		}
		return CUDA_SUCCESS;
	});
}

API cuGraphUpload(void* executable, void*) {
	SERVED(call);
	return call.context->executables.count((Graph*)executable) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API cuGraphGetNodes(void* graph, void**, size_t* n) {
	SERVED(call);
	if (!call.context->graphs.count((Graph*)graph)) return CUDA_ERROR_INVALID_HANDLE;
	*n = ((Graph*)graph)->operations->size();
	return CUDA_SUCCESS;
}

API cuGraphExecDestroy(void* executable) {
	SERVED(call);
	if (!call.context->executables.erase((Graph*)executable)) return CUDA_ERROR_INVALID_HANDLE;
	delete (Graph*)executable;
	return CUDA_SUCCESS;
}

API cuGraphDestroy(void* graph) {
	SERVED(call);
	if (!call.context->graphs.erase((Graph*)graph)) return CUDA_ERROR_INVALID_HANDLE;
	delete (Graph*)graph;
	return CUDA_SUCCESS;
}
