DROP TABLE grades;
