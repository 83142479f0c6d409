//! The registry: which goals exist, their agents and policy, and the global projection.
