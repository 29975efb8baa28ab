"""Minimise the check function over a linear model: an interior point, the vertex beside it, and a proof.

The sum of rho(y - x beta), rho(u) = u (tau - 1[u < 0]), is least where y'd is largest among the weights d of the values
with x'd = 0 and tau - 1 <= d <= tau: the dual linear programme, d being the slope of rho. Portnoy and Koenker 1997
(Frisch-Newton), finished by the descent of Barrodale and Roberts 1973.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Rows = npt.NDArray[np.int64]

CLOSED = 1e-9
"""The relative gap between primal and dual objective at which a fit counts as solved."""
ZERO = 1e-13
"""Residuals below this share of their mean size are 0: what is left of a difference of equal numbers."""
_STEPS = 80
_PIVOTS = 60


class Problem(msgspec.Struct, frozen=True, eq=False):
    """Values y of mean size about 1 and orthonormal columns x, shapes (n,) and (n, p), 1 <= p <= n; 0 < tau < 1."""

    y: Array
    x: Array
    tau: float

    def objective(self, beta: Array) -> float:
        """Return the sum to minimise."""
        r = self.y - self.x @ beta
        return float(np.maximum(self.tau * r, (self.tau - 1) * r).sum())


class Solution(msgspec.Struct, frozen=True, eq=False):
    """Coefficients, a dual solution, and the p values that are fitted exactly, None where it is no vertex."""

    beta: Array
    dual: Array
    rows: Rows | None


def solve(problem: Problem) -> Solution:
    """Return a vertex at which the sum is least, to within CLOSED of the dual objective.

    Where no dual solution proves that, the linear programme is solved as such (HiGHS), and the better of the two is
    returned.
    """
    inner = _interior(problem)
    vertex = _descend(problem, inner)
    objective = problem.objective(vertex.beta)
    bound = max(_bound(problem, vertex.dual, vertex.beta), _bound(problem, inner.dual, vertex.beta))
    # a sum cannot be separated from the rounding errors of its terms
    rounding = 4e-16 * math.sqrt(len(problem.y)) * min(problem.tau, 1 - problem.tau)
    if objective - bound <= CLOSED * objective + rounding:
        return vertex
    programme = _linear_programme(problem)
    if programme is None:
        return vertex
    return min(vertex, _descend(problem, programme), key=lambda found: problem.objective(found.beta))


def _bound(problem: Problem, dual: Array, beta: Array) -> float:
    """Return the dual objective, which no primal one undercuts, less what x'd misses of 0."""
    return float(problem.y @ dual) - float(np.linalg.norm(problem.x.T @ dual) * np.linalg.norm(beta))


class _Point(msgspec.Struct, frozen=True, eq=False):
    """A point near the central path: coefficients, y - x beta = u - v with u, v > 0, and the dual weights d."""

    beta: Array
    u: Array
    v: Array
    d: Array


def _interior(problem: Problem) -> Solution:
    """Follow the central path of: minimise tau sum u + (1 - tau) sum v, y - x beta = u - v.

    Predictor and corrector as Mehrotra 1992: how far the gap would close sets the mu that is aimed at. The products
    aimed at stay within a band around it (Gondzio 1996): of 24,000 small problems, many with ties, 27 were not solved
    without it, and none with it.
    """
    y, tau = problem.y, problem.tau
    n = len(y)
    at = _on_the_path(problem)
    for _ in range(_STEPS):
        over, under = tau - at.d, at.d - (tau - 1)
        gap = float(at.u @ over + at.v @ under)
        if gap <= 1e-3 * CLOSED * problem.objective(at.beta):
            break
        try:
            ahead = _newton(problem, at, -at.u * over, -at.v * under)
            primal, dual = _longest(at.u, ahead.u, at.v, ahead.v), _longest(over, -ahead.d, under, ahead.d)
            left_over = (at.u + primal * ahead.u) @ (over - dual * ahead.d)
            left_under = (at.v + primal * ahead.v) @ (under + dual * ahead.d)
            mean = gap / (2 * n)
            mu = mean * min(max(float(left_over + left_under) / gap, 0.2), 1.0) ** 3
            to_over = np.clip(mu + ahead.u * ahead.d, 0.1 * mu, 10 * mean)
            to_under = np.clip(mu - ahead.v * ahead.d, 0.1 * mu, 10 * mean)
            move = _newton(problem, at, to_over - at.u * over, to_under - at.v * under)
        except np.linalg.LinAlgError:
            break  # as near as rounding errors let it come
        primal, dual = _longest(at.u, move.u, at.v, move.v), _longest(over, -move.d, under, move.d)
        if not np.isfinite(move.beta).all() or max(primal, dual) < 1e-8:
            break
        at = _Point(at.beta + primal * move.beta, at.u + primal * move.u, at.v + primal * move.v, at.d + dual * move.d)
    return Solution(at.beta, np.clip(at.d, tau - 1, tau), None)


