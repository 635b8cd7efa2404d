"""The execution oracle: changes one source column at a time and watches what moves.

An influence seen with no edge is a miss; an edge never seen is a suspect that must be explained.
"""
