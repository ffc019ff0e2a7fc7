"""The web server: the browser pages that web/ builds, and where they find the platform's edges."""
