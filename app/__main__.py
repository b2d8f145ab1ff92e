"""`python -m app` is `firstword`."""

from app.cli import main

if __name__ == "__main__":
    main()
