"""The worked examples of Kalibera and Jones 2012, tables III, IV and V, as nested lists: build, execution, value."""

from tests.support.samples import nested

Nested = list[list[list[float]]]

TABLE_III: Nested = [[[9, 5], [8, 3]], [[10, 6], [7, 11]], [[1, 12], [2, 4]]]
TABLE_IV: Nested = [[[9, 8, 5, 3]], [[10, 7, 6, 11]], [[1, 2, 12, 4]]]
TABLE_V_OLD: Nested = [[[9, 11], [5, 6]], [[16, 13], [12, 8]], [[15, 7], [10, 14]]]
TABLE_V_NEW: Nested = [[[10, 12], [6, 7]], [[9, 1], [11, 4]], [[8, 5], [3, 2]]]


sample = nested
"""Of one session."""
