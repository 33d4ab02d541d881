DROP VIEW topk.counts_faults_mv SYNC
