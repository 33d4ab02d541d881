DROP TABLE charts;
