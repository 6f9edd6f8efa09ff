#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <mutex>

namespace emulated {

static const uint32_t word = 0x7ff8dead;
static const unsigned char watched = 0xa5; // content of the guard bytes before an allocation, and after it up to a multiple of 16
static const size_t remembered = 2048;     // freed allocations whose addresses are not reused, so that accesses to them are detected

struct Region {
	uintptr_t at;
	size_t bytes;
	char* map;
	size_t mapped;
	bool freed;
};

static std::mutex mutex;
static std::map<uintptr_t, Region> regions; // of all contexts, by address of the mapping
static std::deque<uintptr_t> freed;

void poison(void* at, size_t bytes) {
	uint32_t* p = (uint32_t*)at;
	for (size_t i = 0; i < bytes / 4; i++) p[i] = word;
	memcpy(p + bytes / 4, &word, bytes % 4);
}

static void forget(uintptr_t map) {
	auto r = regions.find(map);
	munmap(r->second.map, r->second.mapped);
	regions.erase(r);
}

void* Memory::allocate(size_t bytes) {
	size_t page = (size_t)getpagesize(), room = (bytes + page - 1) / page * page, mapped = room + 2 * page;
	char* map = (char*)mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) return nullptr;
	if (mprotect(map + page, room, PROT_READ | PROT_WRITE)) {
		munmap(map, mapped);
		return nullptr;
	}
	char* at = map + page + room - (bytes + 15) / 16 * 16;
	memset(map + page, watched, (size_t)(at - map) - page);
	poison(at, bytes);
	memset(at + bytes, watched, (size_t)(map + page + room - at) - bytes);
	live_[(uintptr_t)at] = {bytes, map, mapped};
	used_ += bytes;
	std::lock_guard<std::mutex> hold(mutex);
	regions[(uintptr_t)map] = {(uintptr_t)at, bytes, map, mapped, false};
	return at;
}

bool Memory::release(uintptr_t at) {
	auto i = live_.find(at);
	if (i == live_.end()) return false;
	Allocation a = i->second;
	used_ -= a.bytes;
	live_.erase(i);
	// Release the pages but keep the addresses reserved.
	mmap(a.map, a.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	std::lock_guard<std::mutex> hold(mutex);
	regions[(uintptr_t)a.map].freed = true;
	freed.push_back((uintptr_t)a.map);
	if (freed.size() > remembered) {
		forget(freed.front());
		freed.pop_front();
	}
	return true;
}

Memory::~Memory() {
	while (!live_.empty()) release(live_.begin()->first);
}

bool Memory::range(uintptr_t at, uintptr_t* begin, size_t* bytes) const {
	auto i = live_.upper_bound(at);
	if (i == live_.begin()) return false;
	--i;
	if (at - i->first > i->second.bytes) return false;
	*begin = i->first;
	*bytes = i->second.bytes;
	return true;
}

bool Memory::holds(uintptr_t at, size_t bytes) const {
	uintptr_t begin;
	size_t all;
	return range(at, &begin, &all) && at - begin + bytes <= all;
}

std::string Memory::damage(uintptr_t at, bool before) const {
	auto i = live_.upper_bound(at);
	if (i == live_.begin()) return "";
	--i;
	const Allocation& a = i->second;
	const unsigned char* begin = (const unsigned char*)i->first;
	const unsigned char* low = (const unsigned char*)a.map + getpagesize();
	const unsigned char* high = (const unsigned char*)a.map + a.mapped - getpagesize();
	if (at >= (uintptr_t)high) return "";
	for (const unsigned char* p = begin + a.bytes; p < high; p++) {
		if (*p != watched) {
			return "wrote " + std::to_string(p - begin - (ptrdiff_t)a.bytes) + " bytes past the end of an allocation of " + std::to_string(a.bytes) + " bytes";
		}
	}
	for (const unsigned char* p = begin; before && p-- > low;) {
		if (*p != watched) return "wrote " + std::to_string(begin - p) + " bytes before an allocation of " + std::to_string(a.bytes) + " bytes";
	}
	return "";
}

std::string nearby(uintptr_t address) {
	std::lock_guard<std::mutex> hold(mutex);
	const Region* best = nullptr;
	uintptr_t distance = 1 << 20; // farther addresses are unrelated
	for (auto& entry : regions) {
		const Region& r = entry.second;
		uintptr_t d = address < r.at ? r.at - address : address < r.at + r.bytes ? 0 : address - r.at - r.bytes;
		if (d < distance || (d == distance && best && best->freed)) {
			best = &r;
			distance = d;
		}
	}
	if (address < 1 << 16) return "near null";
	if (!best) return "far from every allocation";
	std::string of = "an allocation of " + std::to_string(best->bytes) + " bytes" + (best->freed ? ", which was freed" : "");
	if (address < best->at) return std::to_string(best->at - address) + " bytes before " + of;
	if (address < best->at + best->bytes) return "at byte " + std::to_string(address - best->at) + " of " + of;
	return std::to_string(address - best->at - best->bytes) + " bytes behind the end of " + of;
}

} // namespace emulated
