DROP VIEW topk.events_faults_mv SYNC
