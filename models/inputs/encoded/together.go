package encoded

import (
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// foundByAll reports whether all peers have found the rows in a file; if not, all compute them together. Processes
// whose words or encoders differ are refused. failed is the error of this process.
func (r *rows) foundByAll(name string, found bool, peers structured.Peers, failed error) (bool, error) {
	type state struct {
		Rows  string
		Words int
		Found bool
	}
	all, err := structured.AllGather(peers, state{r.fingerprint, r.n, found}, failed)
	if err != nil {
		return false, err
	}
	everywhere := true
	for process, x := range all {
		if x.Rows != all[0].Rows {
			return false, structured.BadInput("%s: rank %d has %d words, and rank 0 %d, and their encoders give them other "+
				"rows: all ranks need the same files and the same encoder", name, process, x.Words, all[0].Words)
		}
		everywhere = everywhere && x.Found
	}
	return everywhere, nil
}

// roundBytes is how many bytes of rows processes tell each other at a time, all together.
const roundBytes = 64 << 20

// encodeTogether computes the rows of batches in rounds: of each, every process computes some batches and tells the
// others their rows, so that write gets the rows of all batches in every process.
func (r *Reader) encodeTogether(batches [][]sentence, o Options, shown *progress,
	encode func(batch []sentence, write use) error, write use) error {
	peers := o.Peers
	round := max(peers.Size(), roundBytes/(batchPieces*4*r.Width()))
	for from := 0; from < len(batches); from += round {
		n := min(round, len(batches)-from)
		var mu sync.Mutex
		var mine []byte // guarded by mu
		tell := func(position int, rows []float32) error {
			mu.Lock()
			defer mu.Unlock()
			mine = binary.LittleEndian.AppendUint64(mine, uint64(position))
			mine = binary.LittleEndian.AppendUint64(mine, uint64(len(rows)))
			for _, x := range rows {
				mine = binary.LittleEndian.AppendUint32(mine, math.Float32bits(x))
			}
			return nil
		}
		own := (n - peers.Rank() + peers.Size() - 1) / peers.Size()
		err := host.Parallel(o.Threads, own, host.None, func(_ struct{}, k int) error {
			return encode(batches[from+peers.Rank()+k*peers.Size()], tell)
		})
		if _, err = structured.AllGather(peers, 0, err); err != nil {
			return err
		}
		all, err := peers.Gather(mine)
		if err != nil {
			return err
		}
		for _, told := range all {
			if err := takeRows(told, write); err != nil {
				return err
			}
		}
		for k, batch := range batches[from : from+n] {
			if k%peers.Size() != peers.Rank() { // encode has shown its own
				shown.add(piecesOf(batch))
			}
		}
	}
	return nil
}

// takeRows hands on the rows that another process has told.
func takeRows(told []byte, write use) error {
	const header = 16
	var rows []float32
	for len(told) > 0 {
		if len(told) < header {
			return errShortRows
		}
		position, n := binary.LittleEndian.Uint64(told), binary.LittleEndian.Uint64(told[8:])
		if told = told[header:]; uint64(len(told)/4) < n {
			return errShortRows
		}
		rows = rows[:0]
		for k := range int(n) {
			rows = append(rows, math.Float32frombits(binary.LittleEndian.Uint32(told[4*k:])))
		}
		told = told[4*n:]
		if err := write(int(position), rows); err != nil {
			return err
		}
	}
	return nil
}

var errShortRows = errors.New("another rank sent rows of an encoder that end too soon")
