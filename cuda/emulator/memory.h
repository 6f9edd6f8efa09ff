// Memory of the device: every allocation is a mapping of its own that ends at an unmapped page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace emulated {

// poison fills with a word that is NaN as a float and in both halves of a double, and far out of range as an index.
void poison(void* at, size_t bytes);

struct Allocation {
	size_t bytes;
	char* map; // where its pages begin
	size_t mapped;
};

// Memory is one context's. Addresses are multiples of 16, so that what is not a multiple of 16 bytes long is followed by up to 15 bytes
// that are watched: intact tells whether somebody wrote there.
class Memory {
public:
	~Memory();
	void* allocate(size_t bytes); // null where the system has no more
	bool release(uintptr_t at);   // false: not the beginning of an allocation
	bool holds(uintptr_t at, size_t bytes) const;
	bool range(uintptr_t at, uintptr_t* begin, size_t* bytes) const;
	// damage is empty where what follows the allocation that holds the address is as it was; before, too, if wanted.
	std::string damage(uintptr_t at, bool before) const;
	size_t used() const { return used_; }

private:
	std::map<uintptr_t, Allocation> live_;
	size_t used_ = 0;
};

// nearby tells which allocation an address that cannot be read or written lies behind, before or in; also of those freed.
std::string nearby(uintptr_t address);

} // namespace emulated
