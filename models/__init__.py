"""The zoo: how to build each model, at which scale, for which workload."""
