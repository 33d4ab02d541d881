package list

import "time"

// Chart is the most viewed items of one calendar day in a named time zone, most viewed first, then by ItemID's bytes.
type Chart struct {
	ItemType    string      `json:"item_type"`
	Zone        string      `json:"zone"` // of the tz database, such as Asia/Kolkata
	Day         string      `json:"day"`  // 2026-11-29
	From        time.Time   `json:"from"` // the day is [From, Until)
	Until       time.Time   `json:"until"`
	AsOf        time.Time   `json:"as_of"`       // event time up to which it counts, at most Until
	Provisional bool        `json:"provisional"` // the day is not over, or not all of its hours are recounted
	Revision    int64       `json:"revision"`    // 1, 2, 3 of this item type, zone and day
	Revised     bool        `json:"revised"`     // a final revision came before
	Reason      string      `json:"reason,omitempty"`
	Cap         uint64      `json:"cap"`   // views counted of a viewer, item and UTC hour at most; 0 is all
	Total       uint64      `json:"total"` // views of all items, each viewer's within Cap
	Items       []ChartItem `json:"items"`
}

// ChartItem is one position of a chart.
type ChartItem struct {
	Position int    `json:"position"` // 1, 2, 3, 4
	Rank     int    `json:"rank"`     // 1, 2, 2, 4: equal counts share a rank
	ItemID   string `json:"item_id"`
	Count    uint64 `json:"count"`
}

// Add appends the next item in order, with its position and rank.
func (c *Chart) Add(itemID string, count uint64) {
	position := len(c.Items) + 1
	rank := position
	if last := position - 2; last >= 0 && c.Items[last].Count == count {
		rank = c.Items[last].Rank
	}
	c.Items = append(c.Items, ChartItem{Position: position, Rank: rank, ItemID: itemID, Count: count})
}

// Cut is the chart of the first k positions. It shares the items of c, which must not change afterwards.
func (c *Chart) Cut(k int) *Chart {
	cut := *c
	if k < len(c.Items) {
		cut.Items = c.Items[:k:k]
	}
	return &cut
}
