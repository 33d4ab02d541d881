package feed

import (
	"math"
	"math/rand/v2"
)

// Zipf draws ranks 1..n with a probability proportional to rank^-s, for any s >= 0, exactly, in constant memory and
// about constant time. math/rand's needs s > 1, and a table of n sums needs n numbers.
//
// It is rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", ACM TOMACS 6(3), 1996. A point is drawn under the area of h(x) = x^-s by inverting its
// integral H; the nearest whole number is taken when the point falls within its own bar.
type Zipf struct {
	n        float64
	exponent float64
	top      float64 // H(1.5) - h(1): where the area of rank 1 starts
	bottom   float64 // H(n + 0.5)
	squeeze  float64 // a point this near to its whole number is always within the bar
}

// NewZipf makes a distribution over 1..n, n >= 1, with an exponent >= 0; 0 is uniform.
func NewZipf(exponent float64, n uint64) *Zipf {
	z := &Zipf{n: float64(n), exponent: exponent}
	z.top = z.integral(1.5) - 1
	z.bottom = z.integral(z.n + 0.5)
	z.squeeze = 2 - z.inverse(z.integral(2.5)-z.height(2))
	return z
}

// Draw returns a rank.
func (z *Zipf) Draw(rng *rand.Rand) uint64 {
	if z.exponent == 0 {
		return 1 + rng.Uint64N(uint64(z.n))
	}
	for {
		u := z.bottom + rng.Float64()*(z.top-z.bottom)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.squeeze || u >= z.integral(k+0.5)-z.height(k) {
			return uint64(k)
		}
	}
}

// height is h(x) = x^-s.
func (z *Zipf) height(x float64) float64 { return math.Exp(-z.exponent * math.Log(x)) }

// integral is H(x) = (x^(1-s) - 1) / (1-s), and log x at s = 1, written so that it is smooth there.
func (z *Zipf) integral(x float64) float64 {
	logX := math.Log(x)
	return expm1Over((1-z.exponent)*logX) * logX
}

// inverse is the x of H(x) = y.
func (z *Zipf) inverse(y float64) float64 {
	// Rounding can bring t below -1, where the logarithm ends.
	t := max(y*(1-z.exponent), -1)
	return math.Exp(log1pOver(t) * y)
}

// expm1Over is (e^t - 1) / t, by its series near 0.
func expm1Over(t float64) float64 {
	if math.Abs(t) > 1e-8 {
		return math.Expm1(t) / t
	}
	return 1 + t/2*(1+t/3*(1+t/4))
}

// log1pOver is log(1 + t) / t, by its series near 0.
func log1pOver(t float64) float64 {
	if math.Abs(t) > 1e-8 {
		return math.Log1p(t) / t
	}
	return 1 - t*(0.5-t*(1.0/3-t/4))
}
