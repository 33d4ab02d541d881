-- Has any day been counted since? Rows are never removed and rounds only grow, so the two numbers differ exactly then.
SELECT count(*), coalesce(sum(round), 0)::bigint FROM chart_days
