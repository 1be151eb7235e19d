"""What ``--help`` says of each command, beside its options."""

ABOUT = """\
Differentially private regression from the command line.

  1. Write down what everyone may know about each variable (dpstats schema new drives.csv > drives.toml):
       time   = {kind = "bounded", lower = 1, upper = 4000, unit = "days"}
       failed = {kind = "event", failed = 1, censored = 0}
       temp   = {kind = "bounded", lower = 10, upper = 50, unit = "C"}
  2. Check it; no value is read:
       dpstats schema check drives.toml drives.csv
     Who holds the data may see which cells no fit can use; not private, for no one else:
       dpstats schema check drives.toml drives.csv --values
     What will a fit be worth? Nothing is spent:
       dpstats plan "Surv(time, failed) ~ temp" --schema drives.toml --budget "approx(1, 1e-6)" --n 50000
  3. Fit. This spends the budget, once for each call:
       dpstats fit "Surv(time, failed) ~ temp" drives.csv --schema drives.toml --budget "approx(1, 1e-6)" \\
               --out drives.fit.json
  4. Use the result as often as you like; it holds released numbers only:
       dpstats show drives.fit.json
       dpstats life drives.fit.json --at temp=30 --failed 0.1 0.5
       dpstats predict drives.fit.json new.csv --type quantile --p 0.1
       dpstats plot drives.fit.json --out drives.png

- in the place of a file is the standard input, or as --out the standard output.
To see it work first: dpstats demo
If nobody may hold the records: dpstats plan-contributions --help"""

DESCRIBE = """\
example:
  dpstats describe drives.csv --schema drives.toml --budget "approx(0.5, 1e-6)" --ledger fleet.ledger \\
          --out drives.look.json --suggest tight.toml

Each call spends its budget, which all variables share: describe few of them where rows are few. Every number
has an interval that counts sampling and privacy noise. --suggest uses released numbers alone, and is free."""

FIT = """\
example:
  dpstats fit "Surv(time, failed) ~ temp + maker" drives.parquet --schema drives.toml --model survreg \\
          --dist weibull --budget "approx(1, 1e-6)" --out drives.fit.json
  dpstats fit "power ~ temp + np.log(load)" plant.csv --schema plant.toml --model ridge --alpha 0.1 \\
          --public last_year.csv --budget "approx(1, 1e-6)" --out plant.fit.json
  dpstats fit "Surv(time, failed) ~ maker" drives.csv --schema drives.toml --model kaplan_meier \\
          --times 90 180 365 730 --budget "pure(0.5)" --out curve.json
  dpstats fit "Surv(time, failed) ~ temp" postgresql://reader@db/fleet --query "SELECT * FROM drives" \\
          --schema drives.toml --budget "approx(1, 1e-6)" --out drives.fit.json

budgets:
  approx(EPSILON, DELTA)   for example approx(1, 1e-6); delta well below 1 / number of rows
  zcdp(RHO)                for example zcdp(0.1)
  gdp(MU)                  for example gdp(0.25)
  pure(EPSILON)            for example pure(1)

Each call spends its budget. With --ledger the cost is written down first, and a fit that would exceed the
total of the data set is refused: see dpstats ledger --help."""

FIT_PLAN = """\
example:
  dpstats plan "Surv(time, failed) ~ temp + maker" --schema drives.toml --dist weibull --n 50000 \\
          --budget "approx(1, 1e-6)" --known temp=25,6 maker=HGST:0.7,WDC:0.3 --events 0.1 --scale 0.7 \\
          --power temp=0.02 --half-width temp=0.01

--known takes a word for each variable of which something is known:
  temp=25,6             mean and sd of a number; a third number is its skewness, a fourth its kurtosis
  smokes=0.2            share of ones of a yes or no; of a response that is a number, its mean
  maker=HGST:0.7,WDC:0.3   share of each level
  temp:load=0.3         correlation of two numbers

The model's own estimator fits made-up rows of this kind, and the table says what a real fit is to expect.
"""

