//! A host that keeps one kernel and asks again and again: what it keeps in memory is never
//! older than what is stored, however soon after a change it asks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use loopx_core::command::todo::TodoAddRequest;
use loopx_core::command::turn::ShouldRunRequest;
use loopx_core::kernel::{Clock, GoalCreateRequest, GoalStopRequest, Kernel, KernelOptions};
use loopx_core::model::{Instant, Role};
use loopx_core::operation::Addressed;
use loopx_core::registry::RouteInput;
use serde_json::Value;

fn kernel(folder: &Path, clock: Clock) -> Kernel {
    let mut options = KernelOptions::new(RouteInput {
        flag: Some(folder.join(".loopx/registry.json")),
        cwd: folder.to_path_buf(),
        home: Some(folder.join("home")),
        ..RouteInput::default()
    });
    options.clock = clock;
    Kernel::open(options).unwrap()
}

fn ask(kernel: &Kernel) -> Value {
    let request =
        ShouldRunRequest { agent_id: Some("agent-a".into()), ..ShouldRunRequest::default() };
    kernel.should_run(&Addressed::to("g"), &request)
}

fn add(kernel: &Kernel, text: &str) {
    let request = TodoAddRequest {
        role: Role::Agent,
        text: text.into(),
        status: None,
        agent_id: None,
        fields: Default::default(),
    };
    kernel.todo_add(&Addressed::to("g"), &request).unwrap();
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let request = GoalCreateRequest {
        objective: Some("o".into()),
        agents: vec!["agent-a".into()],
        ..GoalCreateRequest::default()
    };
    kernel(folder.path(), Clock::System).goal_create(&Addressed::to("g"), &request).unwrap();
    folder
}

/// Turns the files' stamps into settled ones, so that what is kept is used.
fn wait() {
    std::thread::sleep(std::time::Duration::from_millis(2_100));
}

#[test]
fn a_change_is_seen_at_once_whoever_makes_it() {
    let folder = project();
    let host = kernel(folder.path(), Clock::System);
    add(&host, "[P4] first");
    let state = folder.path().join(".loopx/goals/g/ACTIVE_GOAL_STATE.md");
    let registry = folder.path().join(".loopx/registry.json");
    let selected = |packet: &Value| packet["selected_todo"]["text"].as_str().map(str::to_owned);
    for settled in [false, true] {
        if settled {
            wait();
        }
        for _ in 0..3 {
            assert_eq!(ask(&host)["should_run"], true);
        }
        // Another process.
        let open = ask(&host)["open_count"].as_u64().unwrap();
        add(&kernel(folder.path(), Clock::System), &format!("[P3] another {settled}"));
        assert_eq!(ask(&host)["open_count"], open + 1);
        // A hand, of the same length and in the same tick as what stands there.
        if settled {
            wait();
            ask(&host);
        }
        let text = fs::read_to_string(&state).unwrap();
        fs::write(&state, text.replace("[P4] first", "[P0] first")).unwrap();
        assert!(selected(&ask(&host)).unwrap().contains("first"));
        fs::write(&state, &text).unwrap();
        assert!(selected(&ask(&host)).unwrap().contains("another"));
        // The registry.
        let other = kernel(folder.path(), Clock::System);
        other.goal_stop(&Addressed::to("g"), &GoalStopRequest::default()).unwrap();
        assert_eq!(ask(&host)["should_run"], false);
        other.goal_resume(&Addressed::to("g")).unwrap();
        assert_eq!(ask(&host)["should_run"], true);
        let bytes = fs::read_to_string(&registry).unwrap();
        fs::write(&registry, bytes.replace("agent-a", "agent-z")).unwrap();
        assert_eq!(ask(&host)["ok"], false);
        fs::write(&registry, &bytes).unwrap();
        assert_eq!(ask(&host)["ok"], true);
    }
}

#[test]
fn a_kept_answer_still_depends_on_the_time() {
    let folder = project();
    let at = |minutes: i64| {
        let begun = Instant::parse("2030-01-01T00:00:00Z").unwrap();
        begun.plus_micros(minutes * 60 * 1_000_000)
    };
    // The clock of a kernel is fixed; one store is asked at two instants.
    let early = kernel(folder.path(), Clock::Fixed(at(0)));
    add(&early, "[P1] work");
    let turn = ShouldRunRequest {
        agent_id: Some("agent-a".into()),
        turn_instance_id: Some("turn-1".into()),
        ttl_seconds: Some(600),
        ..ShouldRunRequest::default()
    };
    assert_eq!(early.turn_admit(&Addressed::to("g"), &turn)["should_run"], true);
    let shown = early.goal_show(&Addressed::to("g")).unwrap();
    let uid = loopx_core::model::GoalUid::trusted(shown["goal_uid"].as_str().unwrap());
    let store = loopx_core::store::SqliteStore::open_read_only(
        &folder.path().join(".loopx/goals").join(uid.as_str()).join("goal.db"),
        &uid,
        loopx_core::store::sqlite::SqliteOptions {
            deadline: std::time::Duration::from_secs(5),
            holder: loopx_core::file::HolderNote::default(),
        },
    )
    .unwrap();
    use loopx_core::admission::ViewQuery;
    use loopx_core::store::Read as _;
    let live = |minutes: i64| {
        let quota = loopx_core::model::QuotaPolicy::default();
        let view = store.view(&ViewQuery { now: at(minutes), quota, complete: false }).unwrap();
        (view.turns.len(), view.lapsed.len(), view.window.reserved)
    };
    for _ in 0..3 {
        assert_eq!(live(1), (1, 0, 1));
        assert_eq!(live(9), (1, 0, 1));
        assert_eq!(live(11), (0, 1, 0));
        assert_eq!(live(12), (0, 1, 0));
    }
}
