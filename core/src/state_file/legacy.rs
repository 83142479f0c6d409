//! Reads the ledger of the earlier tool: `runs/index.jsonl` with its artifacts, and
//! `rollout-event-log.jsonl`. It repairs nothing and opens no file; what is damaged is
//! counted in a finding and never ends the reading.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use crate::model::{
    AgentId, Finding, Instant, Outcome, OutcomeKind, Signal, Spend, TodoId, Turn, TurnId, TurnState,
};

/// What the earlier tool has on record. Ids of spends and outcomes are one running
/// number in file order, from 1; the caller offsets them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Spent slots, voids applied. Those dated in the future are among them.
    pub spends: Vec<Spend>,
    /// What refreshes have delivered.
    pub outcomes: Vec<Outcome>,
    /// Merged pull requests.
    pub signals: Vec<Signal>,
    /// Bindings of turn ids, so that none is used for something else.
    pub turns: Vec<Turn>,
    /// What could not be read.
    pub findings: Vec<Finding>,
}

type Row = Map<String, Value>;

/// The rule of a turn that the earlier tool admitted; it kept none that we know.
const IMPORTED_RULE: &str = "imported";

/// Reads the ledger. `artifact` returns the bytes of a row's `json_path`, given as it is
/// written there.
///
/// - A spend without a readable slot count counts one slot and a finding: never nothing.
/// - A void without a readable count takes nothing back, and a finding says so.
/// - A delivered outcome that is older than a spend of the same agent counts as spent.
/// - A turn with a spend or an outcome is settled, one that was told not to run is
///   skipped, any other is released: the earlier tool held no reservation.
pub fn read_ledger(
    runs_index: Option<&[u8]>,
    rollout_log: Option<&[u8]>,
    artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Ledger {
    let mut ledger = Ledger::default();
    let mut damage = Damage::default();
    read_runs(runs_index.unwrap_or_default(), artifact, &mut ledger, &mut damage);
    mark_spent(&mut ledger);
    read_rollout(rollout_log.unwrap_or_default(), &mut ledger, &mut damage);
    damage.report(&mut ledger.findings);
    ledger
}

/// How much could not be read, by kind.
#[derive(Default)]
struct Damage {
    index_lines: usize,
    rollout_lines: usize,
    undated: usize,
    spends: usize,
    voids: usize,
    voids_of_nothing: usize,
}

impl Damage {
    fn report(&self, findings: &mut Vec<Finding>) {
        let rows = [
            (
                self.index_lines,
                "ledger_lines_broken",
                "runs/index.jsonl",
                "lines are not JSON objects",
            ),
            (
                self.rollout_lines,
                "rollout_lines_broken",
                "rollout-event-log.jsonl",
                "lines are not JSON objects",
            ),
            (
                self.undated,
                "ledger_rows_undated",
                "runs/index.jsonl",
                "spends or outcomes have no readable instant and are left out",
            ),
            (
                self.spends,
                "spend_artifact_missing",
                "runs/index.jsonl",
                "spends have no readable slot count; each counts one slot",
            ),
            (
                self.voids,
                "void_artifact_missing",
                "runs/index.jsonl",
                "voids have no readable slot count; none takes a slot back",
            ),
            (
                self.voids_of_nothing,
                "void_target_missing",
                "runs/index.jsonl",
                "voids name a spend that is not in the ledger",
            ),
        ];
        for (count, code, about, what) in rows {
            if count > 0 {
                findings.push(Finding::new(code, about, format!("{count} {what}")));
            }
        }
    }
}

/// The objects of a JSON-lines file, and how many lines are broken.
///
/// An interrupted append leaves half a line, to which the next append was glued; the
/// whole record behind the torn one is saved.
fn rows(bytes: &[u8], first_key: &str, broken: &mut usize) -> Vec<Row> {
    let start = format!("{{\"{first_key}\"");
    let mut rows = Vec::new();
    for line in bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
    {
        if let Ok(row) = serde_json::from_slice(line) {
            rows.push(row);
            continue;
        }
        *broken += 1;
        let whole = std::str::from_utf8(line)
            .ok()
            .and_then(|text| text.get(text.rfind(&start).filter(|at| *at > 0)?..));
        rows.extend(whole.and_then(|text| serde_json::from_str::<Row>(text).ok()));
    }
    rows
}

/// Rows of one run are one row: later fields win, the first place is kept.
fn merge(rows: Vec<Row>) -> Vec<Row> {
    let mut merged: Vec<Row> = Vec::with_capacity(rows.len());
    let mut places: HashMap<[Option<String>; 3], usize> = HashMap::with_capacity(rows.len());
    for row in rows {
        let key = ["generated_at", "json_path", "markdown_path"]
            .map(|name| text(&row, name).map(str::to_owned));
        match places.get(&key).and_then(|at| merged.get_mut(*at)) {
            Some(first) => first.extend(row),
            None => {
                places.insert(key, merged.len());
                merged.push(row);
            }
        }
    }
    merged
}

fn text<'r>(row: &'r Row, key: &str) -> Option<&'r str> {
    row.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A field of the row, else of its event.
