-- events_in -> events_faults.
CREATE MATERIALIZED VIEW topk.events_faults_mv TO topk.events_faults AS
SELECT * FROM topk.events_in WHERE fault != ''
