package driver

// NCCL is NVIDIA's library for exchanges between devices. Errors are *Error.
type NCCL interface {
	Version() int // 10000 major + 100 minor + patch; before 2.9 1000 major + 100 minor + patch
	// NewIdentifier returns what the ranks of a new group need to find each other.
	NewIdentifier() (Identifier, error)
	// Join makes the current context of the calling OS thread a rank of a group, and waits until all ranks have joined
	// it. Each has a device of its own.
	Join(ranks, rank int, group Identifier) (Communicator, error)
}

// Identifier is ncclUniqueId.
type Identifier [128]byte

// Communicator is a rank of a group of devices. Calls but Failed and Abort work on the current context, which must be
// that of Join.
type Communicator interface {
	// AllGather enqueues an exchange: to becomes the n numbers of float32 at from of all ranks, in their order. All
	// ranks call it with the same n, in the same order.
	AllGather(to, from Address, n int, s Stream) error
	// Failed returns an error that the library has noticed since.
	Failed() error
	// Abort ends exchanges that are under way, whose numbers are then undefined, and the communicator.
	Abort() error
	Close() error // after the last exchange
}
