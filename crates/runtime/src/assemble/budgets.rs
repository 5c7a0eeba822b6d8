//! The title and the bounds of the text for each occasion, in one table.

use contract::{Config, Occasion};
use model::hook::BRIEFING_TITLES;
use model::limits;
use text::HostLimits;

/// The size limits of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) tokens: usize,
    pub(crate) lines: usize,
    /// Row limit of each section; it overrides a higher limit of its slot.
    pub(crate) rows: usize,
    /// The agent lost its context: some sections may have more rows.
    pub(crate) recovery: bool,
    /// The text answers a call: the caller's budget is its only limit, not what agents accept unasked.
    pub(crate) is_answer: bool,
    /// How much text the agent's host hands on.
    pub(crate) host: HostLimits,
}

impl Budget {
    /// Character limit of one row, without its marks.
    pub(super) fn row_chars(&self) -> usize {
        let share = self.tokens.min(limits::INJECT_TOKENS_MAX) / limits::INJECT_ITEM_SHARE;
        text::tokens::chars(share.max(limits::INJECT_ITEM_TOKENS_MIN))
    }
}

/// One row of the table.
struct OccasionBudget {
    /// Empty if the text has no title.
    title: &'static str,
    tokens: TokenBudget,
    lines: usize,
}

/// The token budget of a text.
enum TokenBudget {
    Fixed(usize),
    /// The value of this setting, but not less than a number.
    SettingFrom(&'static str, usize),
    /// The value of this setting.
    Setting(&'static str),
}

/// The table of budgets.
fn row(occasion: &Occasion<'_>) -> OccasionBudget {
    let row = |title, tokens, lines| OccasionBudget { title, tokens, lines };
    let briefing = |lines| row(BRIEFING_TITLES[0], TokenBudget::Setting("briefing.tokens"), lines);
    match occasion {
        Occasion::SessionStart(source) if source.forgot() => {
            briefing(limits::BRIEFING_LINES_RECOVERY_MAX)
        }
        Occasion::SessionStart(_) => briefing(limits::BRIEFING_LINES_MAX),
        Occasion::Prompt(_) => {
            let tokens =
                TokenBudget::SettingFrom("learning.prompt_tokens", limits::ASIDE_TOKENS_MAX);
            row(BRIEFING_TITLES[0], tokens, limits::BRIEFING_LINES_MAX)
        }
        Occasion::BeforeTool(_) | Occasion::AfterTool { .. } => {
            row("", TokenBudget::Fixed(limits::ASIDE_TOKENS_MAX), limits::BRIEFING_LINES_MAX)
        }
        Occasion::Handoff { tokens, .. } => {
            row("", TokenBudget::Fixed(*tokens), limits::HANDOFF_LINES_MAX)
        }
        Occasion::Question { tokens, .. } => {
            row("", TokenBudget::Fixed(*tokens), limits::QUESTION_LINES_MAX)
        }
    }
}

/// The title and the budget of the text for an occasion.
pub(crate) fn of(occasion: &Occasion<'_>, config: &Config) -> (&'static str, Budget) {
    let OccasionBudget { title, tokens, lines } = row(occasion);
    let setting = |key| usize::try_from(config.integer(key)).unwrap_or(usize::MAX);
    let tokens = match tokens {
        TokenBudget::Fixed(tokens) => tokens,
        TokenBudget::Setting(key) => setting(key),
        TokenBudget::SettingFrom(key, least) => setting(key).max(least),
    };
    let rows = match occasion {
        Occasion::Question { limit, .. } => *limit,
        _ => usize::MAX,
    };
    let recovery = matches!(occasion, Occasion::SessionStart(source) if source.forgot());
    let is_answer = matches!(occasion, Occasion::Question { .. });
    let tokens = if is_answer { tokens } else { tokens.min(limits::INJECT_TOKENS_MAX) };
    (title, Budget { tokens, lines, rows, recovery, is_answer, host: HostLimits::NONE })
}
