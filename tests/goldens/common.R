# What the scripts of this folder share: how rows are read and clipped, and how numbers are written. They run from
# the root of the repository, read dpstats/datasets/data and write the file that is named as they are.
#
# The clipping repeats each schema by hand: a time above its upper bound becomes that bound, censored; everything
# else moves to the nearer bound.
options(warn = 2)  # a fit that did not converge stops the script

read <- function(file) read.csv(file.path("dpstats/datasets/data", file), stringsAsFactors = FALSE)
clip <- function(x, lower, upper) pmin(pmax(x, lower), upper)
censor_at <- function(d, time, event, lower, upper) {
  d[[event]] <- ifelse(d[[time]] > upper, 0, d[[event]])
  d[[time]] <- clip(d[[time]], lower, upper)
  d
}
read_rotterdam <- function() {
  d <- censor_at(read("rotterdam.csv"), "dtime", "death", 1, 7300)
  d$size <- factor(d$size, levels = c("<=20", "20-50", ">50"))
  d$age <- clip(d$age, 18, 100)
  d$grade <- clip(d$grade, 1, 3)
  d$nodes <- clip(d$nodes, 0, 40)
  d
}
read_lung <- function() {
  d <- read("lung.csv")
  d$status <- ifelse(d$status == 2, 1, 0)
  d <- censor_at(d, "time", "status", 1, 1100)
  d$sex <- ifelse(d$sex == 2, 1, 0)
  d$age <- clip(d$age, 18, 100)
  d$ph_ecog <- clip(d$ph_ecog, 0, 4)
  d
}

read_veteran <- function() {
  d <- censor_at(read("veteran.csv"), "time", "status", 1, 1000)
  d$celltype <- factor(d$celltype, levels = c("squamous", "smallcell", "adeno", "large"))
  d$karno <- clip(d$karno, 0, 100)
  d
}
read_hdfail <- function() {
  d <- censor_at(read("hdfail.csv.gz"), "time", "status", 1, 12000)
  d$temp <- clip(d$temp, 10, 50)
  d
}

number <- function(x) sprintf("%.17g", x)
array <- function(x) paste0("[", paste(x, collapse = ", "), "]")
quoted <- function(x) paste0('"', gsub('"', '\\\\"', x), '"')
# names of coefficients as patsy writes them
patsy_names <- function(x) {
  x <- sub("^\\(Intercept\\)$", "Intercept", x)
  x <- sub("^(size|celltype|region|gender)(.+)$", "\\1[T.\\2]", x)
  sub("/", " / ", sub("log1p", "np.log1p", x))
}
# the fits of tests/goldens/NAME.R, each a text, and which versions of R and of a package made them
write_fits <- function(name, records, package = NULL) {
  made_by <- c(sprintf("tests/goldens/%s.R", name), R.version.string,
               if (!is.null(package)) paste(package, packageVersion(package)))
  writeLines(c("{", sprintf('"made_by": "%s",', paste(made_by, collapse = ", ")),
               '"fits": [', paste(records, collapse = ",\n"), "]", "}"), sprintf("tests/goldens/%s.json", name))
}
