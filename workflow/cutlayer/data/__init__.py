"""From original files to normalised data: acquisition of files, one module per dataset, generated stand-ins."""
