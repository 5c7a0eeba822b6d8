//! Learning: hypotheses and what became of them, memories, fixes of failures, and values learned from all of these.
//!
//! Each module has its operations and its part of the hooks: `ghaps` (goal, hypothesis, action, prediction, and the
//! outcome), `memories`, `fixes` (failures and the runs that fixed them), `values` (clusters of experiences and the rules
//! drawn from them), `context` (the text about a question).

mod context;
mod declared;
mod fixes;
mod ghaps;
mod memories;
mod relevance;
mod runs;
mod settings;
mod store_flag;
mod used;
mod values;

use std::sync::Arc;

use contract::{
    Candidate, Config, ConfigKey, Moment, Occasion, OpError, Operation, Plugin, Scheme,
};
use model::hook::ToldEntry;
use place::Captured;
use store::observations::Added;
use store::{Opened, Rx, Tx};

/// The learning plugin.
#[derive(Default)]
pub struct Learning {
    ghaps: ghaps::GhapFlags,
    /// Items that sessions got and have not used.
    shown: used::ShownItems,
}

impl Plugin for Learning {
    fn name(&self) -> &'static str {
        "learning"
    }

    fn operations(&self) -> Vec<Operation> {
        let parts = [
            ghaps::operations(),
            memories::operations(),
            fixes::operations(),
            values::operations(),
            context::operations(),
        ];
        parts.into_iter().flatten().collect()
    }

    fn command_groups(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("ghap", "State a hypothesis, resolve it, find earlier ones"),
            ("memory", "Store texts that later sessions recall"),
            ("value", "Themes of experiences, and the rules drawn from them"),
        ]
    }

    fn schemes(&self) -> Vec<Arc<dyn Scheme>> {
        [ghaps::schemes(), memories::schemes(), values::schemes(), fixes::schemes()].concat()
    }

    fn config(&self) -> &'static [ConfigKey] {
        settings::KEYS
    }

    fn opened(&self, tx: &Tx<'_>, _: Opened) -> Result<(), OpError> {
        store::failures::rebuild_lines(tx)
    }

    fn instructions(&self) -> &'static str {
        ghaps::INSTRUCTIONS
    }

    fn status(&self, rx: &Rx<'_>) -> Result<Option<(&'static str, String)>, OpError> {
        Ok(ghaps::status(rx)?.map(|text| ("learning", text)))
    }

    fn observe(&self, seen: &Captured<'_>, tx: &Tx<'_>, config: &Config) -> Result<(), OpError> {
        if !config.boolean(settings::HOOKS) {
            return Ok(());
        }
        if seen.is_imported() {
            return Ok(());
        }
        ghaps::observe(tx, seen, &self.ghaps)?;
        used::observe(tx, seen, &self.shown)
    }

    fn recorded(
        &self,
        seen: &Captured<'_>,
        record: Added,
        tx: &Tx<'_>,
        config: &Config,
    ) -> Result<(), OpError> {
        match config.boolean(settings::HOOKS) {
            true => fixes::recorded(tx, seen, record),
            false => Ok(()),
        }
    }

    fn may_have_candidates(&self, occasion: &Occasion<'_>, config: &Config) -> bool {
        config.boolean(settings::HOOKS)
            && (matches!(occasion, Occasion::Prompt(_))
                || ghaps::may_have_candidates(occasion, &self.ghaps)
                || ghaps::may_have_outcomes(occasion, &self.ghaps)
                || fixes::may_have_candidates(occasion))
    }

    fn candidates(&self, moment: &Moment<'_>) -> Result<Vec<Candidate>, OpError> {
        let mut found = context::answers(moment)?;
        if moment.config.boolean(settings::HOOKS) && !moment.is_excluded() {
            found.extend(context::at_prompt(moment)?);
            found.extend(ghaps::candidates(moment, &self.ghaps)?);
            found.extend(values::candidates(moment)?);
            let fixes = fixes::candidates(moment)?;
            found.extend(ghaps::outcomes(moment, &self.ghaps, !fixes.is_empty())?);
            found.extend(fixes);
        }
        Ok(found)
    }

    fn delivered(&self, tx: &Tx<'_>, session: &str, entries: &[ToldEntry]) -> Result<(), OpError> {
        used::delivered(tx, session, entries, &self.shown)?;
        ghaps::delivered(tx, session, entries)
    }
}
