package list

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCertifiedToIsTrueOnlyWhenProven(t *testing.T) {
	exact := func(counts ...uint64) []Item {
		items := make([]Item, len(counts))
		for i, n := range counts {
			items[i] = Item{Count: n, Lower: n, Upper: n}
		}
		return items
	}
	less := func(by uint64, counts ...uint64) []Item {
		items := exact(counts...)
		for i := range items {
			items[i].Lower -= min(by, items[i].Lower)
		}
		return items
	}
	for name, c := range map[string]struct {
		list List
		k    int
		want bool
	}{
		"whole and empty":                   {List{}, 10, true},
		"empty, but something was left out": {List{Floor: 1}, 10, false},
		"shorter than k and whole":          {List{Items: exact(3, 1)}, 10, true},
		"shorter than k, not whole":         {List{Items: exact(3, 2), Floor: 1}, 10, false},
		"whole with duplicates":             {List{Items: less(9, 3, 1), MaxOvercount: 9}, 2, true},
		"whole by an estimate of nothing":   {List{Method: MethodEstimated, Items: less(9, 3, 1), MaxOvercount: 9}, 9, false},
		"above the floor":                   {List{Items: exact(5, 4), Floor: 3}, 2, true},
		"at the floor an id could be less":  {List{Items: exact(5, 4), Floor: 4}, 2, false},
		"a tie of exact counts is ordered":  {List{Items: exact(5, 4, 4), Floor: 3}, 2, true},
		"a tie of bounds is not":            {List{Items: less(1, 5, 4, 3), Floor: 1, MaxOvercount: 1}, 2, false},
		"bounds that do not meet":           {List{Items: less(1, 9, 8, 3), Floor: 1, MaxOvercount: 1}, 2, true},
		"a low bound high up":               {List{Items: []Item{{Count: 9, Lower: 2, Upper: 9}, {Count: 8, Lower: 8, Upper: 8}, {Count: 3, Upper: 3}}, MaxOvercount: 7}, 2, false},
		"what is waiting may be more":       {List{Items: []Item{{Count: 5, Lower: 5, Upper: 7}, {Count: 4, Lower: 4, Upper: 6}}, Floor: 2, Partial: []string{"an hour"}}, 1, false},
		"what is waiting is little":         {List{Items: []Item{{Count: 9, Lower: 9, Upper: 11}, {Count: 4, Lower: 4, Upper: 6}}, Floor: 2, Partial: []string{"an hour"}}, 1, true},
		"what trends, as the list says":     {List{Window: TrendingWindow, Items: exact(3, 4)}, 2, false},
		"what trends, cut":                  {List{Window: TrendingWindow, Items: exact(3, 4), Certified: true, More: true}, 2, true},
		"what trends, cut shorter than k":   {List{Window: TrendingWindow, Items: exact(3, 4), Certified: true, More: true}, 3, false},
		"what trends, all of it":            {List{Window: TrendingWindow, Items: exact(3, 4), Certified: true}, 3, true},
	} {
		require.Equal(t, c.want, c.list.CertifiedTo(c.k), name)
	}
}
