//! `loopx quota void-slot`

use clap::Args;
use loopx_core::Result;
use loopx_core::command::void::VoidSlotRequest;
use loopx_core::kernel::Kernel;
use serde_json::Value;

use super::write_at;
use crate::args::WriteAt;

/// `quota void-slot`
#[derive(Debug, Args)]
pub struct VoidSlot {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which spend, as its receipt names it
    #[arg(long, value_name = "N", required_unless_present = "void_generated_at")]
    pub spend_id: Option<u64>,
    /// Which spend, by its instant, RFC 3339
    #[arg(long, value_name = "INSTANT", conflicts_with = "spend_id")]
    pub void_generated_at: Option<String>,
    /// Why it is taken back
    #[arg(long, value_name = "TEXT")]
    pub reason_summary: String,
    /// Act
    #[arg(long, conflicts_with = "dry_run")]
    pub execute: bool,
    /// Only show (the default)
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(kernel: &Kernel, args: &VoidSlot) -> Result<Value> {
    let request = VoidSlotRequest {
        spend_id: args.spend_id,
        void_generated_at: args.void_generated_at.clone(),
        reason_summary: Some(args.reason_summary.clone()),
        execute: args.execute,
    };
    kernel.void_slot(&write_at(&args.at), &request)
}
