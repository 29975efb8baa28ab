"""Evidence and policy -> Report: the only place where a verdict is made.

The rules are those of docs/method.md. With r = head/base where lower is better and its inverse where higher is better,
and d the threshold: regression when the interval at the family's level lies above 1 + d, improvement when it lies below
1/(1 + d), unchanged when the nominal interval lies between, else inconclusive.
"""
