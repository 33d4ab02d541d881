package rollups

import (
	"testing"
)

func TestClaimsHoldOnRandomStreams(t *testing.T) { testClaims(t, startEngines(t)) }

func TestBuilder(t *testing.T) {
	e := startEngines(t)
	for name, test := range map[string]func(*testing.T, *engines){
		"order changes nothing":                       testOrderChangesNothing,
		"eleventh everywhere is first in total":       testEleventhEverywhereFirstInTotal,
		"an explosion in one bucket is found":         testExplosionInOneBucketIsFound,
		"replays change nothing":                      testReplaysChangeNothing,
		"replays leave nobody out":                    testReplaysLeaveNobodyOut,
		"rows written by hand are counted":            testHandWrittenRowsAreCounted,
		"late events revise the list":                 testLateEventsReviseTheList,
		"ties fall by id":                             testTiesFallByID,
		"an empty window has a reason":                testEmptyWindowHasAReason,
		"strange ids are counted":                     testStrangeIDsAreCounted,
		"many long ids are asked in parts":            testManyLongIDsAreAskedInParts,
		"candidates are read by key":                  testCandidatesAreReadByKey,
		"repeats are counted":                         testRepeatsAreCounted,
		"events ahead of their counts hide nothing":   testEventsAheadOfTheirCountsHideNoRepeat,
		"untimed events sent twice":                   testUntimedEventsSentTwice,
		"what changed is read":                        testWhatChangedIsRead,
		"a half visible block is not remembered":      testHalfVisibleBlockIsNotRemembered,
		"a message twice is not two messages":         testMessageTwiceIsNotTwoMessages,
		"a candidate comes back":                      testCandidateComesBack,
		"claims hold while blocks land":               testClaimsWhileLanding,
		"what is no longer kept is not answered":      testNotKept,
		"whole hours are dropped by event time":       testRetention,
		"a full minute is combined, late ones too":    testCompact,
		"ten seconds are combined once they are over": testCompactTens,
		"lists are whole while minutes are combined":  testCombiningWhileBuilding,
	} {
		t.Run(name, func(t *testing.T) { test(t, e) })
	}
}