def _on_the_path(problem: Problem) -> _Point:
    """Start where every value is on the path, u (tau - d) = v (d - tau + 1) = mu, though x'd is not 0 yet.

    The usual start, d = 0, is far from the path at an outer tau: of 100,000 lognormal values at 0.99 it left a gap of
    1% to 5% after 80 steps.
    """
    y, x, tau = problem.y, problem.x, problem.tau
    # where the columns hold an intercept, this is the quantile of y
    beta = x.T @ np.full(len(y), np.quantile(y, tau))
    r = y - x @ beta
    # about the size of what a value adds to the objective
    mu = max(float(np.abs(r).mean()) * min(tau, 1 - tau), 1e-9)
    # a = tau - d solves mu/a - mu/(1 - a) = r
    over = 2 * mu / (r + 2 * mu + np.hypot(r, 2 * mu))
    return _Point(beta, mu / over, mu / (1 - over), tau - over)


def _newton(problem: Problem, at: _Point, over_change: Array, under_change: Array) -> _Point:
    """Return Newton's step by which u (tau - d) and v (d - tau + 1) change by so much, and the equations hold."""
    x = problem.x
    over, under = problem.tau - at.d, at.d - (problem.tau - 1)
    weight = 1 / (at.u / over + at.v / under)
    wanted = problem.y - x @ at.beta - (at.u - at.v) - over_change / over + under_change / under
    beta = _solved(x.T @ (x * weight[:, None]), x.T @ (weight * wanted + at.d))
    d = weight * (wanted - x @ beta)
    return _Point(beta, (over_change + at.u * d) / over, (under_change - at.v * d) / under, d)


def _longest(a: Array, da: Array, b: Array, db: Array) -> float:
    """Return the longest step, at most 1, that leaves a and b above 0, a hair from the border."""
    least = min(float((da / a).min()), float((db / b).min()))
    return min(1.0, -0.9995 / least) if least < 0 else 1.0


class _Vertex(msgspec.Struct, frozen=True, eq=False):
    """A fit through p values: edges[i, j] is how the fit of value i follows that of value rows[j]."""

    rows: Rows
    edges: Array
    beta: Array
    residuals: Array


def _descend(problem: Problem, near: Solution) -> Solution:
    """Go from a solution to the vertex beside it, and downhill along edges while one leads down."""
    tau = problem.tau
    try:
        at = _through(problem, _choose(problem, near))
        for _ in range(_PIVOTS):
            edge = _steepest(at, tau)
            if edge is None:
                break
            rows = at.rows.copy()
            rows[edge.leaves] = _enters(edge, at.residuals)
            at = _through(problem, rows)
    except np.linalg.LinAlgError:
        return near
    # the vertex is the exact form of the solution: a hair worse it may be, as rounding errors are
    objective = problem.objective(near.beta)
    if problem.objective(at.beta) > objective * (1 + 1e-2 * CLOSED) + ZERO * min(tau, 1 - tau):
        return near
    # its dual: the sign of each residual, as before where it is 0, and at the vertex what makes x'd vanish
    dual = np.where(at.residuals == 0, near.dual, np.where(at.residuals < 0, tau - 1, tau))
    dual[at.rows] = 0.0
    dual[at.rows] = -(at.edges.T @ dual)
    return Solution(at.beta, np.clip(dual, tau - 1, tau), at.rows)


