# Censored maximum likelihood with a known scale by R's survreg, the numbers that noise-free fits must reproduce.
# Run from the root of the repository:   Rscript tests/goldens/known_scale.R
# It reads dpstats/datasets/data and writes tests/goldens/known_scale.json. The clipping repeats each schema by
# hand (common.R).
library(survival)
source("tests/goldens/common.R")

rotterdam <- read_rotterdam()
lung <- read_lung()
bearingcage <- censor_at(read("bearingcage.csv"), "hours", "failed", 1, 5000)
frames <- list(rotterdam = rotterdam, lung = lung, bearingcage = bearingcage)
models <- list(
  rotterdam = c("dtime", "death", "size + age + meno + grade + nodes + hormon + chemo"),
  lung = c("time", "status", "age + sex + ph_ecog"),
  bearingcage = c("hours", "failed", "1")
)
# the distribution, and sigma where that of the distribution is free
known <- list(exponential = NA, weibull = 0.5, loglogistic = 0.7, lognormal = 1.3)

# survreg stops by the log likelihood, which is flat to rounding before the coefficients are exact; a few more
# Newton steps with its own covariance bring the coefficients to the root of the score.
polish <- function(f, dist) {
  beta <- coef(f)
  d <- f$y[, 2]
  for (i in 1:4) {
    z <- as.vector(log(f$y[, 1]) - f$x %*% beta) / f$scale
    psi <- switch(dist, exponential = , weibull = exp(z) - d, loglogistic = (1 + d) * plogis(z) - d,
                  lognormal = ifelse(d == 1, z, exp(dnorm(z, log = TRUE) - pnorm(-z, log.p = TRUE))))
    score <- colSums(f$x * psi) / f$scale
    step <- as.vector(f$var %*% score)
    beta <- beta + step
  }
  stopifnot(sum(step * score) < 1e-16)
  beta
}

record <- function(name, dist) {
  model <- models[[name]]
  formula <- sprintf("Surv(%s, %s) ~ %s", model[1], model[2], model[3])
  how <- list(as.formula(formula), data = frames[[name]], dist = dist, x = TRUE,
              control = survreg.control(maxiter = 200, rel.tolerance = 1e-12))
  if (!is.na(known[[dist]])) how$scale <- known[[dist]]
  f <- do.call(survreg, how)
  rows <- apply(f$var, 1, function(r) paste0("      ", array(number(r))))
  names <- patsy_names(names(coef(f)))
  paste0("  {\n", paste(
    sprintf('    "dist": "%s", "data": "%s", "scale": %s', dist, name, number(f$scale)),
    sprintf('    "formula": "%s"', formula),
    sprintf('    "names": %s', array(quoted(names))),
    sprintf('    "params": %s', array(number(polish(f, dist)))),
    sprintf('    "loglik": %s', number(f$loglik[length(f$loglik)])),
    sprintf('    "cov": [\n%s\n    ]', paste(rows, collapse = ",\n")),
    sep = ",\n"), "\n  }")
}
records <- unlist(lapply(names(models), function(name) sapply(names(known), record, name = name)))
write_fits("known_scale", records, "survival")
