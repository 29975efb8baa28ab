"""The measuring loop: which step comes next, what it records, when it ends.

What makes steps raises BudgetEndedError when the budget ends, and OSError where perfgate's own files cannot be written.
"""
