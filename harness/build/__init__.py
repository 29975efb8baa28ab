"""Builds of both sides, each laid out afresh; what builds raises BudgetEndedError when the budget ends."""
