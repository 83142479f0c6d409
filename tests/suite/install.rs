//! Files of hosts: what is put in place, what is left alone, what is taken away.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use loopx_tests::tree::Tree;
use loopx_tests::{Output, Sandbox, binary, skip};
use serde_json::Value;

fn run(sandbox: &Sandbox, line: &str) -> Output {
    let words = line.split(' ').chain(["--format", "json"]);
    sandbox.call().unlocated().run(words.collect::<Vec<_>>())
}

/// The status of each file.
fn statuses(output: &Output) -> Vec<String> {
    let said = output.json();
    let files = said["installed"].as_array().unwrap_or_else(|| panic!("{output}")).clone();
    files.iter().map(|f| f["status"].as_str().unwrap().to_owned()).collect()
}

fn skill(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".codex/skills/loopx/SKILL.md")
}

#[test]
fn it_shows_puts_keeps_and_takes_away() {
    let sandbox = Sandbox::new();
    let before = Tree::of(sandbox.base());
    assert_eq!(statuses(&run(&sandbox, "install --host codex --dry-run")), ["would_create"]);
    assert!(Tree::of(sandbox.base()).changes_since(&before).is_empty(), "a preview wrote");
    let done = run(&sandbox, "install --host codex --host claude-code");
    assert_eq!((done.code, statuses(&done)), (0, vec!["created".into(), "created".into()]));
    assert_eq!(done.json()["installed"][0]["path"], "~/.codex/skills/loopx/SKILL.md");
    let text = fs::read_to_string(skill(&sandbox)).unwrap();
    assert!(text.starts_with("---\nname: loopx\ndescription: "), "{text}");
    assert!(text.lines().last().unwrap().starts_with("<!-- loopx-managed:v1 version="), "{text}");
    let before = Tree::of(sandbox.base());
    assert_eq!(
        statuses(&run(&sandbox, "install --host codex-app --host codex-cli")),
        ["unchanged"]
    );
    assert!(
        Tree::of(sandbox.base()).changes_since(&before).is_empty(),
        "an unchanged file was written"
    );
    assert_eq!(
        statuses(&run(&sandbox, "install --host codex --uninstall --dry-run")),
        ["would_remove"]
    );
    assert_eq!(statuses(&run(&sandbox, "slash-commands --uninstall")), ["removed", "removed"]);
    assert!(!sandbox.home().join(".codex/skills/loopx").exists());
    assert!(sandbox.home().join(".codex/skills").is_dir(), "a folder that may be the user's");
    assert_eq!(statuses(&run(&sandbox, "install --host codex --uninstall")), ["absent"]);
}

/// A file of an older version is replaced, as long as nobody has edited it.
#[test]
fn an_older_version_is_brought_up_to_date_and_an_edit_is_kept() {
    let sandbox = Sandbox::new();
    let path = skill(&sandbox);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let older = loopx_core::host::install::mark("An older text.", "SKILL.md", "0.0.1");
    fs::write(&path, &older).unwrap();
    assert_eq!(statuses(&run(&sandbox, "install --host codex --dry-run")), ["would_update"]);
    assert_eq!(fs::read(&path).unwrap(), older);
    assert_eq!(statuses(&run(&sandbox, "install --host codex")), ["updated"]);
    assert_ne!(fs::read(&path).unwrap(), older);
    let edited = fs::read_to_string(&path).unwrap().replace("# LoopX", "# My LoopX");
    fs::write(&path, &edited).unwrap();
    for line in ["install --host codex", "install --host codex --uninstall"] {
        let kept = run(&sandbox, line);
        assert_eq!((kept.code, statuses(&kept)), (0, vec!["kept_user_edits".into()]), "{line}");
        assert!(kept.json()["installed"][0]["note"].as_str().unwrap().contains("edited by hand"));
        assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    }
}

