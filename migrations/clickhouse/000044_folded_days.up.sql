-- Which days does the newest total hold, and in which version each? A row a day.
CREATE VIEW topk.folded_days AS
SELECT day, day_version AS version
FROM (SELECT r.days AS days, r.versions AS versions FROM topk.recounts_total AS r ORDER BY r.version DESC LIMIT 1)
ARRAY JOIN days AS day, versions AS day_version
COMMENT 'which days the newest total holds, in which version'
