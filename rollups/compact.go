package rollups

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
)

const (
	// summaryItems are kept of a minute.
	summaryItems = 10_000
	// manyLoose summaries that arrived after a minute was combined make it worth another round; each is small.
	manyLoose = 32
	// maxCompactions bounds a round: after a long absence an hour is caught up over several.
	maxCompactions = 8
	// maxAbsorbed bounds the summaries of one combination: their names travel in the URL, 21 bytes each, where servers accept a
	// megabyte. The rest stays loose, which is slower and no less right.
	maxAbsorbed = 20_000
)

// arrived are the summaries of one item type for one bucket.
type arrived struct {
	itemType string
	bucket   time.Time
	blocks   []uint64
}

// compact combines the summaries of closed minutes, so that an hour is nominated from about sixty rows and not from
// thousands. Lists are right without it, only slower. It returns how many minutes it combined.
//
// Names are read first and rows by name, so it matters to nobody what else is written meanwhile. A minute is always combined
// from all that arrived for it, never from its earlier combination: the newer row then stands for all that the older did.
func compact(ctx context.Context, conn driver.Conn, asOf time.Time) (done int, err error) {
	until := asOf.Truncate(time.Minute)
	closed := span{until.Add(-longestWindow() - time.Minute), until}
	combined, err := combinations(ctx, conn, "topk_minute", closed)
	if err != nil {
		return 0, err
	}
	loose, err := readLoose(ctx, conn, closed)
	if err != nil {
		return 0, err
	}
	minutes := worthwhile(combined, loose)
	for _, m := range minutes[:min(len(minutes), maxCompactions)] {
		if err := combine(ctx, conn, "topk_minute", span{m.bucket, m.bucket.Add(time.Minute)}, m.blocks); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

// combine writes one summary of each item type in place of the named ones of s.
func combine(ctx context.Context, conn driver.Conn, target string, s span, blocks []uint64) error {
	p := parameters{"target": target, "slice": list.GlobalSlice, "bucket": s.from, "until": s.until, "keep": summaryItems,
		"blocks": blocks[:min(len(blocks), maxAbsorbed)]}
	return execute(ctx, conn, "compact", p, questionBudget)
}

func readLoose(ctx context.Context, conn driver.Conn, s span) ([]arrived, error) {
	var found []arrived
	p := parameters{"slice": list.GlobalSlice, "from": s.from, "until": s.until}
	err := read(ctx, conn, "loose", p, questionBudget, func(r driver.Rows) error {
		var a arrived
		if err := r.Scan(&a.itemType, &a.bucket, &a.blocks); err != nil {
			return err
		}
		a.bucket = a.bucket.UTC()
		found = append(found, a)
		return nil
	})
	return found, err
}

// worthwhile are the minutes to combine, those with most loose summaries of one type first. Their blocks are of the types
// for which it pays.
func worthwhile(combined []combination, all []arrived) []arrived {
	taken := absorbed(combined)
	type key struct {
		itemType string
		bucket   int64
	}
	before := map[key]bool{}
	for _, c := range combined {
		before[key{c.itemType, c.bucket.Unix()}] = true
	}
	most := map[int64]int{}
	blocks := map[int64][]uint64{}
	for _, a := range all {
		loose := 0
		for _, block := range a.blocks {
			if !taken[block] {
				loose++
			}
		}
		minute := a.bucket.Unix()
		if loose >= manyLoose || loose > 1 && !before[key{a.itemType, minute}] {
			most[minute] = max(most[minute], loose)
			blocks[minute] = append(blocks[minute], a.blocks...)
		}
	}
	minutes := make([]arrived, 0, len(blocks))
	for minute, names := range blocks {
		minutes = append(minutes, arrived{bucket: time.Unix(minute, 0).UTC(), blocks: names})
	}
	slices.SortFunc(minutes, func(a, b arrived) int {
		return cmp.Or(cmp.Compare(most[b.bucket.Unix()], most[a.bucket.Unix()]), a.bucket.Compare(b.bucket))
	})
	return minutes
}
