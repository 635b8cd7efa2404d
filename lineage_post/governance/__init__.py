"""Governance along the lineage: classification, erasure, evidence, descriptions and owners."""
