-- The one statement that runs before there is a database to connect to.
CREATE DATABASE IF NOT EXISTS topk
