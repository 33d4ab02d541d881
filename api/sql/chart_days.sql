-- Every day that has charts, in order.
SELECT zone, day::text, round, provisional, as_of, cap, item_types FROM chart_days ORDER BY zone, day
