//! `loopx export` and `loopx import`

use loopx_core::Result;
use loopx_core::kernel::{ExportRequest, ImportRequest, Kernel};
use serde_json::Value;

use super::at;
use crate::args::{Export, Import};

pub fn export(kernel: &Kernel, args: &Export) -> Result<Value> {
    kernel.export(&at(&args.at), &ExportRequest { file: args.file.clone() })
}

pub fn import(kernel: &Kernel, args: &Import) -> Result<Value> {
    kernel.import(&ImportRequest { file: args.file.clone() })
}
