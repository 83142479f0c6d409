//! Bodies: every one of every host as a snapshot with its count, within budget whatever is
//! put into them, escaped, with whole commands and without words that are not theirs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use std::fmt::Write as _;

use loopx_core::host::{BodyKind, HOSTS, Host, Style};
use loopx_core::model::{AgentId, GoalId, GoalPolicy, TurnId};
use loopx_core::prompt::{
    self, Escape, HeartbeatPromptRequest, Known, PromptInput, Route, Word, forbidden_to_us, prose,
    render,
};
use proptest::prelude::*;
use serde_json::Value;

fn input(host: Host, style: Style) -> PromptInput {
    let agent = Some(AgentId::parse("agent-a").unwrap());
    let mut input = PromptInput::new(host, GoalId::parse("demo-goal").unwrap(), agent);
    input.style = style;
    input
}

/// What the earlier tool's bodies took for the same goal and agent (characters).
fn earlier(host: Host, style: Style) -> usize {
    match (host.row().body, style) {
        (BodyKind::VisibleGoal, Style::Brief | Style::Compact) => 3_090,
        (BodyKind::VisibleGoal, Style::Full) => 3_344,
        (_, Style::Brief) => 3_490,
        (_, Style::Compact) => 5_837,
        (_, Style::Full) => 12_853,
        (_, Style::Thin) => match host {
            Host::CodexApp | Host::TraeApp => 1_554,
            Host::CodexAppSsh => 2_734,
            Host::CodexCli | Host::CodexIde => 2_725,
            Host::ArkAgent => 2_474,
            Host::TraexCli => 2_403,
            Host::Webhook | Host::ComputerUse => 1_393,
            Host::Shell | Host::Turn | Host::Dsh | Host::WorkerBridge => 1_577,
            _ => 1_571,
        },
    }
}

#[test]
fn every_body_of_every_host() {
    for style in Style::ALL {
        let mut all = String::new();
        for row in HOSTS {
            let body = render(&input(row.host, *style)).unwrap();
            assert_eq!(body.dropped, Vec::<&str>::new(), "{}", row.name());
            let _ = writeln!(
                all,
                "=== {}: {} of {} characters, {} before\n{}\n",
                row.name(),
                body.chars,
                body.limit,
                earlier(row.host, *style),
                body.text
            );
        }
        insta::assert_snapshot!(format!("bodies_{}", style.text()), all);
    }
}

#[test]
fn a_body_takes_at_most_half_of_what_it_took_before() {
    let mut longer = String::new();
    for row in HOSTS {
        for style in Style::ALL {
            let body = render(&input(row.host, *style)).unwrap();
            let most = earlier(row.host, *style) / 2;
            if body.chars > most {
                let _ =
                    writeln!(longer, "{} {}: {} > {most}", row.name(), style.text(), body.chars);
            }
        }
    }
    assert!(longer.is_empty(), "{longer}");
}
