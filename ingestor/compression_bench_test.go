package ingestor

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"topk/internal/wire"
)

// BenchmarkCompression compresses the messages of 20,000 events and their counts with each codec that ClickHouse reads.
func BenchmarkCompression(b *testing.B) {
	batch := newBatch("ingest@1764547200000", 1)
	for _, e := range benchEvents(20_000) {
		batch.add(&e)
	}
	batch.parts[0].endEvents(batch.ingestor, false)
	batch.parts[0].encodeCounts(new(wire.Counts), batch.ingestor, 0, false)
	messages := append(bytes.Clone(batch.parts[0].events.buf), batch.parts[0].out.buf...)
	for name, codec := range map[string]kgo.CompressionCodec{
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression().WithLevel(1),
	} {
		b.Run(name, func(b *testing.B) {
			compressor, err := kgo.DefaultCompressor(codec)
			require.NoError(b, err)
			size := 0
			report := perCPUSecond(b)
			for range b.N {
				out, _ := compressor.Compress(new(bytes.Buffer), messages)
				size = len(out)
			}
			report(b.N * 20_000)
			b.ReportMetric(float64(size)/20_000, "bytes/event")
			b.ReportMetric(float64(len(messages))/float64(size), "ratio")
		})
	}
}
