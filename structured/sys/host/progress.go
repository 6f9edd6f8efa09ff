package host

import (
	"sync"
	"time"
)

// Progress says from time to time how far long work is. Any number of goroutines may add to it.
type Progress struct {
	mu          sync.Mutex
	total, done int
	say         func(done int, rest time.Duration)
	now         func() time.Time
	begun, said time.Time
}

// silence is the longest time without a word, but for what one step takes.
const silence = 10 * time.Second

// NewProgress begins work of so many steps, in any unit. say is told, at most every ten seconds, how many are done, and
// how long the rest will take if it goes on like that.
func NewProgress(total int, say func(done int, rest time.Duration)) *Progress {
	p := &Progress{total: total, say: say, now: time.Now}
	p.begun = p.now()
	p.said = p.begun
	return p
}

// Add says that some more steps are done.
func (p *Progress) Add(steps int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += steps
	if now := p.now(); p.done < p.total && p.done > 0 && now.Sub(p.said) >= silence {
		p.said = now
		p.say(p.done, time.Duration(float64(now.Sub(p.begun))*float64(p.total-p.done)/float64(p.done)))
	}
}
