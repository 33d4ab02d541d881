DROP TABLE chart_days;
