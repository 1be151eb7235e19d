from tests.privacy.catalogue import *
from dpstats.testing import *
for mu in (.02,.05,.1,.2,.4):
    BUDGETS["little"]=dps.gdp(mu)
    for law in DISTS:
      for right in ("temp + load + maker",):
        for seed in (0,1):
          with noise(r:=Recording(SeededNoise(seed))):
            Case("survreg",law,"newton",None,"little",None).fit(made())
          print(mu,law,seed, any("sign" in x.name for x in r.records))
