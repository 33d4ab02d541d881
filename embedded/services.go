package embedded

import "path/filepath"

// A service is a command of the topk binary that runs until it is stopped.
type service struct {
	name  string
	stage int                     // those of a stage start side by side, when the stage before is ready
	args  func(s *Stack) []string // the command line
	ready func(e Endpoints) probe
}

// The stages of a start. Migrations run between the two.
const (
	stageEngines = iota
	stageServices
)

// services in the order of their start. They stop in reverse.
var services = []service{
	{Postgres, stageEngines, func(s *Stack) []string {
		return []string{"dev", "postgres", "--listen", address(s.ports.Postgres), "--data-dir", s.dir(Postgres)}
	}, postgresReady},
	{Kafka, stageEngines, func(s *Stack) []string {
		return []string{"dev", "kafka", "--listen", address(s.ports.Kafka), "--data-dir", s.dir(Kafka)}
	}, kafkaReady},
	{ClickHouse, stageEngines, func(s *Stack) []string {
		return []string{"dev", "clickhouse", "--listen", address(s.ports.ClickHouse), "--data-dir", s.dir(ClickHouse),
			"--kafka", s.endpoints.Kafka}
	}, func(e Endpoints) probe { return httpReady(trimPath(e.ClickHouse) + "/ping") }},
	{Ingest, stageServices, func(s *Stack) []string {
		return []string{"ingest", "--listen", address(s.ports.Ingest), "--kafka", s.endpoints.Kafka, "--clock", s.options.Clock}
	}, func(e Endpoints) probe { return httpReady(e.Ingest + "/readyz") }},
	{Rollup, stageServices, func(s *Stack) []string {
		return []string{"rollup", "--listen", address(s.ports.Rollup), "--clickhouse", s.endpoints.ClickHouse,
			"--postgres", s.endpoints.Postgres, "--kafka", s.endpoints.Kafka, "--clock", s.options.Clock}
	}, func(e Endpoints) probe { return httpReady(e.Rollup + "/healthz") }},
	{API, stageServices, func(s *Stack) []string {
		args := []string{"api", "--listen", address(s.ports.API), "--postgres", s.endpoints.Postgres, "--clickhouse", s.endpoints.ClickHouse}
		if s.options.Clock == ClockEvent {
			args = append(args, "--stale-after", "0") // recorded data ends, and its last list stays right
		}
		return args
	}, func(e Endpoints) probe { return httpReady(e.API + "/readyz") }},
}

// migrateArgs is the command line of the step between engines and services.
func migrateArgs(s *Stack) []string {
	return []string{"migrate", "up", "--clickhouse", s.endpoints.ClickHouse, "--postgres", s.endpoints.Postgres}
}

// dir is where an engine keeps its data.
func (s *Stack) dir(name string) string { return filepath.Join(s.dataDir, name) }
