"""Exact censored maximum likelihood without privacy, by scipy: what the private fits are compared with."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.special import expit
from scipy.stats import norm

Array = np.ndarray


@dataclass
class Likelihood:
    """Minus the mean log likelihood of (beta, log sigma), with its gradient and Hessian.

    Attributes
    ----------
    exog : array, shape (n, k)
        With the intercept's column.
    endog, event : array, shape (n,)
        Time on the model's scale, and 1 where it is a failure.
    family : {"sev", "logistic", "gaussian"}
    """

    exog: Array
    endog: Array
    event: Array
    family: str

    def __call__(self, theta: Array) -> tuple[float, Array]:
        scale, z = self._residuals(theta)
        if self.family == "sev":
            self._hazard = np.exp(z)
            total = self._hazard.sum()
            first = self._hazard - self.event
        elif self.family == "gaussian":
            self._hazard = np.exp(norm.logpdf(z) - norm.logsf(z))
            log_scale_free = np.where(self.event == 1, norm.logpdf(z), norm.logsf(z))
            total = self.event @ z - log_scale_free.sum()
            first = np.where(self.event == 1, z, self._hazard)
        else:
            self._hazard = expit(z)
            total = (1 + self.event) @ np.logaddexp(0, z)
            first = (1 + self.event) * self._hazard - self.event
        value = total - self.event @ z + theta[-1] * self.event.sum()
        gradient = np.append(-(first @ self.exog) / scale, self.event.sum() - first @ z)
        self._z, self._first = z, first
        return float(value) / len(z), gradient / len(z)

    def hessian(self, theta: Array) -> Array:
        """At the values of the last call, as trust-exact asks for it."""
        scale, z, first = np.exp(theta[-1]), self._z, self._first
        if self.family == "sev":
            second = self._hazard
        elif self.family == "gaussian":
            second = np.where(self.event == 1, 1.0, self._hazard * (self._hazard - z))
        else:
            second = (1 + self.event) * self._hazard * (1 - self._hazard)
        weighted = self.exog * second[:, None]
        k = len(theta) - 1
        hessian = np.empty((k + 1, k + 1))
        hessian[:k, :k] = self.exog.T @ weighted / scale**2
        hessian[:k, k] = hessian[k, :k] = (z @ weighted + first @ self.exog) / scale
        hessian[k, k] = second @ z**2 + first @ z
        return hessian / len(z)

    def _residuals(self, theta: Array) -> tuple[float, Array]:
        scale = np.exp(theta[-1])
        # a trial step may be wild; it is refused by its value, which must not overflow
        return scale, np.minimum((self.endog - self.exog @ theta[:-1]) / scale, 300.0)


def censored_mle(exog: Array, endog: Array, event: Array, family: str) -> tuple[Array, Array]:
    """Maximum likelihood of (beta, log sigma), the intercept first, and the inverse observed information."""
    likelihood = Likelihood(exog, endog, event, family)
    spread = endog.std() or 1.0
    start = np.zeros(exog.shape[1] + 1)
    start[0] = endog.mean() + spread * np.log(np.exp((endog - endog.mean()) / spread).sum() / event.sum())
    start[-1] = np.log(spread)
    found = optimize.minimize(
        likelihood,
        start,
        jac=True,
        hess=lambda theta: _fresh(likelihood, theta),
        method="trust-exact",
        options={"initial_trust_radius": 10.0, "max_trust_radius": 1e4, "gtol": 1e-7},
    )
    theta = found.x
    for _ in range(3):  # where the value is flat to rounding, the gradient still is not
        _, gradient = likelihood(theta)
        hessian = likelihood.hessian(theta)
        theta = theta - np.linalg.solve(hessian, gradient)
    return theta, np.linalg.inv(hessian) / len(endog)


def _fresh(likelihood: Likelihood, theta: Array) -> Array:
    likelihood(theta)
    return likelihood.hessian(theta)
