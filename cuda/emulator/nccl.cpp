// NCCL, as far as dsp uses it: groups of ranks with a device each, and gathering. The ranks are processes or threads of this machine, and
// exchange through a file in memory. An exchange waits in its stream until every rank has one; if a rank is gone, for ever, as on a real device. The
// interface is NVIDIA's.
#include "api.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

typedef int ncclResult_t;
enum : ncclResult_t {
	ncclSuccess = 0,
	ncclUnhandledCudaError = 1,
	ncclSystemError = 2,
	ncclInternalError = 3,
	ncclInvalidArgument = 4,
	ncclInvalidUsage = 5,
	ncclRemoteError = 6,
	ncclInProgress = 7,
};

struct ncclUniqueId {
	char internal[128]; // here the path of the file
};

namespace emulated {

static const int most_ranks = 16;
static const size_t slot_bytes = 64 << 10;
static const int float32 = 7; // ncclDataType_t

// Peer is what a rank tells the others. Its slot holds a chunk of what it sends.
struct Peer {
	std::atomic<int> joined;       // 1 + the number of its device
	std::atomic<uint64_t> written; // chunks that it has put into its slot
	std::atomic<uint64_t> taken;   // chunks that it has copied from all slots
	size_t bytes;                  // of the exchange that the chunk belongs to
	char slot[slot_bytes];
};

struct File {
	std::atomic<int> ranks;
	Peer peers[most_ranks];
};

struct Communicator {
	int rank = 0, ranks = 0;
	Context* context = nullptr;
	Stream* stream = nullptr; // of the first exchange; all must use it
	File* file = nullptr;
	uint64_t chunks = 0; // finished
	int waiting = 0;     // exchanges that have not ended
	int left = 0;        // exchanges until the process dies; 0: never
	bool aborted = false;
	ncclResult_t failed = ncclSuccess;
	~Communicator() {
		if (file) munmap(file, sizeof(File));
	}
};

static std::map<Communicator*, std::shared_ptr<Communicator>> communicators; // guarded by Call

static ncclResult_t refuse(ncclResult_t code, const std::string& why) {
	fprintf(stderr, "emulated NCCL: %s\n", why.c_str());
	return code;
}

static File* map_file(const char* path, bool create) {
	int at = open(path, create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
	if (at < 0) return nullptr;
	void* p = create && ftruncate(at, sizeof(File)) ? MAP_FAILED : mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, at, 0);
	close(at);
	return p == MAP_FAILED ? nullptr : (File*)p;
}

// Exchange is one gathering in its stream, which may wait between chunks.
struct Exchange {
	std::shared_ptr<Communicator> of;
	uintptr_t from, to;
	size_t bytes;
	size_t done = 0;
	bool put = false; // the chunk at done is in this rank's slot

	CUresult end(CUresult r) {
		of->waiting--;
		return r;
	}

	CUresult run() {
		Communicator& c = *of;
		if (!c.context->memory.holds(from, bytes) || !c.context->memory.holds(to, bytes * (size_t)c.ranks))
			return end(c.context->lose(CUDA_ERROR_ILLEGAL_ADDRESS, "ncclAllGather reads or writes outside of the memory that was lent"));
		Peer *all = c.file->peers, &me = all[c.rank];
		while (done < bytes && !c.aborted) {
			size_t n = std::min(slot_bytes, bytes - done);
			if (!put) {
				for (int r = 0; r < c.ranks; r++) {
					if (all[r].taken < c.chunks) return CUDA_ERROR_NOT_READY; // it still reads the chunk before
				}
				memcpy(me.slot, (const char*)from + done, n);
				me.bytes = bytes;
				me.written = c.chunks + 1;
				put = true;
				if (done == 0 && c.left && --c.left == 0) raise(SIGKILL);
			}
			for (int r = 0; r < c.ranks; r++) {
				if (all[r].written <= c.chunks) return CUDA_ERROR_NOT_READY;
			}
			for (int r = 0; r < c.ranks; r++) {
				if (all[r].bytes != bytes) {
					c.failed = ncclInvalidArgument;
					return end(c.context->lose(CUDA_ERROR_LAUNCH_FAILED, "ncclAllGather of " + std::to_string(bytes) + " bytes where another rank has " + std::to_string(all[r].bytes)));
				}
				memcpy((char*)to + (size_t)r * bytes + done, all[r].slot, n);
			}
			me.taken = ++c.chunks;
			done += n;
			put = false;
		}
		if (c.aborted) poison((void*)to, bytes * (size_t)c.ranks);
		return end(CUDA_SUCCESS);
	}
};

} // namespace emulated

using namespace emulated;

#define NCCL extern "C" __attribute__((visibility("default"))) ncclResult_t

NCCL ncclGetVersion(int* version) {
	*version = 22005;
	return ncclSuccess;
}

extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(ncclResult_t code) {
	static const char* const sentences[] = {"no error", "unhandled cuda error", "unhandled system error", "internal error", "invalid argument", "invalid usage", "remote process exited or there was a network error", "in progress"};
	return code >= 0 && code <= ncclInProgress ? sentences[code] : "unknown result code";
}

