package embedded

// Endpoints are where the services of a stack are reached.
type Endpoints struct {
	ClickHouse string `json:"clickhouse"` // DSN over HTTP, database topk
	Kafka      string `json:"kafka"`      // host:port of the broker
	Postgres   string `json:"postgres"`   // DSN
	Ingest     string `json:"ingest"`     // URL
	API        string `json:"api"`        // URL
	Rollup     string `json:"rollup"`     // URL of health and metrics
}

func endpoints(p Ports) Endpoints {
	return Endpoints{
		ClickHouse: "http://" + address(p.ClickHouse) + "/topk",
		Kafka:      address(p.Kafka),
		Postgres:   "postgres://topk@" + address(p.Postgres) + "/topk?sslmode=disable",
		Ingest:     "http://" + address(p.Ingest),
		API:        "http://" + address(p.API),
		Rollup:     "http://" + address(p.Rollup),
	}
}
