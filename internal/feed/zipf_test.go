package feed_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"topk/internal/feed"
)

// Chi-square over ranks, with the tail in one cell. The bound is the mean of the statistic plus five standard deviations
// of it, and seeds are fixed, so a right sampler passes always.
func TestZipfFollowsItsLaw(t *testing.T) {
	const draws = 100_000
	for _, n := range []uint64{1, 2, 1000, 100_000_000} {
		for _, exponent := range []float64{0, 0.5, 0.999999999, 1, 1.1, 2, 4} {
			t.Run(fmt.Sprintf("s=%v n=%d", exponent, n), func(t *testing.T) {
				const cells = 200
				zipf := feed.NewZipf(exponent, n)
				rng := rand.New(rand.NewPCG(1, 2))
				observed := make([]float64, cells+1)
				for range draws {
					rank := zipf.Draw(rng)
					if rank < 1 || rank > n {
						t.Fatalf("rank %d", rank)
					}
					observed[min(rank, cells+1)-1]++
				}
				total := harmonic(n, exponent)
				statistic, freedom, expectedSum := 0.0, -1.0, 0.0
				for i := range cells {
					rank := uint64(i + 1)
					expected := draws * math.Pow(float64(rank), -exponent) / total
					if rank > n || expected < 10 {
						observed[cells] += observed[i]
						continue
					}
					expectedSum += expected
					statistic += (observed[i] - expected) * (observed[i] - expected) / expected
					freedom++
				}
				if rest := draws - expectedSum; rest > 10 {
					statistic += (observed[cells] - rest) * (observed[cells] - rest) / rest
					freedom++
				}
				require.LessOrEqual(t, statistic, freedom+5*math.Sqrt(2*max(freedom, 1)))
			})
		}
	}
}

// harmonic is the sum of k^-s for k in 1..n, its tail by Euler and Maclaurin's formula.
func harmonic(n uint64, s float64) float64 {
	const head = 100_000
	sum := 0.0
	for k := uint64(1); k <= min(n, head); k++ {
		sum += math.Pow(float64(k), -s)
	}
	if n <= head {
		return sum
	}
	a, b := float64(head), float64(n)
	integral := math.Log(b / a)
	if s != 1 {
		integral = (math.Pow(b, 1-s) - math.Pow(a, 1-s)) / (1 - s)
	}
	return sum + integral + (math.Pow(b, -s)-math.Pow(a, -s))/2 - s*(math.Pow(b, -s-1)-math.Pow(a, -s-1))/12
}

func TestZipfRepeatsItself(t *testing.T) {
	zipf := feed.NewZipf(1.1, 1_000_000)
	first, second := rand.New(rand.NewPCG(7, 0)), rand.New(rand.NewPCG(7, 0))
	for range 1000 {
		require.Equal(t, zipf.Draw(first), zipf.Draw(second))
	}
}

func BenchmarkZipf(b *testing.B) {
	for _, exponent := range []float64{0, 0.5, 1, 1.1, 2} {
		b.Run(fmt.Sprint(exponent), func(b *testing.B) {
			zipf := feed.NewZipf(exponent, 10_000_000)
			rng := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				zipf.Draw(rng)
			}
		})
	}
}
