package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"
)

// Host is where everything listens. Nothing of it asks for a password, so it stays on this machine.
const Host = "127.0.0.1"

// Free ports are looked for below the range from which the kernel takes the ports of outgoing connections, so that no
// connection takes one between the look and the start, or while a service is being restarted.
const (
	freePortFirst = 20000
	freePortLast  = 32000
	freePortTries = 200
)

// portGrace is how long a chosen port may stay in use: what a killed stack leaves behind is gone within it.
const portGrace = 2 * time.Second

// Ports of the services.
type Ports struct {
	ClickHouse, Kafka, Postgres, Ingest, API, Rollup int
}

// DefaultPorts are the ports of `topk dev`, moved by an offset so that two can run side by side.
func DefaultPorts(offset int) Ports {
	return Ports{
		ClickHouse: 18123 + offset,
		Kafka:      19092 + offset,
		Postgres:   15432 + offset,
		Ingest:     8080 + offset,
		API:        8081 + offset,
		Rollup:     8082 + offset,
	}
}

// Of returns where a service's port is kept, nil for a name that has none.
func (p *Ports) Of(service string) *int {
	switch service {
	case ClickHouse:
		return &p.ClickHouse
	case Kafka:
		return &p.Kafka
	case Postgres:
		return &p.Postgres
	case Ingest:
		return &p.Ingest
	case API:
		return &p.API
	case Rollup:
		return &p.Rollup
	}
	return nil
}

// BusyPortsError names every port that cannot be had.
type BusyPortsError struct {
	Ports    map[string]int // by service
	services []string       // in the order of their start
}

func (e *BusyPortsError) Error() string {
	lines := []string{"ports in use:"}
	for _, service := range e.services {
		lines = append(lines, fmt.Sprintf("  %d (%s): choose another with --%s-port", e.Ports[service], service, service))
	}
	return strings.Join(append(lines, "or move all of them with --port-offset"), "\n")
}

// settle picks a free port wherever none was chosen and checks those that were, before anything is started.
func (p *Ports) settle(ctx context.Context, services []string) error {
	busy := &BusyPortsError{Ports: map[string]int{}}
	patient, cancel := context.WithTimeout(ctx, portGrace)
	defer cancel()
	taken := map[int]string{}
	var errs []error
	for _, service := range services {
		port := *p.Of(service)
		switch other, twice := taken[port]; {
		case port == 0:
			continue
		case port < 0 || port > 65535:
			errs = append(errs, fmt.Errorf("port of %s: %d is not in 1..65535", service, port))
		case twice:
			errs = append(errs, fmt.Errorf("port %d is meant for both %s and %s", port, other, service))
		case !awaitFree(patient, port):
			busy.Ports[service] = port
			busy.services = append(busy.services, service)
		}
		taken[port] = service
	}
	if len(busy.services) > 0 {
		errs = append(errs, busy)
	}
	if err := ctx.Err(); err != nil {
		return err // no port is busy only because the start was given up
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, service := range Services() { // also for those not started, so that every address is complete
		port := p.Of(service)
		if *port != 0 {
			continue
		}
		found, err := pick(taken)
		if err != nil {
			return err
		}
		*port, taken[found] = found, service
	}
	return nil
}

// FreePort finds a port that nothing listens on and that no outgoing connection will take.
func FreePort() (int, error) { return pick(nil) }

func pick(taken map[int]string) (int, error) {
	for range freePortTries {
		port := freePortFirst + rand.IntN(freePortLast-freePortFirst)
		if _, used := taken[port]; !used && free(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port between %d and %d", freePortFirst, freePortLast)
}

// awaitFree waits for a port until the context ends, and says whether it can be had.
func awaitFree(ctx context.Context, port int) bool {
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for !free(port) {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

func free(port int) bool {
	listener, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func address(port int) string { return net.JoinHostPort(Host, strconv.Itoa(port)) }
