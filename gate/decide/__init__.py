"""Evidence and policy -> Report: the only place where a verdict is made.

The rule is `verdict_of` in report.py, that of docs/method.md. With r = head/base where lower is better and its inverse
where higher is better, and d the threshold: regression when the interval at the family's level lies above 1 + d,
improvement when it lies below 1/(1 + d), unchanged when the nominal interval lies between, no sign where the run could
have shown `gate.detectable` and shows nothing, else inconclusive; an accepted regression is called so.
"""
