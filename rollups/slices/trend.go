package slices

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"topk/internal/list"
	"topk/rollups/recount"
	"topk/rollups/viewers"
)

// maxLanguages bounds the slices that all views are put together from.
const maxLanguages = 1000

// Trends makes the lists of items that trend at until, a whole minute that is not after the horizon: one of every union wanted of an item
// type, and, if everything is asked for, one of all views of each type, of at most stored items each. Items are in the order of their scores
// (list.Trend), none of which is more than in truth; a list is certified when every item of its slices is known.
func (b *Builder) Trends(ctx context.Context, until time.Time, wanted map[string][]Union, everything bool, stored int) ([]*list.List, error) {
	m, err := b.trendMoment(ctx, until, slices.Sorted(maps.Keys(wanted)))
	if err != nil {
		return nil, err
	}
	if err := b.repeats(ctx, m); err != nil {
		return nil, err
	}
	all, kept := map[string][]Union{}, []string{}
	if everything {
		languages, whole, err := b.languages(ctx, m)
		if err != nil {
			return nil, err
		}
		if whole {
			kept = append(kept, list.GlobalSlice)
		}
		for itemType := range m.landed {
			all[itemType] = []Union{{Name: list.GlobalSlice, Members: languages}}
		}
	}
	for itemType, unions := range wanted {
		all[itemType] = append(all[itemType], unions...)
	}
	found := map[Key]*trends{}
	for _, part := range together(all) {
		if err := b.trends(ctx, m, part, kept, b.named(stored), found); err != nil {
			return nil, err
		}
	}
	lots := b.screenTrends(ctx, m, found)
	late, err := b.late(ctx, m)
	if err != nil {
		return nil, err
	}
	var lists []*list.List
	for _, itemType := range slices.Sorted(maps.Keys(all)) {
		for _, u := range all[itemType] {
			key := Key{itemType, u.Name}
			l := m.trending(key, found[key], late[itemType], stored)
			if u.Name == list.GlobalSlice && len(kept) == 0 { // a language may be in none of the slices
				l.Certified, l.Method = false, list.MethodEstimated
			}
			b.viewers.Mark(l, lots[key])
			lists = append(lists, l)
		}
	}
	return lists, nil
}

// trendMoment is what is known of the time that scores are made of. Its closed part is hours, up to the hour in which the last one before until
// began.
func (b *Builder) trendMoment(ctx context.Context, until time.Time, types []string) (*moment, error) {
	m := newMoment(list.Window{Name: list.TrendingWindow}, until.Add(-list.TrendReach).Truncate(time.Hour), until, types)
	cover, err := recount.ReadHours(ctx, b.conn, m.from, until.Add(-time.Hour).Truncate(time.Hour))
	if err != nil {
		return nil, err
	}
	m.from = cover.From
	if err := b.close(ctx, m, cover); err != nil {
		return nil, err
	}
	return m, b.open(ctx, m)
}

