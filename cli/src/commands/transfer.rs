//! `loopx export` and `loopx import`

use std::path::PathBuf;

use clap::Args;
use loopx_core::Result;
use loopx_core::kernel::{ExportRequest, ImportRequest, Kernel};
use serde_json::Value;

use super::at;
use crate::args::At;
use crate::progress;

/// `export`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx export --goal-id demo --file demo.json")]
pub struct Export {
    #[command(flatten)]
    pub at: At,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `import`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  loopx import --file demo.json")]
pub struct Import {
    /// The file that `loopx export` wrote
    #[arg(long, value_name = "FILE")]
    pub file: PathBuf,
}

pub fn export(kernel: &Kernel, args: &Export) -> Result<Value> {
    progress::during("exporting", |_| {
        kernel.export(&at(&args.at), &ExportRequest { file: args.file.clone() })
    })
}

pub fn import(kernel: &Kernel, args: &Import) -> Result<Value> {
    progress::during("importing", |_| kernel.import(&ImportRequest { file: args.file.clone() }))
}
