"""What is public of second moments, and what is known of them before they are released."""
