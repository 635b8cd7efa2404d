"""``python -m lineage_post`` is ``lineage-post``."""

from lineage_post.cli import main

if __name__ == "__main__":
    main()
