# Censored maximum likelihood by R's survreg, the numbers that noise-free fits must reproduce.
# Run from the root of the repository:   Rscript tests/goldens/survreg.R
# It reads dpstats/datasets/data and writes tests/goldens/survreg.json.
library(survival)
source("tests/goldens/common.R")

hdfail <- read_hdfail()

engines <- censor_at(read("cmapss_engines.csv"), "observed_cycles", "failed", 1, 500)
ranges <- list(
  s2 = c(641, 644), s3 = c(1575, 1600), s4 = c(1385, 1420), s7 = c(552, 556), s11 = c(46.5, 48.5),
  s12 = c(520, 524), s15 = c(8.3, 8.5), s17 = c(385, 400), s20 = c(38.5, 39.5), s21 = c(23, 24)
)
for (s in names(ranges)) {
  column <- paste0("m15_", s)
  engines[[column]] <- clip(engines[[column]], ranges[[s]][1], ranges[[s]][2])
}

rotterdam <- read_rotterdam()
rotterdam$pgr <- clip(rotterdam$pgr, 0, 2000)
rotterdam$er <- clip(rotterdam$er, 0, 2000)

lung <- read_lung()

veteran <- read_veteran()
veteran$trt <- ifelse(veteran$trt == 2, 1, 0)
veteran$prior <- ifelse(veteran$prior == 10, 1, 0)
veteran$diagtime <- clip(veteran$diagtime, 0, 120)
veteran$age <- clip(veteran$age, 18, 100)

capacitor <- censor_at(read("capacitor.csv"), "time", "status", 1, 2000)
capacitor$temperature <- clip(capacitor$temperature, 170, 180)
capacitor$voltage <- clip(capacitor$voltage, 200, 350)

genfan <- censor_at(read("genfan.csv"), "hours", "status", 1, 20000)
imotor <- censor_at(read("imotor.csv"), "time", "status", 1, 10000)
imotor$temp <- clip(imotor$temp, 150, 220)

shockabsorber <- censor_at(read("shockabsorber.csv"), "miles", "failed", 100, 100000)
fan <- censor_at(read("fan.csv"), "hours", "failed", 1, 20000)
bearingcage <- censor_at(read("bearingcage.csv"), "hours", "failed", 1, 5000)

# One line a model: data set, time, event, right-hand side in R, and as dpstats writes it where that differs.
# Categories come first, as in patsy, so that the coefficients are in the order of dpstats.
same <- function(data, time, event, rhs, formula = rhs) {
  list(data = data, time = time, event = event, rhs = rhs, formula = formula)
}
models <- list(
  hdfail = same("hdfail", "time", "status", "temp + rsc + rer + psc"),
  hdfail_null = same("hdfail", "time", "status", "1"),
  engines_3 = same("cmapss_engines", "observed_cycles", "failed", "m15_s4 + m15_s11 + m15_s20"),
  engines_6 = same("cmapss_engines", "observed_cycles", "failed",
                   "m15_s3 + m15_s4 + m15_s7 + m15_s11 + m15_s15 + m15_s20"),
  rotterdam_8 = same("rotterdam", "dtime", "death", "size + age + meno + grade + nodes + hormon + chemo"),
  rotterdam_10 = same("rotterdam", "dtime", "death",
                      "size + age + meno + grade + nodes + pgr + er + hormon + chemo"),
  rotterdam_log = same("rotterdam", "dtime", "death", "size + age + log1p(nodes) + log1p(pgr) + hormon",
                       "size + age + np.log1p(nodes) + np.log1p(pgr) + hormon"),
  rotterdam_lognodes = same("rotterdam", "dtime", "death",
                            "size + age + meno + grade + log1p(nodes) + hormon + chemo",
                            "size + age + meno + grade + np.log1p(nodes) + hormon + chemo"),
  lung = same("lung", "time", "status", "age + sex + ph_ecog"),
  veteran = same("veteran", "time", "status", "celltype + trt + karno + diagtime + age + prior"),
  capacitor = same("capacitor", "time", "status", "voltage + temperature"),
  genfan = same("genfan", "hours", "status", "1"),
  imotor = same("imotor", "time", "status", "temp"),
  imotor_arrhenius = same("imotor", "time", "status", "I(11605 / (273.15 + temp))"),
  shockabsorber = same("shockabsorber", "miles", "failed", "1"),
  fan = same("fan", "hours", "failed", "1"),
  bearingcage = same("bearingcage", "hours", "failed", "1")
)
frames <- list(
  hdfail = hdfail, cmapss_engines = engines, rotterdam = rotterdam, lung = lung, veteran = veteran,
  capacitor = capacitor, genfan = genfan, imotor = imotor, shockabsorber = shockabsorber, fan = fan,
  bearingcage = bearingcage
)

