package list

// MaxItemTypes bounds the item types that have lists at one time. Types are a client's text: without a bound, one who makes them
// up fills every memory that holds lists. It is twice what the rollup worker makes lists of at once, so that those of the last
// day stay beside them; the lists of so many types take an API less than 200 MB.
const MaxItemTypes = 200
