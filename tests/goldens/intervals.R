# Interval- and left-censored maximum likelihood by R's survreg, the numbers that noise-free fits must reproduce.
# Run from the root of the repository:   Rscript tests/goldens/intervals.R
# It reads dpstats/datasets/data and writes tests/goldens/intervals.json.
#
# Failures are made known to an inspection alone: every row is looked at after each `step` days, and each fourth
# row all the time, so that all kinds of rows are there. tests/estimators/test_exact_intervals.py makes the same
# ends from the same files.
library(survival)
source("tests/goldens/common.R")

inspected <- function(d, time, event, step) {
  before <- floor(d[[time]] / step) * step
  seen <- seq_len(nrow(d)) %% 4 == 0
  d$lower <- ifelse(event == 1 & !seen, ifelse(before > 0, before, NA), d[[time]])
  d$upper <- ifelse(event == 1, ifelse(seen, d[[time]], before + step), NA)
  d
}

rotterdam <- read_rotterdam()
lung <- read_lung()
frames <- list(rotterdam = inspected(rotterdam, "dtime", rotterdam$death, 365),
               lung = inspected(lung, "time", lung$status, 90), veteran = read_veteran())
models <- list(
  rotterdam = c('Surv(lower, upper, type="interval2")', "size + age + grade + nodes + hormon"),
  lung = c('Surv(lower, upper, type="interval2")', "age + sex + ph_ecog"),
  veteran = c('Surv(time, status, type="left")', "celltype + karno")
)

# f and S of the standard error, and the derivative of log f
laws <- list(
  sev = list(f = function(z) exp(pmin(z, 700) - exp(pmin(z, 700))), S = function(z) exp(-exp(z)), l = function(z) 1 - exp(z)),
  logistic = list(f = dlogis, S = function(z) plogis(-z), l = function(z) 1 - 2 * plogis(z)),
  normal = list(f = dnorm, S = function(z) pnorm(-z), l = function(z) -z)
)
law_of <- function(dist) {
  laws[[switch(dist, weibull = , exponential = "sev", loglogistic = "logistic", lognormal = "normal")]]
}

# survreg stops by the log likelihood, which is flat to rounding before the coefficients are exact; a few more
# Newton steps with its own covariance bring (coefficients, log scale) to the root of the score.
polish <- function(f, dist, lower, upper) {
  law <- law_of(dist)
  theta <- c(coef(f), log(f$scale))
  k <- length(theta)
  free <- nrow(f$var) == k
  times <- function(z, y) ifelse(is.finite(z), y * z, 0)
  for (i in 1:6) {
    s <- exp(theta[k])
    eta <- as.vector(f$x %*% theta[-k])
    a <- (log(lower) - eta) / s
    b <- (log(upper) - eta) / s
    exact <- lower == upper
    chance <- law$S(a) - law$S(b)
    psi <- ifelse(exact, -law$l(a), (law$f(a) - law$f(b)) / chance)
    chi <- ifelse(exact, -1 - a * law$l(a), (times(a, law$f(a)) - times(b, law$f(b))) / chance)
    score <- c(colSums(f$x * psi) / s, if (free) sum(chi))
    step <- as.vector(f$var %*% score)
    theta[seq_along(step)] <- theta[seq_along(step)] + step
  }
  stopifnot(sum(step * score) < 1e-16)
  theta
}

record <- function(name, dist) {
  model <- models[[name]]
  formula <- paste(model[1], "~", model[2])
  f <- survreg(as.formula(formula), data = frames[[name]], dist = dist, x = TRUE,
               control = survreg.control(maxiter = 200, rel.tolerance = 1e-12))
  d <- frames[[name]][setdiff(seq_len(nrow(frames[[name]])), f$na.action), ]
  lower <- if (name == "veteran") ifelse(d$status == 1, d$time, 0) else ifelse(is.na(d$lower), 0, d$lower)
  upper <- if (name == "veteran") d$time else ifelse(is.na(d$upper), Inf, d$upper)
  theta <- polish(f, dist, lower, upper)
  var <- f$var
  if (nrow(var) < length(theta)) var <- rbind(cbind(var, 0), 0)
  rows <- apply(var, 1, function(r) paste0("      ", array(number(r))))
  names <- patsy_names(names(coef(f)))
  paste0("  {\n", paste(
    sprintf('    "dist": "%s", "data": "%s", "rows": %d, "used": %d', dist, name, nrow(frames[[name]]), nrow(d)),
    sprintf('    "seen": %d, "between": %d, "before": %d', sum(lower == upper),
            sum(lower > 0 & lower < upper & upper < Inf), sum(lower == 0)),
    sprintf('    "formula": %s', quoted(formula)),
    sprintf('    "names": %s', array(quoted(c(names, "Log(scale)")))),
    sprintf('    "params": %s', array(number(theta))),
    sprintf('    "loglik": %s', number(f$loglik[length(f$loglik)])),
    sprintf('    "cov": [\n%s\n    ]', paste(rows, collapse = ",\n")),
    sep = ",\n"), "\n  }")
}
dists <- c("weibull", "exponential", "loglogistic", "lognormal")
records <- unlist(lapply(names(models), function(name) sapply(dists, record, name = name)))
write_fits("intervals", records, "survival")
