"""Reading the slides of presentations."""
