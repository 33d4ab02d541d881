-- counts_in -> counts_faults.
CREATE MATERIALIZED VIEW topk.counts_faults_mv TO topk.counts_faults AS
SELECT * FROM topk.counts_in WHERE fault != ''
