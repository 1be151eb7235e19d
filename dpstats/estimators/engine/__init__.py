"""What iterations of noisy steps have in common, whatever model they are of."""
