package rollups

import (
	"testing"
)

func TestBuilder(t *testing.T) {
	e := startEngines(t)
	for name, test := range map[string]func(*testing.T, *engines){
		"claims hold":           testClaims,
		"order changes nothing": testOrderChangesNothing,
	} {
		t.Run(name, func(t *testing.T) { test(t, e) })
	}
}
