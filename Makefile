# The site, and what it shows. Install what they need by: pip install ".[docs]"

docs:  ## the site: build/site/index.html, which needs no network
	python -m sphinx -W --keep-going -q -j 2 -c docs/site . build/site
	python docs/site/links.py build/site

studies:  ## the notebooks of the studies, from their texts, under seeded noise
	python docs/site/studies.py

pictures:  ## the pictures of the pages, from benchmarks/results, and the gallery of plots
	PYTHONPATH=. python benchmarks/pictures.py
	python docs/site/gallery.py

.PHONY: docs studies pictures
