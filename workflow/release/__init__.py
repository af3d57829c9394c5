"""`make release`: look whether all parts agree, then build the site as a zip and the library as a wheel."""
