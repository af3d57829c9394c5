"""Optimal Gaussian noise of the marvell defense: the exact solution of its four-variable problem, in plain floats.

Two classes of gradients, N(mean0, u I) and N(mean1, v I) in `dim` dimensions, `gap` = |mean1 - mean0|^2, get
Gaussian noise with variances along and across the difference of the means, so that the symmetric divergence

    sumKL = [(A - B)^2 / (A B) + gap (1/A + 1/B) + (dim - 1) (a - b)^2 / (a b)] / 2

is least under q (A - u) + p (B - v) + (dim - 1) (q (a - u) + p (b - v)) <= power, q = 1 - p. Here A >= u, B >= v
are the variances along, a >= u, b >= v those across, of the perturbed negatives and positives.

In logarithms this is a convex problem (a geometric program), so that a point with multipliers is the optimum. Let
u <= v; else exchange the classes. Then b = v, and one of three cases holds, the last from some power on and before it
one of the others:

- the negatives get no noise: A = a = u, B = v + power / p;
- the positives get none: B = v and a = max(u, rho A) with rho^2 = v / (v + gap), so that the budget is linear in A;
- both get noise along: with C = q A + p B the best ratio B / A is r, r^2 = (C + q gap) / (C + p gap), and the
  price of power is m = gap phi / C^2, phi = 1 + (C + 2 p q gap) / sqrt((C + p gap) (C + q gap)); across,
  a = v / sqrt(1 + q v m). The budget is one monotone equation in C.

The differences B - A and v - a are computed from formulas without cancellation, so that a sumKL of 1e-20 has as many
correct digits as one of 1.

Li et al., "Label Leakage and Protection in Two-party Split Learning", theorem 1.
"""

from cutlayer.gradient_noise.optimum import optimal_noise
from cutlayer.gradient_noise.power import power_for
from cutlayer.gradient_noise.problem import GradientNoise

__all__ = ["GradientNoise", "optimal_noise", "power_for"]
