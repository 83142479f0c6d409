//! Templates for service managers, as texts: nothing is installed. Every part of the
//! command is absolute, because a service manager has neither the folder nor the `PATH`
//! of whoever asks. A worker that stops normally exits with 0 and is not started again
//! at once; one that failed is, with a limit.

use std::path::Path;

use loopx_core::{Error, ErrorCode, Result};

use crate::process::words::quoted;

/// Seconds between two starts of a worker that failed.
const RESTART_SECONDS: u32 = 30;
/// The same for launchd, which knows no limit of starts: a worker whose route is another's
/// is not to be started every few seconds.
const LAUNCHD_RESTART_SECONDS: u32 = 300;
/// Starts within [`START_WINDOW_SECONDS`] after which a service manager gives up.
const START_LIMIT: u32 = 10;
/// The window of [`START_LIMIT`].
const START_WINDOW_SECONDS: u32 = 3_600;
/// Minutes after a normal stop at which a timer looks again.
const LOOK_AGAIN_MINUTES: u32 = 60;
/// Minutes between two looks of cron.
const CRON_MINUTES: u32 = 3;

/// For which service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// macOS.
    Launchd,
    /// Linux, as a user's service.
    Systemd,
    /// Anything with cron: one look at a time.
    Cron,
}

/// What a template is filled with.
#[derive(Clone, Debug)]
pub struct Service {
    /// Goal and agent, for names.
    pub goal_id: String,
    /// Agent.
    pub agent_id: String,
    /// The whole command: absolute program, `worker`, `run` and its options.
    pub command: Vec<String>,
    /// Folder in which the wake command runs; `None` where there is none.
    pub folder: Option<String>,
    /// `PATH` for the wake command; `None` where there is none.
    pub path: Option<String>,
    /// The user's home, for the log of launchd.
    pub home: Option<String>,
}

/// The template, filled in.
///
/// Errors: [`ErrorCode::RequestInvalid`] for a value with a line break or another control
/// character, which none of these files can hold.
pub fn print(manager: Manager, service: &Service) -> Result<String> {
    let values = service.command.iter().chain(&service.folder).chain(&service.path);
    let values = values.chain(&service.home);
    for value in values {
        if value.chars().any(char::is_control) {
            return Err(Error::new(ErrorCode::RequestInvalid, "worker install")
                .message("a path or an option has a line break or another control character")
                .next("name paths and commands without one"));
        }
    }
    Ok(match manager {
        Manager::Launchd => launchd(service),
        Manager::Systemd => systemd(service),
        Manager::Cron => cron(service),
    })
}

/// A name for files and labels: what is not plain in an id is told apart by its code.
fn name(service: &Service) -> String {
    let plain = |text: &str| -> String {
        text.chars()
            .map(|c| match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c.to_string(),
                c => format!("_{:x}", u32::from(c)),
            })
            .collect()
    };
    format!("loopx-worker.{}.{}", plain(&service.goal_id), plain(&service.agent_id))
}

fn launchd(service: &Service) -> String {
    let label = name(service);
    let strings = |values: &[String], indent: &str| -> String {
        values.iter().map(|v| format!("{indent}<string>{}</string>\n", xml(v))).collect()
    };
    let log = service.home.as_deref().map_or_else(
        || format!("/tmp/{label}.log"),
        |home| Path::new(home).join(format!("Library/Logs/{label}.log")).display().to_string(),
    );
    let path = service.path.as_deref().map_or_else(String::new, |path| {
        format!(
            "  <key>EnvironmentVariables</key>\n  <dict>\n    <key>PATH</key>\n    <string>{}</string>\n  </dict>\n",
            xml(path)
        )
    });
    let folder = service.folder.as_deref().map_or_else(String::new, |folder| {
        format!("  <key>WorkingDirectory</key>\n  <string>{}</string>\n", xml(folder))
    });
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!-- ~/Library/LaunchAgents/{label}.plist\n     \
         launchctl bootstrap gui/$UID ~/Library/LaunchAgents/{label}.plist -->\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{label}</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{}  </array>\n{folder}{path}  \
         <key>RunAtLoad</key>\n  <true/>\n  <key>KeepAlive</key>\n  <dict>\n    \
         <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  \
         <key>ThrottleInterval</key>\n  <integer>{LAUNCHD_RESTART_SECONDS}</integer>\n  \
         <key>ProcessType</key>\n  <string>Background</string>\n  \
         <key>StandardOutPath</key>\n  <string>{log}</string>\n  \
         <key>StandardErrorPath</key>\n  <string>{log}</string>\n</dict>\n</plist>\n",
        strings(&service.command, "    "),
        log = xml(&log),
    )
}

