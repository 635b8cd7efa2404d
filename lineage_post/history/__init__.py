"""What was recorded: claims of several producers, lineage as of a time, how a column changed."""
