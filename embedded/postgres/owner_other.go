//go:build !linux

package postgres

import "errors"

// become needs credentials per thread, which only Linux has.
func (o owner) become() error {
	if o.change {
		return errors.New("PostgreSQL does not run as root: start as another user")
	}
	return nil
}

func searchCapability() []uintptr { return nil }
