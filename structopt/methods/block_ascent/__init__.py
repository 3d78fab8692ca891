"""Block ascent in the dual of a ridge and hinges, compiled whole, over the columns that occur."""
