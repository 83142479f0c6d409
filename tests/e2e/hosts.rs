//! Real hosts load the installed skill and admit and settle one todo through the command
//! line, against a mock model and without a network. A host that is not installed (see
//! `install_hosts.sh`) is skipped, and the test says so.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use loopx_tests::{Sandbox, binary, process, repository, skip};
use serde_json::{Value, json};

/// How long a whole session of a host may take.
const LIMIT: Duration = Duration::from_secs(120);

const CODEX: &str =
    "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
const CLAUDE: &str = "claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude";

/// A host's program in the cache.
fn program(path: &str) -> Option<PathBuf> {
    let cache = env::var_os("LOOPX_HOSTS_DIR")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache/loopx-hosts")))?;
    Some(cache.join(path)).filter(|program| program.is_file())
}

/// The words that put a command into a network namespace of its own, if the system lets us.
fn namespace() -> Option<Vec<&'static str>> {
    for words in [vec!["unshare", "-n"], vec!["unshare", "-rn"]] {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["sh", "-c", "ip link set lo up && python3 -c pass"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if command.status().is_ok_and(|status| status.success()) {
            return Some(words);
        }
    }
    None
}

/// A person's machine: HOME, a project, and `loopx` on the search path.
struct Machine {
    sandbox: Sandbox,
    namespace: Vec<&'static str>,
}

impl Machine {
    fn new(what: &str) -> Option<Self> {
        let Some(namespace) = namespace() else {
            skip(what, "no network namespace can be made here, so nothing keeps the host offline");
            return None;
        };
        let sandbox = Sandbox::new();
        let bin = sandbox.base().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(binary(), bin.join("loopx")).unwrap();
        // Codex runs commands in a login shell, which makes its own search path.
        let profile = format!("export PATH=\"{}:$PATH\"\n", bin.display());
        fs::write(sandbox.home().join(".profile"), profile).unwrap();
        Some(Self { sandbox, namespace })
    }

    /// `loopx` as a person in the project types it.
    fn loopx(&self, args: &[&str]) -> Value {
        self.sandbox.call().unlocated().json(args.iter().chain(&["--format", "json"]))
    }

