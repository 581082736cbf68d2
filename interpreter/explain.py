"""`jitted.explain()`: what a person wants to know about a jitted callable, as text."""

from __future__ import annotations

from collections import Counter


def explain(jit) -> str:
    """Guards, operations, checks, writes, routes and costs of every entry."""
    stats = jit.stats
    lines = [
        (
            f"{stats.calls} calls: {stats.hits} served by a program, {stats.misses} recorded, "
            f"{stats.tails} run unrecorded, {stats.exits} left by a side exit"
        ),
    ]
    for number, entry in enumerate(stats.entries):
        lines += ["", f"entry {number}: {entry.instructions} instructions interpreted"]
        lines.append(
            "  costs: " + ", ".join(f"{name} {seconds * 1e3:.2f} ms" for name, seconds in entry.phases.items())
        )
        for text in entry.missed:
            lines.append(f"  made because: {text}")
        if entry.tail is not None:
            lines.append(f"  run unrecorded every time: {entry.tail}")
        lines.extend(f"  run by the eager executor: {reason}" for reason in entry.fallbacks)
        lines.append(f"  {len(entry.guards)} guards:")
        lines += [f"    {guard}" for guard in entry.guards]
        for segment in entry.root.walk():
            if segment.operations:
                lines.append(f"  {len(segment.operations)} operations:")
                lines += [f"    {operation}    # {operation.where}" for operation in segment.operations]
            if segment.check is not None:
                lines.append(f"  check: {segment.check}")
            lines += [f"  write: {write.text}" for write in segment.writes]
    lines += ["", "routes:"]
    rows = jit.ledger.rows()
    for route, calls in sorted(totals(rows).items()):
        lines.append(f"  {route}: {calls} calls")
    lines += [f"  sharp edge: {row['callable']} at {row['where']}" for row in rows if row["sharp"]]
    return "\n".join(lines)


def totals(rows) -> Counter:
    """Calls by route."""
    counts: Counter = Counter()
    for row in rows:
        counts[row["route"]] += row["calls"]
    return counts

