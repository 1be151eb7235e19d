# Left-truncated, right-censored maximum likelihood, the numbers that noise-free fits must reproduce.
# Run from the root of the repository:   Rscript tests/goldens/truncated.R
# It reads dpstats/datasets/data and writes tests/goldens/truncated.json.
#
# R's survreg refuses Surv(entry, time, event), so the likelihood is written out: the log density or log survival
# of each row, less the log survival at its entry. Newton's method goes to the root of the score; optim, which
# knows the likelihood only, must end at the same place. The clipping repeats each schema by hand.
library(survival)
source("tests/goldens/common.R")

# age as the time scale: every woman enters at her age at surgery. Days since diagnosis: every veteran enters the
# trial when he is randomised. Drives watched only since their 400th day: those that failed sooner are not seen.
models <- list(
  rotterdam_age = list(data = "rotterdam", entry = "age", time = "age + dtime / 365.25", event = "death",
                       rhs = "size + grade + log1p(nodes) + hormon",
                       formula = "size + grade + np.log1p(nodes) + hormon"),
  veteran_diagnosis = list(data = "veteran", entry = "30 * diagtime", time = "30 * diagtime + time",
                           event = "status", rhs = "celltype + karno", formula = "celltype + karno"),
  hdfail_late = list(data = "hdfail", entry = "400", time = "time", event = "status",
                     rhs = "temp", formula = "temp")
)
frames <- list(rotterdam = read_rotterdam(), veteran = read_veteran(), hdfail = read_hdfail())

# derivatives of the log hazard and of the cumulative hazard H of the standard error
families <- list(
  weibull = list(hazard = exp, H = exp, H1 = exp, H2 = exp, log_hazard = identity,
                 l1 = function(z) rep(1, length(z)), l2 = function(z) rep(0, length(z))),
  loglogistic = list(H = function(z) log1p(exp(z)), H1 = plogis, H2 = function(z) plogis(z) * plogis(-z),
                     log_hazard = function(z) plogis(z, log.p = TRUE), l1 = function(z) plogis(-z),
                     l2 = function(z) -plogis(z) * plogis(-z))
)

fit <- function(model, dist) {
  d <- frames[[model$data]]
  at <- function(text) { v <- eval(parse(text = text), d); rep(v, length.out = nrow(d)) }
  entry <- at(model$entry); exit <- at(model$time); event <- at(model$event)
  kept <- which(exit > entry & complete.cases(model.frame(as.formula(paste("~", model$rhs)), d, na.action = na.pass)))
  y <- Surv(entry[kept], exit[kept], event[kept])  # refuses what is not a time
  x <- model.matrix(as.formula(paste("~", model$rhs)), d[kept, ])
  start <- log(y[, 1]); stop <- log(y[, 2]); e <- y[, 3]; f <- families[[dist]]
  k <- ncol(x)
  loglik <- function(theta) {
    s <- exp(theta[k + 1]); m <- as.vector(x %*% theta[1:k])
    z <- (stop - m) / s; w <- (start - m) / s
    h <- ifelse(is.finite(w), f$H(ifelse(is.finite(w), w, 0)), 0)
    sum(e * (f$log_hazard(z) - theta[k + 1] - stop) - f$H(z) + h)
  }
  derivatives <- function(theta) {
    s <- exp(theta[k + 1]); m <- as.vector(x %*% theta[1:k])
    part <- function(z, first, second) {
      rows <- -cbind(x / s, z)
      hessian <- crossprod(rows, rows * second)
      cross <- colSums(x * first) / s
      hessian[1:k, k + 1] <- hessian[1:k, k + 1] + cross
      hessian[k + 1, 1:k] <- hessian[k + 1, 1:k] + cross
      hessian[k + 1, k + 1] <- hessian[k + 1, k + 1] + sum(z * first)
      list(score = colSums(rows * first), hessian = hessian)
    }
    z <- (stop - m) / s; w <- (start - m) / s; late <- is.finite(w); w[!late] <- 0
    at_exit <- part(z, e * f$l1(z) - f$H1(z), e * f$l2(z) - f$H2(z))
    at_entry <- part(w, late * f$H1(w), late * f$H2(w))
    score <- at_exit$score + at_entry$score
    score[k + 1] <- score[k + 1] - sum(e)
    list(score = score, hessian = at_exit$hessian + at_entry$hessian)
  }
  first <- survreg(Surv(y[, 2], y[, 3]) ~ x - 1, dist = dist, control = survreg.control(maxiter = 500))
  theta <- c(coef(first), log(first$scale))
  repeat {  # Newton's method with halved steps
    d <- derivatives(theta)
    step <- -solve(d$hessian, d$score)
    if (sum(step * d$score) <= 0) step <- d$score / max(abs(diag(d$hessian)))
    size <- 1
    while (!is.finite(loglik(theta + size * step)) || loglik(theta + size * step) < loglik(theta) - 1e-9) size <- size / 2
    theta <- theta + size * step
    if (sum(step * d$score) < 1e-20) break
  }
  names <- c(colnames(x), "Log(scale)")
  var <- solve(-derivatives(theta)$hessian)
  se <- sqrt(diag(var))
  other <- optim(rep(0, k + 1), function(u) -loglik(theta + u * se) + loglik(theta), method = "BFGS")
  moved <- optim(rep(0.5, k + 1), function(u) -loglik(theta + u * se) + loglik(theta), method = "BFGS",
                 control = list(reltol = 1e-14, maxit = 1000))
  stopifnot(se > 0, eigen(var)$values > 0, other$value >= -1e-8, moved$value >= -1e-8, max(abs(moved$par)) < 1e-2)
  list(names = names, params = theta, loglik = loglik(theta), cov = var, used = length(kept), events = sum(e),
       rows = nrow(frames[[model$data]]))
}

record <- function(name, dist) {
  model <- models[[name]]
  f <- fit(model, dist)
  rows <- apply(f$cov, 1, function(r) paste0("      ", array(number(r))))
  paste0("  {\n", paste(
    sprintf('    "model": "%s", "dist": "%s", "data": "%s"', name, dist, model$data),
    sprintf('    "formula": "Surv(%s, %s, %s) ~ %s"', model$entry, model$time, model$event, model$formula),
    sprintf('    "rows": %d, "used": %d, "events": %d', f$rows, f$used, f$events),
    sprintf('    "names": %s', array(quoted(patsy_names(f$names)))),
    sprintf('    "params": %s', array(number(f$params))),
    sprintf('    "loglik": %s', number(f$loglik)),
    sprintf('    "cov": [\n%s\n    ]', paste(rows, collapse = ",\n")),
    sep = ",\n"), "\n  }")
}
# not veteran's Weibull: by it, one veteran had lived through a cumulative hazard of 78 when he entered, and no
# private score looks beyond 64
records <- unlist(lapply(names(models), function(name) {
  sapply(if (name == "veteran_diagnosis") "loglogistic" else c("weibull", "loglogistic"), record, name = name)
}))
write_fits("truncated", records, "survival")
