//! The Markdown surface: parse, render, adopt hand edits, bring in an earlier project.