    /// Runs a host's program; what the model was asked, whole, call by call.
    fn run(
        &self,
        program: &Path,
        args: &[&str],
        env: &[(&str, String)],
        script: &Value,
    ) -> Vec<Value> {
        let base = self.sandbox.base();
        let (file, log) = (base.join("script.json"), base.join("calls.jsonl"));
        fs::write(&file, script.to_string()).unwrap();
        let mut command = Command::new(self.namespace[0]);
        command
            .args(&self.namespace[1..])
            .arg(repository().join("tests/e2e/offline.sh"))
            .args([&file, &log])
            .arg(program)
            .args(args)
            .current_dir(self.sandbox.project())
            .env_clear()
            .env("HOME", self.sandbox.home())
            .env("LANG", "C.UTF-8")
            .env("TMPDIR", base.join("tmp"));
        let path = env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", base.join("bin").display()));
        command.envs(env.iter().map(|(name, value)| (name, value)));
        let output = process::finish(&mut command, b"", LIMIT)
            .unwrap_or_else(|| panic!("the host is not over after {LIMIT:?}: {command:?}"));
        assert_eq!(output.code, 0, "{output}");
        let calls = fs::read_to_string(&log).unwrap();
        calls.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What a session left: the todo done with its evidence, one slot spent, the agent on
    /// the host.
    fn assert_one_delivered_turn(&self, agent: &str, host: &str, calls: &[Value]) {
        let todos = self.loopx(&["todo", "list"]);
        let todo = &todos["todos"][0];
        let told = calls.last().map(|c| c["body"].to_string()).unwrap_or_default();
        assert_eq!(todo["status"], "done", "{todos:#}\n{told}");
        assert_eq!(todo["text"], "[P1] Write the page");
        let status = self.loopx(&["quota", "status"]);
        assert_eq!(status["goals"][0]["spent_slots"], 1, "{status:#}");
        let doctor = self
            .sandbox
            .call()
            .unlocated()
            .env("PATH", "/nowhere")
            .run(["doctor", "--format", "json"]);
        let activation = &doctor.json()["activations"][0];
        assert_eq!(
            *activation,
            json!({"goal_id": "project", "agent_id": agent, "host_surface": host})
        );
    }
}

/// The whole of a request to the model, as text.
fn said(call: &Value) -> String {
    call["body"].to_string()
}

/// A session as a model that does what the skill says: start, admit, settle.
fn session(host: &str, agent: &str, tool: impl Fn(&str) -> Value) -> Value {
    let start = format!(
        "loopx start-goal --host {host} --goal-text 'Ship it' --todo '[P1] Write the page' --execute"
    );
    let admit =
        format!("loopx turn admit --goal-id project --agent-id {agent} --turn-instance-id t-1");
    let settle = format!(
        "loopx turn settle --goal-id project --agent-id {agent} --turn-instance-id t-1 --outcome completed --no-follow-up --evidence 'the page is there'"
    );
    json!({"replies": [tool(&start), tool(&admit), tool(&settle), {"text": "settled"}], "default": {"text": "ok"}})
}

/// That the model was shown the skill, and what each command answered.
fn assert_shown(calls: &[Value]) {
    assert!(calls.len() >= 4, "{} calls", calls.len());
    let skill = "do one bounded step of `selected_todo`, and check it for real";
    assert!(
        said(&calls[0]).contains(skill),
        "the skill is not in the first request: {}",
        said(&calls[0])
    );
    for (at, word) in [(1, "loopx_start_goal_v1"), (2, "should_run"), (3, "settled")] {
        assert!(said(&calls[at]).contains(word), "call {at} has no {word}: {}", said(&calls[at]));
    }
}

#[test]
fn codex_cli_loads_the_skill_and_delivers_one_todo() {
    let what = "Codex CLI, for real";
    let Some(codex) = program(CODEX) else {
        return skip(what, "not installed: tests/e2e/install_hosts.sh codex");
    };
    let Some(machine) = Machine::new(what) else { return };
    let home = machine.sandbox.home().join(".codex");
    machine.loopx(&["install", "--host", "codex"]);
    assert!(home.join("skills/loopx/SKILL.md").is_file());
    let config = "model = \"mock-model\"\nmodel_provider = \"mock\"\napproval_policy = \"never\"\n\
        sandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n\
        web_search = \"disabled\"\n[model_providers.mock]\nname = \"Mock\"\n\
        base_url = \"http://127.0.0.1:8797/v1\"\nwire_api = \"responses\"\nenv_key = \"MOCK_API_KEY\"\n\
        request_max_retries = 0\nstream_max_retries = 0\n[analytics]\nenabled = false\n\
        [feedback]\nenabled = false\n[otel]\nexporter = \"none\"\n[features]\nplugins = false\n";
    fs::write(home.join("config.toml"), config).unwrap();
    let script = session(
        "codex-cli",
        "codex-cli",
        |command| json!({"tool": {"name": "exec_command", "args": {"cmd": command}}}),
    );
    let env = [("CODEX_HOME", home.display().to_string()), ("MOCK_API_KEY", "mock".into())];
    let args = ["exec", "--json", "--skip-git-repo-check", "$loopx Ship it"];
    let calls = machine.run(&codex, &args, &env, &script);
    assert_shown(&calls);
    machine.assert_one_delivered_turn("codex-cli", "codex-cli", &calls);
}

/// From a project: the skill lies in the repository, and Codex reads it there.
#[test]
fn codex_cli_reads_the_skill_of_a_project() {
    let what = "Codex CLI and a project's skill, for real";
    let Some(codex) = program(CODEX) else {
        return skip(what, "not installed: tests/e2e/install_hosts.sh codex");
    };
    let Some(machine) = Machine::new(what) else { return };
    machine.loopx(&["install", "--host", "codex", "--project", "."]);
    assert!(machine.sandbox.project().join(".agents/skills/loopx/SKILL.md").is_file());
    let home = machine.sandbox.home().join(".codex");
    fs::create_dir_all(&home).unwrap();
    let provider = "model_providers.mock={name=\"Mock\",base_url=\"http://127.0.0.1:8797/v1\",wire_api=\"responses\",env_key=\"MOCK_API_KEY\",request_max_retries=0,stream_max_retries=0}";
    let env = [("CODEX_HOME", home.display().to_string()), ("MOCK_API_KEY", "mock".into())];
    let args = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "-c",
        "features.plugins=false",
        "-c",
        "model=\"mock-model\"",
        "-c",
        "model_provider=\"mock\"",
        "-c",
        provider,
        "-c",
        "check_for_update_on_startup=false",
        "-c",
        "analytics.enabled=false",
        "$loopx",
    ];
    let calls = machine.run(&codex, &args, &env, &json!({"default": {"text": "ok"}}));
    assert!(said(&calls[0]).contains("Run `loopx status`"), "{}", said(&calls[0]));
}

#[test]
fn claude_code_loads_the_skill_and_delivers_one_todo() {
    let what = "Claude Code, for real";
    let Some(claude) = program(CLAUDE) else {
        return skip(what, "not installed: tests/e2e/install_hosts.sh claude");
    };
    let Some(machine) = Machine::new(what) else { return };
    machine.loopx(&["install", "--host", "claude-code"]);
    let home = machine.sandbox.home().join(".claude");
    assert!(home.join("skills/loopx/SKILL.md").is_file());
    let script = session(
        "claude-code",
        "claude-code",
        |command| json!({"tool": {"name": "Bash", "args": {"command": command, "description": "LoopX"}}}),
    );
    let mut env: Vec<(&str, String)> =
        ["ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL"]
            .map(|name| (name, "mock-model".to_owned()))
            .to_vec();
    for name in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_AUTOUPDATER",
    ] {
        env.push((name, "1".to_owned()));
    }
    env.push(("ANTHROPIC_BASE_URL", "http://127.0.0.1:8797".into()));
    env.push(("ANTHROPIC_API_KEY", "mock".into()));
    env.push(("CLAUDE_CONFIG_DIR", home.display().to_string()));
    let args = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--allowedTools",
        "Bash",
        "--",
        "/loopx Ship it",
    ];
    let calls = machine.run(&claude, &args, &env, &script);
    let calls: Vec<Value> = calls.into_iter().filter(|c| c["aux"] != true).collect();
    assert_shown(&calls);
    machine.assert_one_delivered_turn("claude-code", "claude-code", &calls);
}
