package rollups

import (
	"context"
	"time"
)

// pause waits, or returns early when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// backoff doubles its pause from firstBackoff to lastBackoff while something fails.
type backoff struct{ next time.Duration }

func (b *backoff) pause(ctx context.Context) {
	b.next = min(max(2*b.next, firstBackoff), lastBackoff)
	pause(ctx, b.next)
}

func (b *backoff) reset() { b.next = 0 }
