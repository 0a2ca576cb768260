"""What everything stands on: errors, files, precision, compilation, the host's BLAS."""