#[test]
fn what_is_not_ours_is_left_alone_and_said() {
    let sandbox = Sandbox::new();
    let path = skill(&sandbox);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for (text, status) in [
        ("---\nname: loopx\n---\nmine\n", "skipped_user_file"),
        ("", "skipped_user_file"),
        ("<!-- loopx-managed-slash-command:v1 surface=codex -->\n", "skipped_earlier_tool_file"),
    ] {
        fs::write(&path, text).unwrap();
        let refused = run(&sandbox, "install --host codex");
        assert_eq!((refused.code, statuses(&refused)), (1, vec![status.into()]), "{text}");
        let said = refused.json();
        assert_eq!(said["error_code"], "install_incomplete");
        assert_eq!(said["about"], "~/.codex/skills/loopx/SKILL.md");
        assert_eq!(statuses(&run(&sandbox, "install --host codex --uninstall")), [status]);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

/// Never through a link: neither one in the file's place, nor one that leads a project's
/// files out of the project.
#[test]
fn links_are_not_followed() {
    let sandbox = Sandbox::new();
    let path = skill(&sandbox);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let outside = sandbox.base().join("outside");
    for target in [outside.join("notes.md"), outside.join("missing.md"), outside.clone()] {
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("notes.md"), "mine").unwrap();
        symlink(&target, &path).unwrap();
        let refused = run(&sandbox, "install --host codex");
        assert_eq!((refused.code, statuses(&refused)), (1, vec!["skipped_link".into()]));
        assert_eq!(statuses(&run(&sandbox, "install --host codex --uninstall")), ["skipped_link"]);
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        assert!(!outside.join("missing.md").exists());
        assert_eq!(fs::read_to_string(outside.join("notes.md")).unwrap(), "mine");
        fs::remove_file(&path).unwrap();
    }
    symlink(&outside, sandbox.project().join(".agents")).unwrap();
    let refused = run(&sandbox, "install --host codex --project .");
    assert_eq!((refused.code, statuses(&refused)), (1, vec!["skipped_link".into()]));
    assert!(!outside.join("skills").exists());
    // A home folder that a person has linked elsewhere is the person's choice.
    let claude = sandbox.home().join(".claude");
    symlink(&outside, &claude).unwrap();
    assert_eq!(statuses(&run(&sandbox, "install --host claude-code")), ["created"]);
    assert!(outside.join("skills/loopx/SKILL.md").is_file());
    // A folder in the file's place.
    fs::create_dir(&path).unwrap();
    assert_eq!(statuses(&run(&sandbox, "install --host codex")), ["skipped_link"]);
}

#[test]
fn files_of_a_project_lie_in_it() {
    let sandbox = Sandbox::new();
    let done = run(&sandbox, "install --host codex --host claude-code --project .");
    assert_eq!(statuses(&done), ["created", "created"]);
    for (at, path) in
        [".agents/skills/loopx/SKILL.md", ".claude/skills/loopx/SKILL.md"].iter().enumerate()
    {
        assert!(sandbox.project().join(path).is_file());
        assert_eq!(done.json()["installed"][at]["path"], *path);
    }
    assert!(!sandbox.home().join(".codex").exists());
    let missing = run(&sandbox, "install --host codex --project nowhere");
    assert_eq!((missing.code, &missing.json()["error_code"]), (1, &Value::from("request_invalid")));
    let named = sandbox.call().unlocated().env("CODEX_HOME", sandbox.base().join("elsewhere"));
    named.json(["install", "--host", "codex", "--format", "json"]);
    assert!(sandbox.base().join("elsewhere/skills/loopx/SKILL.md").is_file());
}

#[test]
fn a_host_without_files_says_who_brings_them() {
    let sandbox = Sandbox::new();
    for (host, word) in [("trae-app", "host integration (Trae App)"), ("shell", "has no files for")]
    {
        let refused = run(&sandbox, &format!("install --host {host}")).json();
        assert_eq!(refused["error_code"], "host_not_installable", "{host}");
        assert!(refused["error"].as_str().unwrap().contains(word), "{refused}");
    }
    assert_eq!(run(&sandbox, "install --host quantum").json()["error_code"], "host_unknown");
}

/// A folder that may not be written: nothing is half done, and the code says what it is.
#[test]
fn a_folder_without_rights_is_said() {
    let sandbox = Sandbox::new();
    let folder = sandbox.home().join(".codex");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.join("probe"), "").is_ok() {
        // Root writes everywhere; another user is needed to see it.
        let able = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "true"])
            .status();
        if !able.is_ok_and(|s| s.success()) {
            return skip("a folder without rights", "this user may write everywhere");
        }
        fs::remove_file(folder.join("probe")).unwrap();
        for path in [sandbox.base().to_path_buf(), sandbox.project(), sandbox.home()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(copied(&sandbox))
            .args(["install", "--host", "codex", "--format", "json"])
            .current_dir(sandbox.project())
            .env("HOME", sandbox.home())
            .env_remove("CODEX_HOME")
            .output()
            .unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(said["error_code"], "write_denied", "{said}");
    } else {
        let refused = run(&sandbox, "install --host codex");
        assert_eq!(
            (refused.code, &refused.json()["error_code"]),
            (1, &Value::from("write_denied"))
        );
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// The binary where another user may run it.
fn copied(sandbox: &Sandbox) -> PathBuf {
    let to = sandbox.base().join("loopx");
    fs::copy(binary(), &to).unwrap();
    fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).unwrap();
    to
}

