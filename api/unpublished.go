package api

import (
	"time"

	"topk/internal/list"
)

// unpublishedList is a list that does not exist yet. It has the fields of list.List, in order, with null for each time.
type unpublishedList struct {
	ItemType     string      `json:"item_type"`
	Window       string      `json:"window"`
	Slice        string      `json:"slice"`
	From         *time.Time  `json:"from"`
	AsOf         *time.Time  `json:"as_of"`
	ExactUntil   *time.Time  `json:"exact_until"`
	Method       string      `json:"method"`
	Certified    bool        `json:"certified"`
	MaxOvercount uint64      `json:"max_overcount"`
	Floor        uint64      `json:"floor"`
	Total        uint64      `json:"total"`
	Other        uint64      `json:"other"`
	Version      int64       `json:"version"`
	PublishedAt  *time.Time  `json:"published_at"`
	Revised      bool        `json:"revised"`
	Stale        bool        `json:"stale"`
	Precomputed  bool        `json:"precomputed"`
	Partial      []string    `json:"partial"`
	Reason       string      `json:"reason,omitempty"`
	Items        []list.Item `json:"items"`
}
