"""From releases to estimates: pure functions of released and public numbers."""
