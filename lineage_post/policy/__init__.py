"""Who may see what: a policy file, and the lineage as one of its viewers sees it."""

from lineage_post.policy.file import Policy, Viewer, read_policy
from lineage_post.policy.view import INCOMPLETE, View, view_of

__all__ = ["INCOMPLETE", "Policy", "View", "Viewer", "read_policy", "view_of"]
