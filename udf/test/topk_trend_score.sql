-- An item that goes from 2 to 200 views is below the floor: it does not count as a hundredfold rise, and neither does a hit that is viewed as always.
SELECT name, round(topk_trend_velocity(fast, slow, 500.), 6) AS velocity, round(topk_trend_novelty(age), 6) AS novelty,
       round(topk_trend_score(fast, slow, 500., views, age), 6) AS score
FROM values('name String, fast Float64, slow Float64, views UInt64, age UInt32',
    ('nothing', 0, 0, 0, 0), ('new', 5000, 5000, 5000, 0), ('from 2 to 200', 190, 245, 200, 604800), ('from 5,000 to 50,000', 45000, 215000, 50000, 604800),
    ('as always', 144269, 3462468, 100000, 604800), ('old', 190, 245, 200, 4294967295))