TABLE = """\
examples:
  dpstats table drives.fit.json
  dpstats table drives.fit.json time_ratios --level 0.9
  dpstats table drives.fit.json wald_test --with "hypothesis=temp = 0, rsc = 0"
  dpstats table drives.fit.json reliability --at temp=30,rsc=0 --with times=365,730 --format csv
  dpstats table drives.fit.json acceleration --with use=temp=25,rsc=0 stress=temp=45,rsc=0

The first lists what there is. --with takes the arguments that the method has in Python; a list has commas."""

LIFE = """\
examples:
  dpstats life drives.fit.json --at temp=25,rsc=0 --at temp=40,rsc=0 --failed 0.01 0.1 0.5
  dpstats life drives.fit.json --new units.csv --format csv --out b10.csv

B10 life is the time by which a tenth has failed: --failed 0.1."""

PLOT = """\
examples:
  dpstats plot drives.fit.json --out coefficients.png
  dpstats plot drives.fit.json life --at temp=25,rsc=0 --at temp=40,rsc=0 --out life.pdf
  dpstats plot drives.fit.json life --at temp=25,rsc=0 --with points=curve.json times=100,2000 --out life.png
  dpstats plot curve.json --with of=cumhaz steps=true --out hazard.svg

Needs matplotlib. --with takes the arguments that the method has in Python, such as terms of coef."""

PREDICT = """\
example:
  dpstats predict drives.fit.json new.csv --type quantile --p 0.1 --out b10.csv
  dpstats predict drives.fit.json new.csv --type survival --times 365 730 --out survival.csv

The first adds to each row of new.csv the time by which a tenth of such units has failed, with 95 % limits;
the second the fractions that survive 365 and 730 days, with theirs. Types hazard and cumhaz, the cumulative
hazard, take --times too, in the unit of the response.
--p is the failed fraction. Without --type and --p the response is predicted, as by fit.predict of Python;
--type lp is the linear predictor. A row that lacks a value, or rests on a coefficient that is not estimable,
has an empty prediction, and a warning says so.
What is written has commas between fields, and decimal points in the columns that the fit reads and in what
is added, in UTF-8; other columns stand as they were read.
Predictions are computed from the released numbers and cost nothing."""

FORECAST = """\
example:
  dpstats forecast drives.fit.json fleet.csv --horizon 365 --periods 12
  dpstats forecast drives.fit.json fleet.csv --horizon 30 90 365 --age days --units count --out failures.csv

fleet.csv has the covariates of each unit and its age, in the unit of the time of the fit. Limits of the
number of failures count what the fit does not know, and chance. Nothing is spent."""

LEDGER = """\
examples:
  dpstats ledger create fleet.ledger --total "approx(3, 1e-6)"
  dpstats fit ... --budget "approx(1, 1e-6)" --ledger fleet.ledger
  dpstats ledger charge fleet.ledger --budget "zcdp(0.1)" --formula "median of temp" --method "own mechanism"
  dpstats ledger show fleet.ledger
  dpstats ledger export fleet.ledger --format csv --out fleet.csv

Keep one ledger for each data set, on a disk of the machine that fits. Every fit with --ledger is charged
before its first release, and refused when it would exceed the total. There is no refund."""

SCHEMA = """\
examples:
  dpstats schema new drives.csv > drives.toml
  dpstats schema check drives.toml drives.csv"""

PLAN = """\
example:
  dpstats plan-contributions "income ~ age + educ" --schema people.toml --budget "approx(1, 1e-6)" \\
          --contributors 50000 --out plan.json

Publish the file, and its hash where contributors can compare it. The budget is what the model may tell of one
contributor; what one message tells whoever sees it is much more, and is printed beside it."""

CONTRIBUTE = """\
example, on the machine of the person whom the record is about:
  dpstats contribute me.csv --plan plan.json --hash 3f1a... --out message.jsonl

Each record of the table becomes one message: noise is added to every number that is derived from it, and the
record itself is written nowhere. Contribute a record once: a second message tells as much again.

A line that is no record, and a record with a cell that cannot be used, makes a message of noise alone. You
are told how many these are, here and nowhere else; correct them, and contribute again before you send
anything."""

FIT_CONTRIBUTIONS = """\
example:
  dpstats fit-contributions monday.parquet tuesday.jsonl --plan plan.json --model ols --out income.fit.json

Messages that are malformed, of another plan, out of range or repeated are counted and left out."""
