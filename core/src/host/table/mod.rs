//! The host table. A new host is a variant of [`Host`], a row here and a door.

mod agents;
mod apps;
mod goals;
mod headless;

use super::row::{Host, HostRow};

/// Every host, in the order of [`Host::ALL`].
pub const HOSTS: &[&HostRow] = &[
    &apps::CODEX_APP,
    &apps::TRAE_APP,
    &goals::CODEX_APP_SSH,
    &goals::CODEX_CLI,
    &goals::CODEX_IDE,
    &goals::ARK_AGENT,
    &goals::TRAEX_CLI,
    &agents::CLAUDE_CODE,
    &agents::KUNLUN_CODE,
    &agents::OPENCODE,
    &agents::OPENCODE2,
    &agents::PI,
    &agents::GEMINI_CLI,
    &agents::CURSOR_AGENT,
    &headless::SHELL,
    &headless::WEBHOOK,
    &headless::WORKER_BRIDGE,
    &headless::COMPUTER_USE,
    &headless::DSH,
    &headless::DSH_NATIVE,
    &headless::TURN,
    &headless::OTHER_AGENT,
];

/// The row of a host. Total: the compiler asks for every variant.
pub(super) const fn row(host: Host) -> &'static HostRow {
    match host {
        Host::CodexApp => &apps::CODEX_APP,
        Host::TraeApp => &apps::TRAE_APP,
        Host::CodexAppSsh => &goals::CODEX_APP_SSH,
        Host::CodexCli => &goals::CODEX_CLI,
        Host::CodexIde => &goals::CODEX_IDE,
        Host::ArkAgent => &goals::ARK_AGENT,
        Host::TraexCli => &goals::TRAEX_CLI,
        Host::ClaudeCode => &agents::CLAUDE_CODE,
        Host::KunlunCode => &agents::KUNLUN_CODE,
        Host::Opencode => &agents::OPENCODE,
        Host::Opencode2 => &agents::OPENCODE2,
        Host::Pi => &agents::PI,
        Host::GeminiCli => &agents::GEMINI_CLI,
        Host::CursorAgent => &agents::CURSOR_AGENT,
        Host::Shell => &headless::SHELL,
        Host::Webhook => &headless::WEBHOOK,
        Host::WorkerBridge => &headless::WORKER_BRIDGE,
        Host::ComputerUse => &headless::COMPUTER_USE,
        Host::Dsh => &headless::DSH,
        Host::DshNative => &headless::DSH_NATIVE,
        Host::Turn => &headless::TURN,
        Host::OtherAgent => &headless::OTHER_AGENT,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::row::ConnectorOf;
    use super::*;

    /// Every connector of the published catalogue, and no other.
    const CATALOGUE: [&str; 14] = [
        "codex_app_heartbeat",
        "trae_app",
        "codex_app_ssh_goal",
        "codex_cli_tui",
        "claude_code_loop",
        "opencode_goal_loop",
        "opencode2_goal_worker",
        "pi_goal_loop",
        "shell_worker",
        "http_webhook",
        "worker_bridge",
        "computer_use_runtime",
        "deepseek_harness_loop",
        "loopx_turn",
    ];

    #[test]
    fn rows_are_in_order_and_nothing_is_there_twice() {
        let mut names = BTreeSet::new();
        let mut surfaces = BTreeSet::new();
        assert_eq!(HOSTS.len(), Host::ALL.len());
        for (row, host) in HOSTS.iter().zip(Host::ALL) {
            assert_eq!(row.host, *host);
            assert_eq!(*row, host.row());
            assert!(surfaces.insert(row.activation.surface), "{}", row.activation.surface);
            for name in std::iter::once(&row.host.name()).chain(row.aliases) {
                assert!(names.insert(super::super::find::fold(name)), "{name} twice");
            }
        }
    }

    #[test]
    fn the_catalogue_has_its_fourteen_connectors() {
        let own: Vec<&str> = HOSTS
            .iter()
            .filter_map(|row| match &row.connector {
                ConnectorOf::Own(catalog) => Some(catalog.id),
                _ => None,
            })
            .collect();
        assert_eq!(own, CATALOGUE);
        for row in HOSTS {
            if let ConnectorOf::Shared(host) = row.connector {
                assert!(matches!(host.row().connector, ConnectorOf::Own(_)), "{}", row.name());
            }
        }
    }

    /// The loop machine and this table mean the same hosts.
    #[test]
    fn every_loop_surface_is_a_host() {
        for surface in crate::host_loop::surface::SURFACES {
            assert_eq!(super::super::find(surface.name).unwrap().name(), surface.name);
        }
    }

    #[test]
    fn every_profile_exists_and_goal_hosts_spend_as_goals() {
        use super::super::row::{BodyKind, SpendSource, StopRule};
        for row in HOSTS {
            if row.profile.is_some() {
                assert!(row.context().is_some(), "{}", row.name());
            }
            let goal = matches!(row.body, BodyKind::VisibleGoal | BodyKind::OneShotGoal);
            assert_eq!(goal, row.spend == SpendSource::VisibleGoal, "{}", row.name());
            let app = row.body == BodyKind::AppHeartbeat;
            assert_eq!(app, row.stop == StopRule::AppAutomation, "{}", row.name());
            assert_eq!(app, row.activation.initial_minutes == Some(3), "{}", row.name());
            assert!(crate::command::quota::SOURCES.contains(&row.spend.text()));
            // The spend source and the schedule's owner never contradict each other.
            if let Some(context) = row.context() {
                assert_eq!(app, context.scheduler_owner == "host_automation", "{}", row.name());
            }
        }
    }
}
