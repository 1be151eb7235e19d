# Maximum likelihood of generalised linear models by R's glm, and sandwich covariances with the expected
# information: the numbers that noise-free fits must reproduce. Run from the root of the repository:
#   Rscript tests/goldens/glm.R
# It reads dpstats/datasets/data and writes tests/goldens/glm.json. Clipping repeats each schema by hand.
source("tests/goldens/common.R")

cps <- read("cps1988.csv.gz")
cps$parttime <- as.numeric(cps$parttime == "yes")
cps$smsa <- as.numeric(cps$smsa == "yes")
cps$education <- clip(cps$education, 0, 18)
cps$experience <- clip(cps$experience, -6, 64)
cps$region <- factor(cps$region, levels = c("northeast", "midwest", "south", "west"))
cars <- read("datacar.csv.gz")
cars$numclaims <- clip(cars$numclaims, 0, 10)
cars$exposure <- clip(cars$exposure, 0.0027, 1)
cars$veh_value <- clip(cars$veh_value, 0, 8)
cars$gender <- factor(cars$gender, levels = c("F", "M"))
frames <- list(cps1988 = cps, datacar = cars)
work <- "parttime ~ education + experience + smsa + region"
claims <- "numclaims ~ veh_value + gender + offset(log(exposure))"
models <- list(
  list("cps1988", work, "binomial", "logit"),
  list("cps1988", work, "binomial", "probit"),
  list("cps1988", work, "binomial", "cloglog"),
  list("datacar", claims, "poisson", "log"),
  list("datacar", claims, "negativebinomial(theta=0.8)", "log")
)
family_of <- function(name, link) {
  theta <- as.numeric(sub("^negativebinomial\\(theta=(.*)\\)$", "\\1", name))
  if (is.na(theta)) get(name)(link = link) else MASS::negative.binomial(theta, link = link)
}

record <- function(model) {
  family <- suppressWarnings(family_of(model[[3]], model[[4]]))
  f <- glm(as.formula(model[[2]]), family = family, data = frames[[model[[1]]]],
           control = glm.control(epsilon = 1e-15, maxit = 100))
  x <- model.matrix(f)
  slope <- family$mu.eta(f$linear.predictors)
  variance <- family$variance(f$fitted.values)
  bread <- solve(crossprod(x * slope / sqrt(variance)))
  meat <- crossprod(x * slope / variance * (f$y - f$fitted.values))
  names <- patsy_names(names(coef(f)))
  paste0("  {\n", paste(
    sprintf('    "data": "%s", "family": "%s", "link": "%s"', model[[1]], model[[3]], model[[4]]),
    sprintf('    "formula": "%s"', sub("log\\(exposure\\)", "np.log(exposure)", model[[2]])),
    sprintf('    "names": %s', array(quoted(names))),
    sprintf('    "params": %s', array(number(coef(f)))),
    sprintf('    "bse": %s', array(number(sqrt(diag(bread))))),
    sprintf('    "robust": %s', array(number(sqrt(diag(bread %*% meat %*% bread))))),
    sprintf('    "loglik": %s', number(as.numeric(logLik(f)))),
    sep = ",\n"), "\n  }")
}
records <- sapply(models, record)
write_fits("glm", records)
