//! Shows figures as a Markdown table and keeps them as JSON.

use super::{Case, Figures};
use crate::failure::{Result, While};
use crate::workspace::Workspace;
use serde_json::json;
use std::fmt::Write;
use std::fs;

pub fn table(rows: &[(Case, Figures)]) -> String {
    let mut text = String::from(
        "| case | runs | wall ms, median | wall ms, p90 | CPU ms, median | peak MiB | stdout bytes |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (case, figures) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} | {:.2} | {:.2} | {} | {} |",
            case.name,
            case.runs,
            figures.wall_ms.median,
            figures.wall_ms.p90,
            figures.cpu_ms,
            figures.hwm_mib.map_or_else(|| "not read".into(), |mib| format!("{mib:.1}")),
            figures.stdout_bytes,
        );
    }
    text
}

/// Writes `<target>/bench/<name>.json`.
pub fn keep(workspace: &Workspace, case: &Case, figures: &Figures) -> Result<()> {
    let folder = workspace.target.join("bench");
    fs::create_dir_all(&folder).while_doing(|| format!("making {}", folder.display()))?;
    let path = folder.join(format!("{}.json", case.name));
    let argv: Vec<_> = case.argv.iter().map(|arg| arg.to_string_lossy()).collect();
    let body = json!({
        "name": case.name,
        "argv": argv,
        "runs": case.runs,
        "wall_ms": { "median": figures.wall_ms.median, "p90": figures.wall_ms.p90 },
        "cpu_ms": { "median": figures.cpu_ms },
        "hwm_mib": { "max": figures.hwm_mib },
        "stdout_bytes": figures.stdout_bytes,
    });
    fs::write(&path, format!("{body:#}\n")).while_doing(|| format!("writing {}", path.display()))
}