// languages are the slices that all views are put together from, and whether they are all. Where there are no more of them than are kept of a
// minute or an hour, none was left out of any: one that leaves a language out holds more.
func (b *Builder) languages(ctx context.Context, m *moment) (names []string, whole bool, err error) {
	if m.empty() {
		return nil, true, nil
	}
	most := min(maxLanguages, b.config.Slices)
	err = b.config.read(ctx, b.conn, "languages", m.trendParameters(parameters{"most": most + 1}), func(rows driver.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	return names[:min(len(names), most)], len(names) <= most, err
}

// trendParameters adds minutes and hours to the parameters of a question.
func (m *moment) trendParameters(p parameters) parameters {
	names := partNames(m.closed.parts)
	p["minutes"], p["versions"], p["buckets"], p["part_versions"] = m.span.minutes, m.span.versions, names["buckets"], names["versions"]
	return p
}

// trend is an item that trends, and how many views of the last hour it may have beside those known.
type trend struct {
	id string
	list.Trend
	surplus uint64
}

// trends are the items of a union that trend, greatest score first.
type trends struct {
	items    []trend
	more     bool   // there are others
	total    uint64 // views of all items in the last hour
	whole    bool   // every item is known
	allThere bool   // no slice was left out of a minute or an hour
}

// trends finds the items of a part's unions, one more than stored of each. Of unions that are kept no slice can have been left out.
func (b *Builder) trends(ctx context.Context, m *moment, p *part, kept []string, stored int, into map[Key]*trends) error {
	members, names := membersOf(p.unions)
	if m.empty() || len(members) == 0 {
		return nil
	}
	asked := m.trendParameters(parameters{"types": p.types, "members": members, "names": names, "kept": kept, "until": m.until,
		"floor": strconv.FormatFloat(b.config.TrendFloor, 'g', -1, 64), "most": stored + 1})
	return b.config.read(ctx, b.conn, "trend", asked, func(rows driver.Rows) error {
		var key Key
		var of trends
		one := trend{Trend: list.Trend{Floor: b.config.TrendFloor}}
		if err := rows.Scan(&key.ItemType, &key.Union, &one.id, &one.Score, &one.Velocity, &one.Novelty, &one.Fast, &one.Slow, &one.Views, &one.surplus,
			&one.FirstSeen, &of.total, &of.whole, &of.allThere); err != nil {
			return err
		}
		one.FirstSeen = one.FirstSeen.UTC()
		if !p.wanted[key] {
			return nil
		}
		if into[key] == nil {
			into[key] = &of
		}
		if t := into[key]; one.id != "" {
			t.items = append(t.items, one)
			t.more = len(t.items) > stored
		}
		return nil
	})
}

// screenTrends leaves items out that had too few viewers in the last hour.
func (b *Builder) screenTrends(ctx context.Context, m *moment, found map[Key]*trends) map[Key]*viewers.Lot {
	lots := make(map[Key]*viewers.Lot, len(found))
	for key, t := range found {
		lot := &viewers.Lot{ItemType: key.ItemType, Items: make(map[string]list.Interval, len(t.items)), Stored: len(t.items)}
		for _, one := range t.items {
			lot.Items[one.id] = list.Interval{Lower: one.Views, Upper: one.Views + one.surplus}
		}
		lots[key] = lot
	}
	b.viewers.Screen(ctx, viewers.Window{Name: list.TrendingWindow, From: m.until.Add(-time.Hour), AsOf: m.until}, slices.Collect(maps.Values(lots))...)
	for key, t := range found {
		t.items = slices.DeleteFunc(t.items, func(one trend) bool { _, stays := lots[key].Items[one.id]; return !stays })
	}
	return lots
}

// trending puts a list together. Nothing was found where no slice of the union has views, nor one was left out.
func (m *moment) trending(key Key, found *trends, late uint64, stored int) *list.List {
	if found == nil {
		found = &trends{whole: true, allThere: true}
	}
	made := &list.List{ItemType: key.ItemType, Window: m.window.Name, Slice: key.Union, From: m.from, AsOf: m.until, ExactUntil: m.closed.cover.Exact(),
		Method: list.MethodVerified, Total: found.total, More: found.more || len(found.items) > stored, Partial: []string{}, Items: []list.Item{}}
	if !found.allThere {
		made.Method = list.MethodEstimated // of the slices that were left out the views are not known
	}
	repeated := m.repeats[key.ItemType]
	made.Certified = late == 0 && repeated == 0 && found.whole
	for i, one := range found.items[:min(len(found.items), stored)] {
		made.MaxOvercount = max(made.MaxOvercount, one.surplus+min(repeated, one.Views))
		item := list.Item{Position: i + 1, Rank: i + 1, ItemID: one.id, Count: one.Views + one.surplus, Lower: one.Views - min(repeated, one.Views),
			Upper: one.Views + one.surplus + late, Trend: &one.Trend}
		if i > 0 && one.Score == found.items[i-1].Score {
			item.Rank = made.Items[i-1].Rank
		}
		made.Items = append(made.Items, item)
	}
	made.Other = made.Cut(len(made.Items)).Other
	if hours := m.closed.cover.LateHours(key.ItemType); len(hours) > 0 { // their views are in no score yet
		made.Partial, made.Certified = hours, false
	}
	switch {
	case len(made.Items) > 0:
	case found.whole:
		made.Reason = fmt.Sprintf("no %s was viewed in the last hour", key.ItemType)
	default:
		made.Reason = fmt.Sprintf("no %s is known to stand out in the last hour", key.ItemType)
	}
	return made
}
