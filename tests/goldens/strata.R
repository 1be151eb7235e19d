# Censored maximum likelihood with a scale for each stratum by R's survreg, which noise-free fits must reproduce.
# Run from the root of the repository:   Rscript tests/goldens/strata.R
# It reads dpstats/datasets/data and writes tests/goldens/strata.json. The clipping repeats each schema by
# hand (common.R).
library(survival)
source("tests/goldens/common.R")

rotterdam <- read_rotterdam()
lung <- read_lung()
hdfail <- read_hdfail()
frames <- list(rotterdam = rotterdam, lung = lung, hdfail = hdfail)
models <- list(
  c("lung", "weibull", "Surv(time, status) ~ age + ph_ecog + strata(sex)"),
  c("lung", "loglogistic", "Surv(time, status) ~ age + sex + strata(sex)"),
  c("rotterdam", "weibull", "Surv(dtime, death) ~ size + age + nodes + strata(size)"),
  c("rotterdam", "lognormal", "Surv(dtime, death) ~ age + nodes + hormon + strata(chemo)"),
  c("rotterdam", "loglogistic", "Surv(dtime, death) ~ size + nodes + meno + strata(size, chemo)"),
  c("hdfail", "weibull", "Surv(time, status) ~ temp + rsc + psc + strata(psc)")
)

# survreg stops by the log likelihood, which is flat to rounding before the coefficients are exact; a few more
# Newton steps with its own covariance bring the coefficients to the root of the score.
polish <- function(f, dist, group) {
  k <- ncol(f$x)
  theta <- c(coef(f), log(f$scale))
  d <- f$y[, 2]
  for (i in 1:6) {
    sigma <- exp(theta[-(1:k)])[group]
    z <- as.vector(log(f$y[, 1]) - f$x %*% theta[1:k]) / sigma
    psi <- switch(dist, weibull = exp(z) - d, loglogistic = (1 + d) * plogis(z) - d,
                  lognormal = ifelse(d == 1, z, exp(dnorm(z, log = TRUE) - pnorm(-z, log.p = TRUE))))
    score <- c(colSums(f$x * psi / sigma), tapply(z * psi - d, group, sum))
    step <- as.vector(f$var %*% score)
    theta <- theta + step
  }
  stopifnot(sum(step * score) < 1e-16)
  theta
}

record <- function(model) {
  data <- frames[[model[1]]]
  f <- survreg(as.formula(model[3]), data = data, dist = model[2], x = TRUE,
               control = survreg.control(maxiter = 200, rel.tolerance = 1e-12))
  used <- data[rownames(f$x), ]
  terms <- sub("^.*strata\\((.*)\\)$", "\\1", model[3])
  group <- as.integer(strata(used[strsplit(terms, ", ")[[1]]]))
  rows <- apply(f$var, 1, function(r) paste0("      ", array(number(r))))
  paste0("  {\n", paste(
    sprintf('    "data": "%s", "dist": "%s"', model[1], model[2]),
    sprintf('    "formula": "%s"', model[3]),
    sprintf('    "params": %s', array(number(polish(f, model[2], group)))),
    sprintf('    "cov": [\n%s\n    ]', paste(rows, collapse = ",\n")),
    sep = ",\n"), "\n  }")
}
write_fits("strata", sapply(models, record), "survival")
