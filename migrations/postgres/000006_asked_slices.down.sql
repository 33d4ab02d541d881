DROP TABLE asked_slices;
