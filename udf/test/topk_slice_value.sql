-- Three characters are escaped, once, and NULL is the empty value. What looks like an escape is escaped again.
SELECT value, topk_slice_value(value) AS written
FROM values('value Nullable(String)', (NULL), (''), ('music'), ('a=b'), ('%'), (','), ('|'), ('%2C'), ('%252C'), ('a,b|c%'), ('/'), ('..'),
    ('%2F'), ('موسيقى'), ('🎵,🎵'))
