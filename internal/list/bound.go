package list

// MaxItemTypes bounds the item types that have lists at one time. Types are a client's text: without a bound, one who makes them
// up fills every memory that holds lists. It is what the rollup worker makes lists of at once, and half as many whose last
// lists are still served. Measured: where each list is full, with ids of ten bytes, an API's live heap is then 120 MB.
const MaxItemTypes = 150

// MaxMadeTypes is of how many item types lists are made at once, those of most views.
const MaxMadeTypes = 100
