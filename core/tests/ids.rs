//! Properties of ids: canonical ones stay as they are and are one segment of a path, and no two
//! identities share an effect or an obligation.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use loopx_core::admission::offer::Offer;
use loopx_core::kernel::{Kernel, KernelOptions};
use loopx_core::model::{AgentId, EffectId, GoalId, GoalPolicy, GoalUid, TodoId, TurnId};
use loopx_core::registry::RouteInput;
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use unicode_normalization::UnicodeNormalization as _;

/// Pieces from which ids are made, many of them hostile.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-zA-Z0-9]{1,6}",
        2 => "[-_.:/ %|]",
        1 => prop::sample::select(vec![
            "..", "e\u{301}", "\u{e9}", "\u{202e}", "\0", "\n", "con", "C:", "\u{430}", "\u{ff21}",
            "%2E", "\u{200d}", "~",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// What may be typed for the same id.
fn variants(text: &str) -> [String; 4] {
    [format!(" {text} "), text.to_ascii_uppercase(), text.nfd().collect(), text.nfc().collect()]
}

fn one_segment(id: &str) {
    let parts: Vec<Component<'_>> = Path::new(id).components().collect();
    assert!(matches!(parts[..], [Component::Normal(_)]), "{id:?}");
    assert!(!id.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\'), "{id:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_canonical_goal_or_agent_id_is_read_as_itself(text in text()) {
        if let Ok(id) = GoalId::parse(&text) {
            one_segment(id.as_str());
            prop_assert_eq!(&GoalId::parse(id.as_str()).unwrap(), &id);
            for other in variants(&text) {
                prop_assert_eq!(&GoalId::parse(&other).unwrap(), &id, "{:?}", other);
            }
        }
        if let Ok(id) = AgentId::parse(&text) {
            one_segment(id.as_str());
            prop_assert_eq!(&AgentId::parse(id.as_str()).unwrap(), &id);
            prop_assert_eq!(&AgentId::parse(&variants(&text)[1]).unwrap(), &id);
        }
        for id in [TodoId::parse(&text).map(|i| i.to_string()), TurnId::parse(&text).map(|i| i.to_string())]
            .into_iter()
            .flatten()
        {
            one_segment(&id);
        }
    }

    /// Whatever the parts, also with separators and escapes in them: equal effects are of equal
    /// identities, and what a caller types is never what the kernel derives.
    #[test]
    fn equal_effects_have_equal_identities(
        a in (text(), prop::collection::vec(text(), 0..3)),
        b in (text(), prop::collection::vec(text(), 0..3)),
        typed in text(),
        turns in (text(), text()),
    ) {
        let of = |(kind, parts): &(String, Vec<String>)| {
            EffectId::derived(kind, &parts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        prop_assert_eq!(of(&a) == of(&b), a == b);
        // Moving a border between two parts makes another identity.
        let joined = (a.0.clone(), vec![a.1.join("|")]);
        prop_assert_eq!(of(&a) == of(&joined), a == joined);
        if let Ok(caller) = EffectId::parse(&typed) {
            prop_assert!(caller != of(&a));
            prop_assert!(caller != EffectId::unique(&typed));
            for turn in [&turns.0, &turns.1].into_iter().filter_map(|t| TurnId::parse(t).ok()) {
                prop_assert!(caller != EffectId::of_turn(&turn, "turn.admit", ""));
            }
        }
        if let (Ok(one), Ok(two)) = (TurnId::parse(&turns.0), TurnId::parse(&turns.1)) {
            for (verb, digest) in [("turn.admit", ""), ("todo.complete", "00")] {
                prop_assert_eq!(
                    EffectId::of_turn(&one, verb, digest) == EffectId::of_turn(&two, verb, digest),
                    one == two
                );
            }
            prop_assert!(EffectId::of_turn(&one, "a", "") != EffectId::of_turn(&one, "b", ""));
        }
    }
}

/// Goal uid, agent, rule, cause and facts make an obligation; each of them makes another one.
#[test]
fn no_two_obligations_share_an_identity() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let agents: Vec<AgentId> = ["a", "b", "a-b"].map(|a| AgentId::parse(a).unwrap()).to_vec();
    let uids = [None, Some("g-1"), Some("g-2")];
    for uid in uids {
        let mut policy = GoalPolicy::new(GoalId::parse("g").unwrap());
        policy.goal_uid = uid.map(GoalUid::trusted);
        for agent in agents.iter().map(Some).chain([None]) {
            for rule in ["replan", "repair", "successor"] {
                for cause in ["todo_a", "todo_b", "feedback:1", "a\",\"todo_a"] {
                    for facts in [json!([]), json!([1]), json!(["1"]), json!([null]), json!("a")] {
                        let offer = Offer::new(&policy, agent, rule, cause, &facts);
                        let again = Offer::new(&policy, agent, rule, cause, &facts);
                        assert_eq!(offer.digest, again.digest);
                        let who = format!("{uid:?} {agent:?} {rule} {cause} {facts}");
                        if let Some(other) = seen.insert(offer.digest, who.clone()) {
                            panic!("{who} and {other} are one");
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen.len(), 3 * 4 * 3 * 4 * 5);
}

/// X6: a goal uid is new for every goal, also for one of a name that was there before.
#[test]
fn every_goal_that_is_made_has_a_uid_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let registry = dir.path().join(".loopx/registry.json");
    let kernel = Kernel::open(KernelOptions::new(RouteInput {
        flag: Some(registry.clone()),
        runtime_root_flag: Some(dir.path().join("rt")),
        cwd: dir.path().to_path_buf(),
        home: Some(dir.path().join("home")),
        ..RouteInput::default()
    }))
    .unwrap();
    let mut uids = BTreeSet::new();
    for round in 0..24 {
        let made = kernel.call("goal.create", &json!({"goal_id": "g", "objective": "o"})).unwrap();
        let uid = made["goal_uid"].as_str().unwrap().to_owned();
        let hex = uid.strip_prefix("g-").unwrap();
        assert!(hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()), "{uid}");
        assert!(uids.insert(uid), "round {round}");
        let todos = kernel.call("todo.list", &json!({"goal_id": "g"})).unwrap();
        assert_eq!(todos["todos"], json!([]), "a goal made anew inherits nothing");
        let added = json!({"goal_id": "g", "role": "agent", "text": "one"});
        let todo = kernel.call("todo.add", &added).unwrap()["todo_id"].clone();
        assert!(uids.insert(todo.as_str().unwrap().to_owned()), "an id is given out twice");
        std::fs::remove_file(&registry).unwrap();
        std::fs::remove_dir_all(dir.path().join(".loopx/goals")).unwrap();
        let _ = std::fs::remove_dir_all(dir.path().join("home"));
        let _ = std::fs::remove_file(dir.path().join("rt/registry.global.json"));
    }
}
