r"""Expectations over all outputs, for methods that move between distributions over outputs.

    p_i(y) = exp(w . phi(x_i, y) + b loss_i(y)) / Z_i

A shard whose structure can sum over its outputs (sum-product on chains and trees) answers these by
:meth:`~structopt.structures.base.shard.Shard.expected`.
"""

from __future__ import annotations

from dataclasses import dataclass

from structopt.arrays import Floats


@dataclass(frozen=True)
class Expected:
    """Sums over examples, each weighted by its cost c_i.

    Attributes
    ----------
    features : array
        ``sum_i c_i E_i[phi(x_i, y) - phi(x_i, y_i)]``.
    loss : float
        ``sum_i c_i E_i[loss_i(y)]``.
    log_partition : float
        ``sum_i c_i log sum_y exp(w . (phi(x_i, y) - phi(x_i, y_i)) + b loss_i(y))``.
    """

    features: Floats
    loss: float
    log_partition: float

    def divergence(self, other: Expected, shift: Floats, shift_loss: float) -> float:
        """Return ``sum_i c_i KL(p_i || q_i)`` to q (``other``), whose w and b are less by shifts.

        Rounding never makes it negative.
        """
        gain = float(shift @ self.features) + shift_loss * self.loss
        return max(0.0, gain - self.log_partition + other.log_partition)
