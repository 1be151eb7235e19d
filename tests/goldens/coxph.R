# Cox regression by R's coxph with Breslow's ties, the numbers that noise-free fits on a fine grid must reproduce.
# Run from the root of the repository:   Rscript tests/goldens/coxph.R
# It reads dpstats/datasets/data and the heart transplants of R's survival package, and writes
# tests/goldens/coxph.json with the rows of each fit.
library(survival)
source("tests/goldens/common.R")

rotterdam <- read("rotterdam.csv")
rotterdam <- with(rotterdam, data.frame(
  month = ceiling(dtime / 30.4375), death = death, age = age, nodes = pmin(nodes, 15), chemo = chemo,
  size = size))
rotterdam$size <- factor(rotterdam$size, levels = c("<=20", "20-50", ">50"))
late <- subset(transform(rotterdam, entry = floor((age * 7) %% 40)), entry < month)
lung <- read("lung.csv")
lung <- with(lung, data.frame(time = time, status = 1 * (status == 2), age = age, sex = sex, ph_ecog = ph_ecog))
lung <- lung[complete.cases(lung), ]
transplants <- with(heart, data.frame(
  start = start, stop = stop, event = event, age = age + 48, surgery = surgery,
  transplant = 1 * (transplant == "1"), id = id))

column <- function(x) array(if (is.numeric(x)) number(x) else quoted(as.character(x)))
record <- function(name, formula, data, times) {
  f <- coxph(as.formula(formula), data, ties = "breslow", control = coxph.control(eps = 1e-10, toler.chol = 1e-11, iter.max = 100))
  at <- data[1, , drop = FALSE]
  s <- summary(survfit(f, at, stype = 2, ctype = 1, conf.type = "log-log"), times = times)
  z <- patsy_names(names(coef(f)))
  columns <- sprintf('    "%s": %s', names(data), sapply(data, column))
  point <- sprintf('"%s": %s', names(at), sapply(at, function(x) gsub("^\\[|\\]$", "", column(x))))
  paste0("  {\n", paste(
    sprintf('    "name": "%s", "formula": "%s"', name, formula),
    sprintf('    "names": %s', array(quoted(z))),
    sprintf('    "params": %s', array(number(coef(f)))),
    sprintf('    "se": %s', array(number(sqrt(diag(vcov(f)))))),
    sprintf('    "at": {%s}', paste(point, collapse = ", ")),
    sprintf('    "times": %s', array(number(times))),
    sprintf('    "survival": %s', array(number(s$surv))),
    sprintf('    "survival_se": %s', array(number(s$std.err))),
    sprintf('    "columns": {\n%s\n    }', paste(columns, collapse = ",\n")),
    sep = ",\n"), "\n  }")
}
records <- c(
  record("rotterdam", "Surv(month, death) ~ size + age + nodes + chemo", rotterdam, c(24, 60, 120)),
  record("strata", "Surv(month, death) ~ age + nodes + chemo + strata(size)", rotterdam, c(24, 60, 120)),
  record("late entry and strata", "Surv(entry, month, death) ~ age + nodes + strata(size, chemo)", late,
         c(24, 60, 120)),
  record("late entry", "Surv(entry, month, death) ~ size + age + nodes + chemo", late, c(24, 60, 120)),
  record("lung", "Surv(time, status) ~ age + sex + ph_ecog", lung, c(200, 400, 700)),
  record("transplants", "Surv(start, stop, event) ~ age + surgery + transplant", transplants, c(50, 200, 600)))
write_fits("coxph", records, "survival")
