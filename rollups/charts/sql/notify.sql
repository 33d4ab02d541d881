-- Tell who listens that charts have been made; PostgreSQL, in the transaction that stores them.
NOTIFY topk_charts
