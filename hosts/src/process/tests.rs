//! Real children. Whether something is left is asked of the system, by process group and,
//! for what has left the group, by a mark in its environment.

use super::*;

const SHORT: Duration = Duration::from_millis(150);
const LONG: Duration = Duration::from_secs(30);

fn sh(script: &str) -> Spec {
    let mut spec = Spec::new(vec!["sh".into(), "-c".into(), script.into()]);
    spec.grace = SHORT;
    spec
}

/// Runs it, and checks that its group is empty afterwards.
fn ended(spec: &Spec) -> Report {
    let alarm = Alarm::new();
    let mut group = 0;
    let report = run(spec, &alarm, |pid| group = pid, || {});
    let group = Pid::from_raw(group.cast_signed()).expect("it started");
    assert!(members(group).is_empty(), "of group {group} is left {:?}", members(group));
    report
}

/// Who is in a group and not dead, as `ps` says.
fn members(group: Pid) -> Vec<String> {
    let ps = Command::new("ps").args(["-eo", "pgid=,stat=,args="]).output().unwrap();
    let lines = String::from_utf8_lossy(&ps.stdout).into_owned();
    let of_group = |line: &&str| {
        let mut fields = line.split_whitespace();
        fields.next() == Some(&group.to_string()) && !fields.next().unwrap_or("Z").starts_with('Z')
    };
    lines.lines().filter(of_group).map(str::to_owned).collect()
}

#[test]
fn a_child_that_exits_is_told_with_its_status_and_its_bytes() {
    let report = ended(&sh("printf abc; printf de >&2; exit 3"));
    assert_eq!((report.ending, report.status), (Ending::Exited(3), Some(3)));
    assert_eq!((report.stdout_bytes, report.stderr_bytes), (3, 2));
    assert_eq!(report.remains, Remains::None);
    assert!(ended(&sh("exit 0")).ending.is_success());
}

#[test]
fn a_child_has_no_input_and_a_group_of_its_own() {
    let spec = sh("cat; [ $(ps -o pgid= -p $$ | tr -d ' ') = $$ ]");
    assert_eq!(ended(&spec).ending, Ending::Exited(0));
}

#[test]
fn a_signal_is_told_as_one() {
    let report = ended(&sh("kill -9 $$"));
    assert_eq!((report.ending, report.status), (Ending::Signal(9), Some(137)));
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let spec = Spec::new(vec!["/nowhere/at-all".into()]);
    let report = run(&spec, &Alarm::new(), |_| panic!("it did not start"), || {});
    assert_eq!(report.ending, Ending::SpawnFailed(io::ErrorKind::NotFound));
    assert_eq!(report.status, None);
}

#[test]
fn at_its_time_limit_the_whole_group_ends() {
    let mut spec = sh("sleep 60 & sleep 60 & wait");
    spec.timeout = Some(SHORT);
    spec.grace = LONG;
    let begun = Stopwatch::now();
    assert_eq!(ended(&spec).ending, Ending::Timeout);
    assert!(begun.elapsed() < Duration::from_secs(20), "SIGTERM was enough");
}

#[test]
fn what_ignores_sigterm_is_killed_after_the_grace() {
    let mut spec = sh("trap '' TERM; while :; do sleep 0.05; done");
    spec.timeout = Some(SHORT);
    let report = ended(&spec);
    assert_eq!((report.ending, report.status), (Ending::Timeout, Some(137)));
    assert!(report.took >= SHORT * 2);
}

#[test]
fn a_halted_child_hears_sigterm_too() {
    let mut spec = sh("kill -STOP $$; sleep 60");
    spec.timeout = Some(SHORT);
    spec.grace = LONG;
    let report = ended(&spec);
    assert_eq!(report.ending, Ending::Timeout);
    assert!(report.took < Duration::from_secs(20));
}

#[test]
fn a_child_that_uses_its_grace_to_tidy_up_is_still_a_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tidy");
    let mut spec =
        sh(&format!("trap 'touch {}; exit 0' TERM; while :; do sleep 0.05; done", file.display()));
    spec.timeout = Some(SHORT);
    spec.grace = LONG;
    let report = ended(&spec);
    assert_eq!((report.ending, report.status), (Ending::Timeout, Some(0)));
    assert!(file.exists());
}

#[test]
fn grandchildren_do_not_outlive_a_child_that_exits() {
    assert_eq!(ended(&sh("sleep 60 & exit 0")).ending, Ending::Exited(0));
    // Also when they do not listen.
    let report =
        ended(&sh("sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' & sleep 0.2; exit 4"));
    assert_eq!((report.ending, report.remains), (Ending::Exited(4), Remains::Ended));
}

