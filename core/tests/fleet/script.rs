//! What happens to one goal in the week: drawn once, from the goal's number.

/// A small generator: the same goal has the same week everywhere.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::try_from((self.0 >> 11) % n.max(1).unsigned_abs()).unwrap()
    }

    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high - low + 1)
    }

    pub fn chance(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }
}

/// Something that a person, the machine or the network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    AddTodo,
    AddMonitor {
        cadence_minutes: i64,
    },
    /// Blocks one agent, or all.
    OpenGate {
        agent: Option<usize>,
    },
    /// The oldest gate.
    DecideGate,
    Stop,
    Resume,
    Crash {
        agent: usize,
        down: i64,
    },
    /// The wall clock jumps.
    Clock {
        minutes: i64,
    },
}

/// The goal's week, in order.
pub fn of(goal: u64, week: i64) -> Vec<(i64, Happening)> {
    let mut draw = Draw::new(goal + 1);
    let mut script = Vec::new();
    for _ in 0..draw.between(4, 14) {
        script.push((0, Happening::AddTodo));
    }
    for _ in 0..draw.between(0, 2) {
        let cadence_minutes = [15, 60, 180, 720][usize::try_from(draw.below(4)).unwrap()];
        script.push((0, Happening::AddMonitor { cadence_minutes }));
    }
    for _ in 0..draw.between(3, 18) {
        script.push((draw.between(60, week), Happening::AddTodo));
    }
    for _ in 0..draw.between(1, 4) {
        let at = draw.between(30, week - 3_000);
        let agent = draw.chance(60).then(|| usize::try_from(draw.below(3)).unwrap());
        script.push((at, Happening::OpenGate { agent }));
        script.push((at + draw.between(10, 1_800), Happening::DecideGate));
    }
    if draw.chance(30) {
        let at = draw.between(100, week - 3_000);
        script.push((at, Happening::Stop));
        script.push((at + draw.between(60, 1_500), Happening::Resume));
    }
    for _ in 0..draw.between(1, 5) {
        let agent = usize::try_from(draw.below(3)).unwrap();
        let down = draw.between(1, 120);
        script.push((draw.between(10, week), Happening::Crash { agent, down }));
    }
    if draw.chance(50) {
        let minutes = [-30, -5, 60, 360][usize::try_from(draw.below(4)).unwrap()];
        script.push((draw.between(100, week), Happening::Clock { minutes }));
    }
    script.sort_by_key(|(at, _)| *at);
    script
}
