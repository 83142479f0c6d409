//! `loopx goal accept ...`

use clap::{Args, Subcommand};
use loopx_core::Result;
use loopx_core::kernel::{AcceptAddRequest, AcceptMeetRequest, Kernel};
use serde_json::Value;

use super::{at, write_at};
use crate::args::{At, WriteAt};

/// `goal accept ...`
#[derive(Debug, Subcommand)]
pub enum Accept {
    /// Add something that has to be so
    #[command(
        after_help = "Example:\n  loopx goal accept add --goal-id demo \\\n      --text \"The parser reads every file of the corpus\""
    )]
    Add(AcceptAdd),
    /// Say that it is so
    #[command(after_help = "Example:\n  loopx goal accept meet --goal-id demo --index 1")]
    Meet(AcceptMeet),
    /// List what has to be so, and what of it is
    #[command(after_help = "Example:\n  loopx goal accept list --goal-id demo")]
    List(At),
}

/// `goal accept add`
#[derive(Debug, Args)]
pub struct AcceptAdd {
    #[command(flatten)]
    pub at: WriteAt,
    /// What has to be so
    #[arg(long)]
    pub text: String,
}

/// `goal accept meet`
#[derive(Debug, Args)]
pub struct AcceptMeet {
    #[command(flatten)]
    pub at: WriteAt,
    /// Which, by its number in the list
    #[arg(long, value_name = "N", required_unless_present = "text")]
    pub index: Option<usize>,
    /// Which, by its text
    #[arg(long)]
    pub text: Option<String>,
}

pub fn run(kernel: &Kernel, command: &Accept) -> Result<Value> {
    match command {
        Accept::Add(args) => kernel
            .goal_accept_add(&write_at(&args.at), &AcceptAddRequest { text: args.text.clone() }),
        Accept::Meet(args) => {
            let request = AcceptMeetRequest { index: args.index, text: args.text.clone() };
            kernel.goal_accept_meet(&write_at(&args.at), &request)
        }
        Accept::List(args) => kernel.goal_accept_list(&at(args)),
    }
}
