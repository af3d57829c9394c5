"""What the papers prove, as functions, one file a paper; noise calibrated to a promise (`accounting`)."""
