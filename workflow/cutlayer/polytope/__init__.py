"""Exact solvers on the feasible polytope S_F = {x : A x = b, 0 <= x <= 1}: projections and Chebyshev centers.

They are batched over many b that share A.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning".
"""

from cutlayer.polytope.exact import chebyshev_center
from cutlayer.polytope.feasible import nearest_feasible
from cutlayer.polytope.projection import half_star, least_squares, project
from cutlayer.polytope.relaxed import relaxed_center

__all__ = ["chebyshev_center", "half_star", "least_squares", "nearest_feasible", "project", "relaxed_center"]
