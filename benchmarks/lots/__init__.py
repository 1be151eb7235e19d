"""Designs drawn at random, fitted and scored, for lottery.py."""
