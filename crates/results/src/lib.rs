//! The results directory: records with units in column names, CSV, JSON and Parquet