fn field<'r>(row: &'r Row, event: Option<&'r Row>, key: &str) -> Option<&'r str> {
    text(row, key).or_else(|| event.and_then(|event| text(event, key)))
}

fn agent(text: Option<&str>) -> Option<AgentId> {
    text.and_then(|t| AgentId::parse(t).ok())
}

fn todo(text: Option<&str>) -> Option<TodoId> {
    text.and_then(|t| TodoId::parse(t).ok())
}

fn turn(text: Option<&str>) -> Option<TurnId> {
    text.and_then(|t| TurnId::parse(t).ok())
}

fn read_runs(
    bytes: &[u8],
    artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ledger: &mut Ledger,
    damage: &mut Damage,
) {
    let mut voids: Vec<(Option<Instant>, u64)> = Vec::new();
    let mut next_id = 1;
    for row in merge(rows(bytes, "generated_at", &mut damage.index_lines)) {
        let classification = text(&row, "classification").unwrap_or_default();
        let at = text(&row, "generated_at").and_then(Instant::parse);
        match classification {
            "quota_slot_spent" | "quota_slot_voided" => {
                let event = event(&row, artifact);
                let slots =
                    event.as_ref().and_then(|event| event.get("slots")).and_then(Value::as_i64);
                let slots = slots.map(|count| u64::try_from(count).unwrap_or(0));
                if classification == "quota_slot_voided" {
                    damage.voids += usize::from(slots.is_none());
                    let target = field(&row, event.as_ref(), "voided_run_generated_at")
                        .and_then(Instant::parse);
                    voids.extend(slots.map(|count| (target, count)));
                    continue;
                }
                let Some(at) = at else {
                    damage.undated += 1;
                    continue;
                };
                damage.spends += usize::from(slots.is_none());
                // An event that states no slots at all has spent none.
                if slots == Some(0) {
                    continue;
                }
                let event = event.as_ref();
                ledger.spends.push(Spend {
                    id: next_id,
                    at,
                    slots: slots.unwrap_or(1),
                    voided: 0,
                    agent: agent(field(&row, event, "agent_id")),
                    todo_id: todo(field(&row, event, "todo_id")),
                    turn_id: turn(field(&row, event, "turn_instance_id")),
                    source: event
                        .and_then(|event| text(event, "source"))
                        .unwrap_or_default()
                        .to_owned(),
                });
                next_id += 1;
            }
            _ => {
                let Some(kind) = outcome_kind(&row, classification) else {
                    continue;
                };
                let Some(at) = at else {
                    damage.undated += 1;
                    continue;
                };
                ledger.outcomes.push(Outcome {
                    id: next_id,
                    at,
                    agent: agent(text(&row, "agent_id")),
                    todo_id: todo(text(&row, "todo_id")),
                    turn_id: turn(text(&row, "turn_instance_id")),
                    kind,
                    classification: classification.to_owned(),
                    spent_by: None,
                    usage: None,
                    recommended_action: text(&row, "recommended_action").map(str::to_owned),
                });
                next_id += 1;
            }
        }
    }
    damage.voids_of_nothing += take_back(&mut ledger.spends, &voids);
}

/// The event of a spend or void: inside the row, else in its artifact.
fn event(row: &Row, artifact: &mut dyn FnMut(&str) -> Option<Vec<u8>>) -> Option<Row> {
    if let Some(Value::Object(event)) = row.get("quota_event") {
        return Some(event.clone());
    }
    let bytes = artifact(text(row, "json_path")?)?;
    let mut run: Row = serde_json::from_slice(&bytes).ok()?;
    match run.remove("quota_event") {
        Some(Value::Object(event)) => Some(event),
        _ => None,
    }
}

/// What a row delivered; `None` for rows that are no refresh.
///
/// A poll that saw nothing is no outcome: between a delivery and its spend it must not
/// count. An unknown word is kept as something that cannot be spent.
fn outcome_kind(row: &Row, classification: &str) -> Option<OutcomeKind> {
    let kind =
        OutcomeKind::parse(text(row, "delivery_outcome")?).unwrap_or(OutcomeKind::SurfaceOnly);
    let quota_row = classification.starts_with("quota_");
    (!quota_row || (classification == "quota_monitor_poll" && kind.is_delivered())).then_some(kind)
}

