package pieces

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

// wordPiece takes the longest piece that a part begins with, and so on (Wu et al. 2016; BERT's).
type wordPiece struct {
	vocabulary
	continuing string // begins the pieces that begin no word
	most       int    // characters of a part; longer ones are unknown
	longest    int    // piece, in bytes
	unknown    int32
}

func (w *wordPiece) cut(ids []int32, part string) []int32 {
	if utf8.RuneCountInString(part) > w.most {
		return append(ids, w.unknown)
	}
	from, before := len(ids), ""
	var piece []byte
	for part != "" {
		end := min(len(part), w.longest)
		for ; end > 0; end-- {
			if end < len(part) && !utf8.RuneStart(part[end]) {
				continue
			}
			piece = append(append(piece[:0], before...), part[:end]...)
			if id, ok := w.vocabulary[string(piece)]; ok {
				ids = append(ids, id)
				break
			}
		}
		if end == 0 {
			return append(ids[:from], w.unknown)
		}
		part, before = part[end:], w.continuing
	}
	return ids
}

// bpe merges neighbouring symbols, the pair with the least rank first (Sennrich et al. 2016).
type bpe struct {
	vocabulary
	merges     map[[2]int32]merge
	continuing string // begins the symbols that begin no word
	end        string // ends the last symbol of a word
	unknown    int32  // −1: characters without a piece are dropped
	fuse       bool   // neighbouring unknown characters are one piece
	bytes      bool   // unknown characters are pieces of bytes
	whole      bool   // a part that is a piece is not merged from symbols
}

// merge is the symbol that a pair becomes.
type merge struct{ rank, id int32 }

// readMerges reads the list of merges, pairs as texts or lists.
func (b *bpe) readMerges(raw json.RawMessage) error {
	var pairs [][2]string
	var texts []string
	if json.Unmarshal(raw, &texts) == nil {
		for i, t := range texts {
			left, right, ok := strings.Cut(t, " ")
			if !ok || left == "" || right == "" {
				return structured.BadInput("model: merge %d is %q, expected two pieces with a space between them", i+1, t)
			}
			pairs = append(pairs, [2]string{left, right})
		}
	} else if err := json.Unmarshal(raw, &pairs); err != nil {
		return structured.BadInput("model: merges: %w", err)
	}
	b.merges = make(map[[2]int32]merge, len(pairs))
	for rank, p := range pairs {
		left, okLeft := b.vocabulary[p[0]]
		right, okRight := b.vocabulary[p[1]]
		whole, ok := b.vocabulary[p[0]+strings.TrimPrefix(p[1], b.continuing)]
		if !okLeft || !okRight || !ok {
			return structured.BadInput("model: merge %d, %q and %q: vocab has not all of both and what they become", rank+1,
				p[0], p[1])
		}
		b.merges[[2]int32{left, right}] = merge{int32(rank), whole}
	}
	return nil
}

// symbol is a part of a word that merges make longer; a doubly linked list.
type symbol struct {
	id, previous, next int32 // id −1: merged into the one before
}

// candidate is a merge of the symbol at a place with the one after it.
type candidate struct {
	rank, at  int32
	left, end int32 // the symbols that it was found for
	id        int32
}

type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	return c[i].rank < c[j].rank || c[i].rank == c[j].rank && c[i].at < c[j].at
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

