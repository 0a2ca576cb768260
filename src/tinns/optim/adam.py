"""Adam with warm-up and exponential decay, on the same rows as Levenberg-Marquardt."""

from dataclasses import dataclass

import optax

from tinns.optim.first_order import FirstOrder, check_moments


@dataclass(frozen=True)
class Adam(FirstOrder):
    """Adam; the learning rate warms up linearly and then decays exponentially (`Schedule`)."""

    def _transformation(self) -> optax.GradientTransformation:
        check_moments("Adam", self.b1, self.b2, self.epsilon)
        return optax.scale_by_adam(self.b1, self.b2, self.epsilon)
