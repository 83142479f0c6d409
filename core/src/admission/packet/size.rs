//! The fixed sizes of a packet: what is dropped when it does not fit, and in which order.

use crate::schedule::HintSize;

/// Which next commands a packet has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commands {
    /// Each that the work needs.
    All,
    /// The one that leads to the others: a turn, whose answer names its settlement.
    First,
    /// None.
    None,
}

/// How much a packet says. A packet over budget is said again with the next size, so
/// that what is dropped, and in which order, is fixed: first what the hint and the stable
/// block have beyond the necessary, then texts are cut and lists shortened, then the
/// commands go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Bytes of the selected todo's text and of the reason.
    pub text: usize,
    /// Bytes of repeated and secondary texts.
    pub short: usize,
    /// Items of a list.
    pub items: usize,
    /// Next commands.
    pub commands: Commands,
    /// The rest of the earlier tool's stable block.
    pub stable: bool,
    /// How much the hint says.
    pub hint: HintSize,
}

/// The sizes, largest first. The last one fits whatever the texts are: a test tries the
/// longest identifiers and texts that are all escapes.
pub(super) const SIZES: [Size; 12] = [
    size(240, 120, 3, Commands::All, true, HintSize::Whole),
    size(240, 120, 3, Commands::All, true, HintSize::Lean),
    size(240, 120, 3, Commands::All, false, HintSize::Lean),
    size(160, 60, 2, Commands::All, false, HintSize::Lean),
    size(120, 40, 1, Commands::All, false, HintSize::Lean),
    size(160, 60, 2, Commands::First, false, HintSize::Lean),
    size(120, 40, 1, Commands::First, false, HintSize::Lean),
    size(120, 40, 1, Commands::None, false, HintSize::Lean),
    size(60, 20, 1, Commands::None, false, HintSize::Lean),
    size(60, 20, 1, Commands::None, false, HintSize::Least),
    size(20, 8, 1, Commands::None, false, HintSize::Least),
    size(8, 8, 0, Commands::None, false, HintSize::Least),
];

/// Where [`SIZES`] is begun: most packets of work fit this one and none that is larger.
const USUAL: usize = 2;
/// Bytes that each size before [`USUAL`] has more than the next one, at the least: the names
/// and fixed words of the stable block, and those of a whole hint.
const MORE: [usize; USUAL] = [200, 200];

/// What `write` makes at the largest size that is at most `budget` by `len`, else at the
/// smallest one. To write is what an answer costs most, so that a size
/// which is known to be too large is not tried.
pub(super) fn largest_that_fits<T>(
    budget: usize,
    write: impl Fn(Size) -> T,
    len: impl Fn(&T) -> usize,
) -> T {
    let [_, _, usual, smaller @ ..] = SIZES;
    let mut best = write(usual);
    if len(&best) > budget {
        for size in smaller {
            best = write(size);
            if len(&best) <= budget {
                break;
            }
        }
        return best;
    }
    for (size, more) in SIZES.into_iter().zip(MORE).rev() {
        if len(&best) + more > budget {
            break;
        }
        let larger = write(size);
        if len(&larger) > budget {
            break;
        }
        best = larger;
    }
    best
}

const fn size(
    text: usize,
    short: usize,
    items: usize,
    commands: Commands,
    stable: bool,
    hint: HintSize,
) -> Size {
    Size { text, short, items, commands, stable, hint }
}
