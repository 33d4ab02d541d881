DROP VIEW topk.event_identities_mv SYNC
