package endtoend

// The exit codes that users rely on, written again so that a change of the program's constants fails here.
const (
	exitDone        = 0
	exitFailed      = 1
	exitBadInput    = 2
	exitUnproven    = 3
	exitInterrupted = 130
)