func (b *bpe) cut(ids []int32, part string) []int32 {
	if b.whole {
		if id, ok := b.vocabulary[part]; ok {
			return append(ids, id)
		}
	}
	var all []symbol
	for _, id := range b.symbols(part) {
		all = append(all, symbol{id, int32(len(all)) - 1, int32(len(all)) + 1})
	}
	var waiting candidates
	consider := func(at int32) {
		if at < 0 || int(all[at].next) >= len(all) {
			return
		}
		left, right := all[at].id, all[all[at].next].id
		if m, ok := b.merges[[2]int32{left, right}]; ok {
			heap.Push(&waiting, candidate{m.rank, at, left, right, m.id})
		}
	}
	for at := range all {
		consider(int32(at))
	}
	for len(waiting) > 0 {
		c := heap.Pop(&waiting).(candidate)
		s := &all[c.at]
		if s.id != c.left || int(s.next) >= len(all) || all[s.next].id != c.end {
			continue // one of both has been merged since
		}
		s.id = c.id
		gone := s.next
		all[gone].id = -1
		if s.next = all[gone].next; int(s.next) < len(all) {
			all[s.next].previous = c.at
		}
		consider(s.previous)
		consider(c.at)
	}
	for _, s := range all {
		if s.id >= 0 {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// symbols returns the symbols that merging starts from.
func (b *bpe) symbols(part string) []int32 {
	var ids []int32
	fusing := false
	for i, r := range part {
		size := utf8.RuneLen(r)
		s := part[i : i+size]
		if i > 0 {
			s = b.continuing + s
		}
		if i+size == len(part) {
			s += b.end
		}
		if id, ok := b.vocabulary[s]; ok {
			ids, fusing = append(ids, id), false
			continue
		}
		if b.bytes {
			if all := b.ofBytes(s); all != nil {
				ids = append(ids, all...)
				continue
			}
		}
		if b.unknown >= 0 && !(fusing && b.fuse) {
			ids = append(ids, b.unknown)
		}
		fusing = true
	}
	return ids
}

// ofBytes returns the pieces <0x00> to <0xFF> of the bytes of s; nil if one of them is no piece.
func (v vocabulary) ofBytes(s string) []int32 {
	var ids []int32
	for i := range len(s) {
		id, ok := v[fmt.Sprintf("<0x%02X>", s[i])]
		if !ok {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// unigram finds the pieces with the largest sum of scores (Kudo 2018).
type unigram struct {
	vocabulary
	pieces  []string
	scores  []float64
	longest int // piece, in bytes
	unknown int32
	penalty float64 // score of a character without a piece
	bytes   bool    // unknown characters are pieces of bytes
}

func newUnigram(raw json.RawMessage, unknown *int, bytes bool) (*unigram, error) {
	var list []pieceAndScore
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, structured.BadInput("model: vocab: %w", err)
	}
	u := &unigram{vocabulary: make(vocabulary, len(list)), unknown: -1, bytes: bytes}
	least := math.Inf(1)
	for id, p := range list {
		if err := checkPiece(p.piece); err != nil {
			return nil, err
		}
		u.vocabulary[p.piece] = int32(id)
		u.pieces, u.scores = append(u.pieces, p.piece), append(u.scores, p.score)
		u.longest, least = max(u.longest, len(p.piece)), min(least, p.score)
	}
	if unknown == nil || *unknown < 0 || *unknown >= len(list) {
		return nil, structured.BadInput("model: unk_id is not the number of one of the %d pieces", len(list))
	}
	u.unknown, u.penalty = int32(*unknown), least-10
	return u, nil
}

// pieceAndScore is a pair such as ["▁the", -3.2].
type pieceAndScore struct {
	piece string
	score float64
}

func (p *pieceAndScore) UnmarshalJSON(text []byte) error {
	var score json.Number
	if err := json.Unmarshal(text, &[2]any{&p.piece, &score}); err != nil {
		return err
	}
	p.score = scoreOf(string(score))
	return nil
}

// scoreOf reads a number as the library does, with two roundings: the digits as one integer, then the power of ten.
// Sums of scores tie often ("OO", "O" and "O", "OO"), and their last bits decide.
func scoreOf(text string) float64 {
	digits, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(text, "-")), "e")
	power, _ := strconv.Atoi(exponent)
	var whole uint64
	fraction, full := false, false
	for i := range len(digits) {
		if digits[i] == '.' {
			fraction = true
			continue
		}
		d := uint64(digits[i] - '0')
		if full = full || whole > (math.MaxUint64-d)/10; full {
			if !fraction {
				power++
			}
			continue
		}
		if whole = 10*whole + d; fraction {
			power--
		}
	}
	score := float64(whole)
	switch {
	case power < -300:
		score = 0
	case power < 0:
		score /= math.Pow10(-power)
	default:
		score *= math.Pow10(power)
	}
	if strings.HasPrefix(text, "-") {
		return -score
	}
	return score
}

func (u *unigram) cut(ids []int32, part string) []int32 {
	type state struct {
		score float64 // of the best pieces that end here
		from  int     // where the last of them begins; −1: none ends here
		id    int32   // of the last
	}
	best := make([]state, len(part)+1)
	for i := range best {
		best[i].from = -1
	}
	extend := func(from, to int, id int32, score float64) {
		if score += best[from].score; best[to].from < 0 || score > best[to].score {
			best[to] = state{score, from, id}
		}
	}
	for i, r := range part {
		size, single := utf8.RuneLen(r), false
		for end := i + size; end <= len(part) && end-i <= u.longest; end++ {
			if end < len(part) && !utf8.RuneStart(part[end]) {
				continue
			}
			if id, ok := u.vocabulary[part[i:end]]; ok {
				extend(i, end, id, u.scores[id])
				single = single || end == i+size
			}
		}
		if !single {
			extend(i, i+size, u.unknown, u.penalty)
		}
	}
	from := len(ids)
	for end := len(part); end > 0; {
		s := best[end]
		if s.id != u.unknown {
			ids = append(ids, s.id)
			end = s.from
			continue
		}
		last := end
		for end > 0 && best[end].id == u.unknown { // neighbouring unknown characters are one piece
			end = best[end].from
		}
		ids = u.addUnknown(ids, part[end:last])
	}
	for i, j := from, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids
}

// addUnknown appends the pieces of unknown characters, the last first.
func (u *unigram) addUnknown(ids []int32, s string) []int32 {
	if id, ok := u.vocabulary[s]; ok {
		return append(ids, id)
	}
	if u.bytes {
		if all := u.ofBytes(s); all != nil {
			for k := len(all) - 1; k >= 0; k-- {
				ids = append(ids, all[k])
			}
			return ids
		}
	}
	return append(ids, u.unknown)
}