/// Takes voided slots back from the spends of their instants; returns how many voids
/// name no spend.
fn take_back(spends: &mut [Spend], voids: &[(Option<Instant>, u64)]) -> usize {
    let mut left: HashMap<Instant, u64> = HashMap::new();
    for (target, slots) in voids {
        if let Some(target) = target {
            let sum = left.entry(*target).or_default();
            *sum = sum.saturating_add(*slots);
        }
    }
    let mut found: HashSet<Instant> = HashSet::new();
    for spend in spends {
        if let Some(left) = left.get_mut(&spend.at) {
            found.insert(spend.at);
            let taken = spend.live().min(*left);
            spend.voided += taken;
            *left -= taken;
        }
    }
    voids.iter().filter(|(target, _)| target.is_none_or(|at| !found.contains(&at))).count()
}

/// Delivered outcomes that an agent's later spend has used up.
fn mark_spent(ledger: &mut Ledger) {
    let mut by_agent: HashMap<Option<&AgentId>, Vec<(Instant, u64)>> = HashMap::new();
    for spend in &ledger.spends {
        by_agent.entry(spend.agent.as_ref()).or_default().push((spend.at, spend.id));
    }
    for spends in by_agent.values_mut() {
        spends.sort_unstable();
    }
    for outcome in ledger.outcomes.iter_mut().filter(|outcome| outcome.kind.is_delivered()) {
        let Some(spends) = by_agent.get(&outcome.agent.as_ref()) else {
            continue;
        };
        // Instants have whole seconds there, so the file order decides among equals.
        let later = spends.partition_point(|spend| *spend < (outcome.at, outcome.id));
        outcome.spent_by = spends.get(later).map(|(_, id)| *id);
    }
}

fn read_rollout(bytes: &[u8], ledger: &mut Ledger, damage: &mut Damage) {
    let mut places: HashMap<TurnId, usize> = HashMap::new();
    let mut signals: BTreeSet<Signal> = BTreeSet::new();
    for row in rows(bytes, "agent_id", &mut damage.rollout_lines) {
        match text(&row, "event_kind").unwrap_or_default() {
            "pr_merge" | "pr_merged" | "pull_request_merge" | "pull_request_merged" => {
                for reference in references(&row) {
                    signals.insert(Signal { kind: "pr_merged".into(), reference });
                }
            }
            "quota_should_run" => {
                let Some(turn_id) = turn(text(&row, "run_id")) else {
                    continue;
                };
                let Some(at) = text(&row, "recorded_at").and_then(Instant::parse) else {
                    continue;
                };
                let details = row.get("details").and_then(Value::as_object);
                let todo_id = todo(field(&row, details, "todo_id"));
                // The first receipt binds; a later one may only add the todo.
                if let Some(bound) = places.get(&turn_id).and_then(|at| ledger.turns.get_mut(*at)) {
                    bound.todo_id = bound.todo_id.take().or(todo_id);
                    continue;
                }
                let refused = details.and_then(|d| d.get("should_run")).and_then(Value::as_bool)
                    == Some(false);
                places.insert(turn_id.clone(), ledger.turns.len());
                ledger.turns.push(Turn {
                    turn_id,
                    agent: agent(text(&row, "agent_id")),
                    todo_id,
                    rule: IMPORTED_RULE.into(),
                    body_digest: String::new(),
                    state: if refused { TurnState::Skipped } else { TurnState::Released },
                    at,
                    reserved: 0,
                    expires_at: None,
                    epoch: None,
                    took_claim: false,
                    holder: None,
                });
            }
            _ => {}
        }
    }
    ledger.signals = signals.into_iter().collect();
    let settled = ledger
        .spends
        .iter()
        .map(|s| &s.turn_id)
        .chain(ledger.outcomes.iter().map(|o| &o.turn_id))
        .flatten();
    for turn_id in settled {
        if let Some(bound) = places.get(turn_id).and_then(|at| ledger.turns.get_mut(*at)) {
            bound.state = TurnState::Settled;
        }
    }
}

/// The pull requests that an event's reference fields name, as `owner/repo#N` or `#N`.
/// Its summary is prose and is not read.
fn references(row: &Row) -> Vec<String> {
    let mut found = Vec::new();
    for key in ["code_refs", "artifact_refs", "source_refs", "details", "labels", "case_id"] {
        if let Some(value) = row.get(key) {
            collect_references(value, &mut found);
        }
    }
    found
}

fn collect_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.extend(reference(text)),
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

fn reference(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("pr_merged:").unwrap_or(text);
    let number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let name = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    if let Some(path) = text.strip_prefix("https://github.com/") {
        let mut parts = path.trim_end_matches('/').split('/');
        let (owner, repo, kind, digits) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        return (name(owner)
            && name(repo)
            && kind == "pull"
            && number(digits)
            && parts.next().is_none())
        .then(|| format!("{owner}/{repo}#{digits}"));
    }
    let (place, digits) = text.split_once('#')?;
    let place_ok = place.is_empty()
        || place.split_once('/').is_some_and(|(owner, repo)| name(owner) && name(repo));
    (number(digits) && place_ok).then(|| text.to_owned())
}