NCCL ncclGetUniqueId(ncclUniqueId* id) {
	static std::atomic<int> made;
	memset(id, 0, sizeof(*id));
	snprintf(id->internal, sizeof(id->internal), "/dev/shm/dsp-emulated-nccl-%d-%d-%lld", (int)getpid(), made++, (long long)nanoseconds());
	File* f = map_file(id->internal, true);
	if (!f) return refuse(ncclSystemError, std::string("cannot make ") + id->internal);
	munmap(f, sizeof(File));
	return ncclSuccess;
}

// The ranks wait for each other. The last one removes the file's name.
NCCL ncclCommInitRank(Communicator** to, int ranks, ncclUniqueId id, int rank) {
	auto c = std::make_shared<Communicator>();
	{
		Call call;
		if (call.code) return ncclUnhandledCudaError;
		c->context = call.context;
	}
	if (setting("NCCL_RUNTIME_CONNECT", "1") != "0") return refuse(ncclInvalidUsage, "ranks would connect in their first exchange only, which cannot be aborted (NCCL_RUNTIME_CONNECT=0)");
	if (ranks < 1 || ranks > most_ranks || rank < 0 || rank >= ranks || memchr(id.internal, 0, sizeof(id.internal)) == nullptr) return ncclInvalidArgument;
	c->rank = rank;
	c->ranks = ranks;
	int who = -1, when = 0;
	if (sscanf(setting("DSP_EMULATED_DEATH", "").c_str(), "%d:%d", &who, &when) == 2 && who == rank) c->left = when;
	c->file = map_file(id.internal, false);
	if (!c->file) return refuse(ncclInvalidArgument, "there is no such group, or all its ranks have joined it");
	int none = 0, joined = 0;
	if (!c->file->ranks.compare_exchange_strong(none, ranks) && none != ranks) return refuse(ncclInvalidArgument, "the ranks disagree on their number");
	if (!c->file->peers[rank].joined.compare_exchange_strong(joined, 1 + c->context->ordinal)) return refuse(ncclInvalidUsage, "two ranks have the same number");
	for (int r = 0; r < ranks; r++) {
		while (c->file->peers[r].joined == 0) usleep(100);
		if (r != rank && c->file->peers[r].joined == 1 + c->context->ordinal) return refuse(ncclInvalidUsage, "two ranks have the same device");
	}
	unlink(id.internal);
	Call call;
	if (call.code) return ncclUnhandledCudaError;
	communicators[c.get()] = c;
	*to = c.get();
	return ncclSuccess;
}

NCCL ncclAllGather(const void* from, void* to, size_t count, int type, Communicator* handle, void* stream) {
	Call call;
	if (call.code) return ncclUnhandledCudaError;
	auto found = communicators.find(handle);
	if (found == communicators.end()) return refuse(ncclInvalidArgument, "a communicator that was destroyed, or never made");
	Communicator& c = *found->second;
	Stream* s = call.context->stream(stream);
	if (c.context != call.context || !s || s == &call.context->legacy) return refuse(ncclInvalidUsage, "a communicator of another device, or no stream of this one");
	if (c.stream && c.stream != s) return refuse(ncclInvalidUsage, "exchanges of a communicator in two streams");
	if (s->capturing) return refuse(ncclInvalidUsage, "an exchange in a captured graph is not emulated");
	if (type != float32) return refuse(ncclInvalidArgument, "numbers that are not emulated");
	if (count == 0) return ncclSuccess;
	size_t bytes = count * 4;
	uintptr_t a = (uintptr_t)from, b = (uintptr_t)to;
	if (!c.context->memory.holds(a, bytes) || !c.context->memory.holds(b, bytes * (size_t)c.ranks)) return refuse(ncclInvalidArgument, "memory that is not the device's");
	if (a != b + (size_t)c.rank * bytes && a < b + bytes * (size_t)c.ranks && b < a + bytes) return refuse(ncclInvalidArgument, "memory that overlaps, and not in place");
	c.stream = s;
	c.waiting++;
	auto x = std::make_shared<Exchange>(Exchange{found->second, a, b, bytes});
	return call.context->enqueue(stream, [x] { return x->run(); }) ? ncclUnhandledCudaError : ncclSuccess;
}

NCCL ncclCommGetAsyncError(Communicator* handle, ncclResult_t* failed) {
	Call call((Call::Early()));
	if (!communicators.count(handle)) return ncclInvalidArgument;
	*failed = handle->failed;
	return ncclSuccess;
}

// Exchanges that wait end with garbage.
NCCL ncclCommAbort(Communicator* handle) {
	Call call((Call::Early()));
	auto found = communicators.find(handle);
	if (found == communicators.end()) return ncclInvalidArgument;
	found->second->aborted = true;
	communicators.erase(found);
	return ncclSuccess;
}

NCCL ncclCommDestroy(Communicator* handle) {
	Call call((Call::Early()));
	auto found = communicators.find(handle);
	if (found == communicators.end()) return ncclInvalidArgument;
	if (found->second->waiting) return refuse(ncclInvalidUsage, "a communicator is destroyed before its exchanges have ended");
	communicators.erase(found);
	return ncclSuccess;
}
