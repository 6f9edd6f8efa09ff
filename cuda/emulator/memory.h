// Memory of the device: every allocation is a separate mapping that ends at an unmapped page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace emulated {

// poison fills memory with a word that is NaN as a float and in both halves of a double, and far out of range as an index.
void poison(void* at, size_t bytes);

struct Allocation {
	size_t bytes;
	char* map; // start of its pages
	size_t mapped;
};

// Memory belongs to one context. Addresses are multiples of 16, so an allocation whose size is not is followed by up to 15 guard bytes;
// damage checks whether a kernel wrote to them.
class Memory {
public:
	~Memory();
	void* allocate(size_t bytes); // null if the system is out of memory
	bool release(uintptr_t at);   // false: not the start of an allocation
	bool holds(uintptr_t at, size_t bytes) const;
	bool range(uintptr_t at, uintptr_t* begin, size_t* bytes) const;
	// damage describes writes to the guard bytes after the allocation that holds the address and, if wanted, before it; empty if there are none.
	std::string damage(uintptr_t at, bool before) const;
	size_t used() const { return used_; }

private:
	std::map<uintptr_t, Allocation> live_;
	size_t used_ = 0;
};

// nearby describes an invalid address relative to the nearest allocation, including freed ones.
std::string nearby(uintptr_t address);

} // namespace emulated