fn systemd(service: &Service) -> String {
    let name = name(service);
    let command: Vec<String> =
        service.command.iter().enumerate().map(|(at, word)| systemd_word(word, at == 0)).collect();
    let path = service.path.as_deref().map_or_else(String::new, |path| {
        format!("Environment={}\n", systemd_word(&format!("PATH={path}"), true))
    });
    let folder = service.folder.as_deref().map_or_else(String::new, |folder| {
        // To the end of the line, so that quotes would be a part of it.
        format!("WorkingDirectory={}\n", folder.replace('%', "%%"))
    });
    let about = format!("goal {}, agent {}", service.goal_id, service.agent_id).replace('%', "%%");
    format!(
        "# ~/.config/systemd/user/{name}.service\n\
         [Unit]\nDescription=LoopX worker ({about})\n\
         StartLimitIntervalSec={START_WINDOW_SECONDS}\nStartLimitBurst={START_LIMIT}\n\n\
         [Service]\nType=exec\nExecStart={}\n{folder}{path}\
         Restart=on-failure\nRestartSec={RESTART_SECONDS}\nRestartPreventExitStatus=3\n\
         SuccessExitStatus=143 130 129\nTimeoutStopSec=30\n\n\
         # ~/.config/systemd/user/{name}.timer\n\
         # systemctl --user daemon-reload && systemctl --user enable --now {name}.timer\n\
         [Unit]\nDescription=Looks again after the worker has stopped ({about})\n\n\
         [Timer]\nOnStartupSec=1min\nOnUnitInactiveSec={LOOK_AGAIN_MINUTES}min\n\n\
         [Install]\nWantedBy=timers.target\n",
        command.join(" "),
    )
}

fn cron(service: &Service) -> String {
    let mut command = service.command.clone();
    command.push("--once".into());
    let line = command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let path = service.path.as_deref().map_or_else(String::new, |p| format!("PATH={} ", quoted(p)));
    let folder = service.folder.as_deref();
    let folder = folder.map_or_else(String::new, |folder| format!("cd {} && ", quoted(folder)));
    // cron makes a line break of a percent sign, whatever the quotes.
    let line =
        format!("{folder}{path}{line} 2>&1 | logger -t {}", name(service)).replace('%', "\\%");
    format!("# crontab -e\n*/{CRON_MINUTES} * * * * {line}\n")
}

fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c => out.push(c),
        }
    }
    out
}

/// A word of a unit file. Specifiers begin with `%`; in arguments `$` begins a variable,
/// but not in the program and not in an assignment.
fn systemd_word(word: &str, literal_dollar: bool) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    for c in word.chars() {
        match c {
            '%' => out.push_str("%%"),
            '$' if !literal_dollar => out.push_str("$$"),
            '"' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    format!("\"{out}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service {
        Service {
            goal_id: "release 2".into(),
            agent_id: "agent-a".into(),
            command: [
                "/opt/lo opx/loopx",
                "worker",
                "run",
                "--wake-cmd",
                "a '<b>' \"c\" & 5% $H \\",
            ]
            .map(str::to_owned)
            .to_vec(),
            folder: Some("/home/u/my 5%".into()),
            path: Some("/usr/bin:/o%t".into()),
            home: Some("/home/u".into()),
        }
    }

    #[test]
    fn values_are_escaped_for_each_file() {
        let plist = print(Manager::Launchd, &service()).unwrap();
        assert!(
            plist.contains("<string>a &apos;&lt;b&gt;&apos; &quot;c&quot; &amp; 5% $H \\</string>")
        );
        assert!(plist.contains("<string>loopx-worker.release_202.agent-a</string>"));
        let unit = print(Manager::Systemd, &service()).unwrap();
        let start = "ExecStart=\"/opt/lo opx/loopx\" \"worker\" \"run\" \"--wake-cmd\" \
                     \"a '<b>' \\\"c\\\" & 5%% $$H \\\\\"\n";
        assert!(unit.contains(start), "{unit}");
        assert!(unit.contains("Environment=\"PATH=/usr/bin:/o%%t\"\n"));
        let line = print(Manager::Cron, &service()).unwrap();
        assert!(
            line.contains("PATH='/usr/bin:/o\\%t'") || line.contains("PATH=/usr/bin:/o\\%t"),
            "{line}"
        );
        assert!(line.contains("'a '\\''<b>'\\'' \"c\" & 5\\% $H \\' --once 2>&1"), "{line}");
    }

    /// What cron hands to the shell is the command, word for word.
    #[test]
    fn a_cron_line_comes_to_the_command_through_a_shell() {
        let line = print(Manager::Cron, &service()).unwrap();
        let command = line.lines().last().unwrap().strip_prefix("*/3 * * * * ").unwrap();
        let command = command.split(" 2>&1 |").next().unwrap().replace("\\%", "%");
        let words = command.strip_prefix("cd '/home/u/my 5%' && PATH=/usr/bin:/o%t ").unwrap();
        let script = format!("printf '%s\\n' {words}");
        let shell = std::process::Command::new("/bin/sh").args(["-c", &script]).output().unwrap();
        let mut expected = service().command.join("\n");
        expected.push_str("\n--once\n");
        assert_eq!(String::from_utf8(shell.stdout).unwrap(), expected);
    }

    #[test]
    fn a_line_break_is_refused() {
        let mut broken = service();
        broken.command.push("a\nb".into());
        for manager in [Manager::Launchd, Manager::Systemd, Manager::Cron] {
            assert_eq!(print(manager, &broken).unwrap_err().code, ErrorCode::RequestInvalid);
        }
    }
}