# weibull, loglogistic and lognormal; extreme, logistic and gaussian of log time are the same models written
# another way, so their coefficients check the optimiser (the log likelihood differs by the Jacobian, sum of log time over events).
fit <- function(model, dist) {
  log_time <- dist %in% c("extreme", "logistic", "gaussian")
  response <- sprintf(if (log_time) "Surv(log(%s), %s)" else "Surv(%s, %s)", model$time, model$event)
  # the normal's log likelihood does not settle to the last digit
  tolerance <- if (dist %in% c("lognormal", "gaussian")) 1e-12 else 1e-13
  survreg(as.formula(paste(response, "~", model$rhs)), data = frames[[model$data]], dist = dist, x = TRUE,
          control = survreg.control(maxiter = 200, rel.tolerance = tolerance))
}

# survreg stops by the log likelihood, which is flat to rounding before the coefficients are exact; a few more
# Newton steps with its own covariance bring (coefficients, log scale) to the root of the score.
polish <- function(f, dist) {
  theta <- c(coef(f), log(f$scale))
  k <- length(theta)
  log_time <- log(f$y[, 1])
  d <- f$y[, 2]
  for (i in 1:4) {
    scale <- exp(theta[k])
    z <- as.vector(log_time - f$x %*% theta[-k]) / scale
    psi <- switch(dist, weibull = exp(z) - d, loglogistic = (1 + d) * plogis(z) - d,
                  lognormal = ifelse(d == 1, z, exp(dnorm(z, log = TRUE) - pnorm(-z, log.p = TRUE))))
    score <- c(colSums(f$x * psi) / scale, sum(z * psi - d))
    step <- as.vector(f$var %*% score)
    theta <- theta + step
  }
  stopifnot(sum(step * score) < 1e-16)
  theta
}
check_pair <- function(a, b, model) {
  d <- frames[[model$data]]
  used <- setdiff(seq_len(nrow(d)), a$na.action)
  jacobian <- sum((d[[model$event]] * log(d[[model$time]]))[used])
  stopifnot(max(abs(coef(a) - coef(b)) / sqrt(diag(a$var))[seq_along(coef(a))]) < 1e-4,
            abs(log(a$scale) - log(b$scale)) < 1e-6, abs(a$loglik[2] - b$loglik[2] + jacobian) < 1e-6)
}

other_name <- c(weibull = "extreme", loglogistic = "logistic", lognormal = "gaussian")
record <- function(name, dist) {
  model <- models[[name]]
  f <- fit(model, dist)
  check_pair(f, fit(model, other_name[[dist]]), model)
  rows <- apply(f$var, 1, function(r) paste0("      ", array(number(r))))
  paste0("  {\n", paste(
    sprintf('    "model": "%s", "dist": "%s", "data": "%s"', name, dist, model$data),
    sprintf('    "formula": "Surv(%s, %s) ~ %s"', model$time, model$event, model$formula),
    sprintf('    "rows": %d, "used": %d, "events": %d', nrow(frames[[model$data]]), nrow(f$y), sum(f$y[, 2] == 1)),
    sprintf('    "names": %s', array(quoted(c(patsy_names(names(coef(f))), "Log(scale)")))),
    sprintf('    "params": %s', array(number(polish(f, dist)))),
    sprintf('    "loglik": %s', number(f$loglik[2])),
    sprintf('    "cov": [\n%s\n    ]', paste(rows, collapse = ",\n")),
    sep = ",\n"), "\n  }")
}
records <- unlist(lapply(names(models), function(name) {
  sapply(names(other_name), record, name = name)
}))
write_fits("survreg", records, "survival")