#[test]
fn doctor_sees_programs_files_and_routes_and_starts_nothing() {
    let sandbox = Sandbox::new();
    let bin = sandbox.base().join("bin");
    let package = sandbox.base().join("codex/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(&package).unwrap();
    let program = |path: PathBuf, text: &str| {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    // Programs that would leave a trace when they are run.
    let trace = sandbox.base().join("ran");
    let script = format!("#!/bin/sh\n: > {}\necho 'claude 9.8.7 (Claude Code)'\n", trace.display());
    program(package.join("codex.js"), &script);
    fs::write(sandbox.base().join("codex/package.json"), r#"{"version":"0.171.0"}"#).unwrap();
    symlink(package.join("codex.js"), bin.join("codex")).unwrap();
    program(bin.join("claude"), &script);
    program(bin.join("loopx"), "#!/bin/sh\necho other\n");
    let doctor = |path: &str, more: &[&str]| {
        let call = sandbox.call().unlocated().env("PATH", path);
        call.run([&["doctor", "--format", "json"], more].concat())
    };
    let path = bin.display().to_string();
    let output = doctor(&path, &[]);
    assert_eq!(output.code, 0, "nothing blocks: {output}");
    assert!(!trace.exists(), "a program was started");
    let said = output.json();
    let codes = |said: &Value| -> Vec<String> {
        let problems = said["problems"].as_array().unwrap();
        for problem in problems {
            assert!(!problem["next_command"].as_str().unwrap().is_empty(), "{problem}");
        }
        problems.iter().map(|p| p["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        codes(&said),
        ["other_program_first", "registry_missing", "install_missing", "install_missing"]
    );
    let hosts = &said["hosts"];
    assert_eq!(
        (&hosts[0]["host"], &hosts[0]["version"]),
        (&Value::from("codex-cli"), &Value::from("0.171.0"))
    );
    assert_eq!(
        (&hosts[1]["host"], &hosts[1]["version"]),
        (&Value::from("claude-code"), &Value::Null)
    );
    let asked = doctor(&path, &["--versions"]).json();
    assert_eq!(asked["hosts"][1]["version"], "9.8.7");
    assert!(trace.exists());
    assert!(!output.stdout.contains(sandbox.base().to_str().unwrap()), "{output}");
    // This program first, the other behind it; and none at all.
    let ours = sandbox.base().join("ours");
    fs::create_dir(&ours).unwrap();
    symlink(binary(), ours.join("loopx")).unwrap();
    let both = doctor(&format!("{}:{path}", ours.display()), &[]).json();
    assert!(!codes(&both).contains(&"other_program_first".to_owned()));
    assert!(codes(&both).contains(&"other_program".to_owned()));
    assert!(codes(&doctor("/nowhere", &[]).json()).contains(&"not_on_path".to_owned()));
}

#[test]
fn doctor_says_what_blocks_and_what_is_behind() {
    let sandbox = Sandbox::new();
    let json = |line: &str| sandbox.at("2026-11-29T12:00:00Z").unlocated().json(line.split(' '));
    json("init --agent-id ada --format json");
    json("install --host codex --format json");
    let doctor = || run(&sandbox, "doctor");
    let codes = |output: &Output| -> Vec<String> {
        let problems = output.json()["problems"].as_array().unwrap().clone();
        problems.iter().map(|p| p["code"].as_str().unwrap().to_owned()).collect()
    };
    let said = codes(&doctor());
    assert!(said.contains(&"fixed_clock".to_owned()), "{said:?}");
    assert!(said.contains(&"activation_missing".to_owned()), "{said:?}");
    json("heartbeat-prompt --host codex-cli --agent-id ada --activate --format json");
    fs::write(skill(&sandbox), loopx_core::host::install::mark("Old.", "SKILL.md", "0.0.1"))
        .unwrap();
    let said = codes(&doctor());
    assert!(!said.contains(&"activation_missing".to_owned()), "{said:?}");
    assert!(said.contains(&"install_outdated".to_owned()), "{said:?}");
    assert!(said.contains(&"host_not_found".to_owned()), "{said:?}");
    // The copy in the global registry falls behind; what is named mends it.
    let mut registry: Value =
        serde_json::from_slice(&fs::read(sandbox.registry()).unwrap()).unwrap();
    registry["goals"][0]["display_name"] = "Project".into();
    fs::write(sandbox.registry(), registry.to_string()).unwrap();
    let stale = doctor();
    let problem = stale.json()["problems"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["code"] == "global_projection_stale")
        .cloned();
    let next =
        problem.unwrap_or_else(|| panic!("{stale}"))["next_command"].as_str().unwrap().to_owned();
    run(&sandbox, next.strip_prefix("loopx ").unwrap());
    assert!(!codes(&doctor()).contains(&"global_projection_stale".to_owned()));
    // What cannot be read blocks, and is the refusal's own code.
    fs::write(sandbox.registry(), "{").unwrap();
    let blocked = doctor();
    assert_eq!(blocked.code, 1);
    assert_eq!(blocked.json()["error_code"], "quota_state_invalid_json");
}
