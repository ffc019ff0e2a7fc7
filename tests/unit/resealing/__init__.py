"""Tests of the sealing secrets that the data directory keeps."""