def _through(problem: Problem, rows: Rows) -> _Vertex:
    y, x = problem.y, problem.x
    edges = _solved(x[rows].T, x.T).T
    beta = _solved(x[rows], y[rows])
    r = y - x @ beta
    r[np.abs(r) < ZERO] = 0.0
    r[rows] = 0.0
    return _Vertex(rows, edges, beta, r)


def _solved(a: Array, b: Array) -> Array:
    return np.asarray(np.linalg.solve(a, b), dtype=np.float64)


def _choose(problem: Problem, near: Solution) -> Rows:
    """Choose p values, whose rows are independent, that a solution fits best and whose dual weights are free."""
    n, p = problem.x.shape
    room = np.minimum(problem.tau - near.dual, near.dual - (problem.tau - 1))
    worth = room / (np.abs(problem.y - problem.x @ near.beta) + ZERO)
    most = min(n, 1000 + 50 * p)
    among = np.argpartition(-worth, most - 1)[:most] if most < n else np.arange(n)
    chosen = _independent(problem.x[among], worth[among])
    if chosen is None:  # the best are too much alike
        among, chosen = np.arange(n), _independent(problem.x, worth)
    return among[:p] if chosen is None else among[chosen]


def _independent(x: Array, worth: Array) -> Rows | None:
    """Choose p independent rows, the worthiest first; None where there are not so many."""
    rest = x.copy()
    lengths = np.linalg.norm(rest, axis=1)
    rows = []
    for _ in range(rest.shape[1]):
        apart = np.linalg.norm(rest, axis=1)
        independent = apart > 1e-5 * lengths
        if not independent.any():
            return None
        row = int(np.argmax(np.where(independent, worth, -1.0)))
        direction = rest[row] / apart[row]
        rest -= np.outer(rest @ direction, direction)
        rows.append(row)
    return np.array(rows)


class _Edge(msgspec.Struct, frozen=True, eq=False):
    """A way down from a vertex: which of its p values lets go, how each fit moves, and the slope of the objective."""

    leaves: int
    moves: Array
    slope: float


def _steepest(at: _Vertex, tau: float) -> _Edge | None:
    """Return the edge on which the objective falls fastest, None where none leads down."""
    r, edges = at.residuals, at.edges
    zero = r == 0
    pull = np.where(zero, 0.0, np.where(r < 0, 1 - tau, -tau)) @ edges
    at_zero = edges[zero]
    up = pull + np.maximum(-tau * at_zero, (1 - tau) * at_zero).sum(axis=0)
    down = -pull + np.maximum(tau * at_zero, (tau - 1) * at_zero).sum(axis=0)
    rounding = ZERO * min(tau, 1 - tau) * np.abs(edges).sum(axis=0)
    slopes = np.concatenate((up + rounding, down + rounding))
    k = int(np.argmin(slopes))
    if not slopes[k] < 0:
        return None
    leaves = k % len(up)
    moves = edges[:, leaves] if k < len(up) else -edges[:, leaves]
    return _Edge(leaves, moves, float(slopes[k]))


def _enters(edge: _Edge, r: Array) -> int:
    """Return the value at which the objective stops falling along an edge."""
    ahead = np.flatnonzero((r != 0) & (r * edge.moves > 0))
    order = ahead[np.argsort(r[ahead] / edge.moves[ahead])]
    slopes = edge.slope + np.cumsum(np.abs(edge.moves[order]))
    return int(order[min(int(np.searchsorted(slopes, 0.0)), len(order) - 1)])


def _linear_programme(problem: Problem) -> Solution | None:
    """Solve the dual linear programme by HiGHS: maximise y'd, x'd = 0, tau - 1 <= d <= tau."""
    from scipy.optimize import linprog  # a second to import, and hardly ever needed

    found = linprog(
        -problem.y,
        A_eq=problem.x.T,
        b_eq=np.zeros(problem.x.shape[1]),
        bounds=(problem.tau - 1, problem.tau),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0 or found.x is None:
        return None
    dual = np.clip(found.x, problem.tau - 1, problem.tau)
    return Solution(-np.asarray(found.eqlin.marginals, dtype=np.float64), dual, None)
