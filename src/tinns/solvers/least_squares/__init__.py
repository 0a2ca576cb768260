"""Training: one nonlinear least-squares problem, minimised in a loop of compiled steps."""
