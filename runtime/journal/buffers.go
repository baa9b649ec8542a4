package journal

import "sync"

// The buffers of a journal are used again and again: a run encodes and writes two records for each step.
const (
	recordSize = 4 << 10  // the least that a buffer for one record holds
	mostRecord = 16 << 20 // the most that one holds which is used again
	pieceSize  = 64 << 10 // of records that are written together
)

var (
	records = buffers{least: recordSize, most: mostRecord}
	pieces  = buffers{least: pieceSize, most: pieceSize}
)

// buffers keeps those that hold at least and at most so many bytes. It is safe for concurrent use.
type buffers struct {
	pool        sync.Pool
	least, most int
}

// get is an empty buffer.
func (b *buffers) get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return (*kept)[:0]
	}
	return make([]byte, 0, b.least)
}

// put takes a buffer that nobody uses any more; one of another size is let go.
func (b *buffers) put(buffer []byte) {
	if cap(buffer) >= b.least && cap(buffer) <= b.most {
		b.pool.Put(&buffer)
	}
}
