-- Say that the minute before one has been filled, or has no views.
-- Parameters: minute; version.
INSERT INTO topk.filled_minutes (minute, item_type, version) VALUES ({minute:DateTime('UTC')}, '', {version:UInt64})