#[test]
fn a_flood_on_either_stream_ends_the_child_and_is_counted() {
    for to in ["", " >&2"] {
        let mut spec = sh(&format!("yes{to}"));
        spec.grace = LONG;
        let report = ended(&spec);
        assert_eq!(report.ending, Ending::OutputLimit, "{to}");
        assert!(report.stdout_bytes.max(report.stderr_bytes) > OUTPUT_LIMIT);
    }
}

#[test]
fn the_limit_itself_is_allowed_and_one_byte_more_is_not() {
    for (bytes, ending) in [(5_000, Ending::Exited(0)), (5_001, Ending::OutputLimit)] {
        let mut spec = sh(&format!("head -c {bytes} /dev/zero"));
        spec.output_limit = 5_000;
        assert_eq!(ended(&spec).ending, ending, "{bytes}");
    }
}

#[test]
fn a_stop_signal_of_this_process_ends_the_child_and_a_second_one_ends_the_grace() {
    let alarm = Alarm::new();
    let mut spec = sh("trap '' TERM; while :; do sleep 0.05; done");
    spec.grace = LONG;
    let bell = Arc::clone(&alarm);
    let thread = std::thread::spawn(move || {
        for signal in [15, 2] {
            std::thread::sleep(SHORT);
            bell.stop(signal);
        }
    });
    let report = run(&spec, &alarm, |_| {}, || {});
    thread.join().unwrap();
    assert_eq!((report.ending, report.status), (Ending::Stopped(15), Some(137)));
    assert!(report.took < LONG);
    let never = |_| panic!("nothing starts after a stop signal");
    let report = run(&sh("exit 0"), &alarm, never, || {});
    assert_eq!(report.ending, Ending::Stopped(15));
}

#[test]
fn a_long_child_is_ticked_until_it_ends() {
    let mut spec = sh("sleep 0.5");
    spec.tick = Duration::from_millis(100);
    let mut ticks = 0;
    let report = run(&spec, &Alarm::new(), |_| {}, || ticks += 1);
    assert_eq!(report.ending, Ending::Exited(0));
    assert!((1..=5).contains(&ticks), "{ticks}");
}

#[test]
fn environment_reaches_the_child() {
    let mut spec = sh("[ \"$LOOPX_TURN\" = 'a b' ] && [ -z \"${HOME+x}\" ]");
    spec.env.push(("LOOPX_TURN".into(), "a b".into()));
    spec.without.push("HOME".into());
    assert_eq!(ended(&spec).ending, Ending::Exited(0));
}

#[cfg(target_os = "linux")]
#[test]
fn what_left_the_group_for_a_session_of_its_own_does_not_outlive_the_child() {
    let mark = format!("LOOPX_TURN=escape-{}", std::process::id());
    let marked = |grace| end_marked(&mark, grace, &Alarm::new());
    for script in [
        "setsid sleep 60 & sleep 0.2; exit 0",
        "setsid sh -c 'trap \"\" TERM; sleep 60 & while :; do sleep 0.05; done' & sleep 0.2",
        "(setsid sh -c 'setsid sleep 60 & sleep 60' &) ; sleep 0.2",
    ] {
        let mut spec = sh(script);
        spec.family = Family::Everything;
        let (name, value) = mark.split_once('=').unwrap();
        spec.env.push((name.into(), value.into()));
        let report = ended(&spec);
        assert_eq!(report.remains, Remains::Ended, "{script}");
        assert_eq!(marked(SHORT), 0, "{script}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_process_left_behind_is_found_by_its_mark() {
    let mark = format!("LOOPX_TURN=left-{}", std::process::id());
    let (name, value) = mark.split_once('=').unwrap();
    let start = |script: &str| {
        Command::new("setsid").args(["sh", "-c", script]).env(name, value).spawn().unwrap()
    };
    let mut left = [start("sleep 60"), start("trap '' TERM; while :; do sleep 0.05; done")];
    let mut other = Command::new("sleep").arg("60").env(name, "another").spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let reap = std::thread::spawn(move || left.iter_mut().for_each(|c| drop(c.wait())));
    assert!(end_marked(&mark, SHORT, &Alarm::new()) >= 2);
    reap.join().unwrap();
    assert!(other.try_wait().unwrap().is_none(), "another mark is left alone");
    other.kill().unwrap();
    other.wait().unwrap();
}
