"""Secrets and personal data in memories: found by their form, and shown masked."""

from __future__ import annotations

import numpy as np

from ..extraction.screening import looks_like_secret
from ..extraction.sensitive import masked, sensitive_parts
from .findings import Finding, found, proposed
from .survey import Survey

__all__ = ["sensitive"]


def sensitive(survey: Survey) -> list[Finding]:
    """Memories that hold a secret or personal data, secrets first; the reasons show it masked alone."""
    findings = []
    for done, at in enumerate(np.flatnonzero(survey.is_open).tolist()):
        if done % 1000 == 0:
            survey.watch.at(done / len(survey.records))
        record = survey.records[at]
        parts = sensitive_parts(record.content)
        if parts:
            listed = ", ".join(f"{kind.name} ({masked(text)})" for kind, text in parts)
            weight = float(any(kind.is_secret for kind, _ in parts))
            reason = f"It holds {listed}."
        elif looks_like_secret(record.content):
            reason, weight = "It speaks of a password, key, card or account number.", 0.5
        else:
            continue
        findings.append(found("sensitive", [record], reason, proposed("forget", record), weight=weight))
    return sorted(findings, key=lambda each: (-each.weight, each.refs))
