// Package wire is what stands on Kafka: topic names, headers, and the row encoding that ClickHouse's queue tables read.
package wire

// Topics carry their schema's version in the name.
const (
	EventsTopic = "topk.events.v1" // every accepted event
	CountsTopic = "topk.counts.v1" // combined counts of events without flags
)

// Consumer groups of ClickHouse's queue tables. An offset is committed once every view has the block it ends.
const (
	EventsGroup = "topk-events"
	CountsGroup = "topk-counts"
)

// Record headers, read as columns by the queue views. Values are decimal ASCII.
const (
	HeaderWatermark  = "watermark"  // epoch milliseconds: every event of this ingestor before it has been sent; 0 when unknown
	HeaderPartitions = "partitions" // partitions of the topic, so that readers notice a missing one
	HeaderClosed     = "closed"     // "1" in the last message of an ingestor that stops by itself
)
