"""The pages: what the browser loads before any token arrives."""
