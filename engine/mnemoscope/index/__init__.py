"""One cached index a namespace: records, vectors, columns, words."""
