//! Targets with one known fault each: a panic, a hang, a dead process, and a failure that needs earlier cases.

use std::time::Duration;

use crate::dice::Dice;
use crate::target::{Checked, FuzzTarget, PureSubject, Subject, ensure};

pub(crate) static DRILLS: [FuzzTarget; 5] = [
    drill("drill-fine", "finds nothing", |_| Box::new(PureSubject(|_| Ok(())))),
    drill("drill-panic", "panics at an input", |_| {
        Box::new(PureSubject(|input| {
            assert!(!is_marked(input), "the marked input came");
            Ok(())
        }))
    }),
    drill("drill-hang", "does not come back from an input", |_| {
        Box::new(PureSubject(|input| {
            while is_marked(input) {
                std::thread::park();
            }
            Ok(())
        }))
    }),
    drill("drill-abort", "ends the process at an input", |_| {
        Box::new(PureSubject(|input| {
            if is_marked(input) {
                std::process::abort();
            }
            Ok(())
        }))
    }),
    drill("drill-memory", "fails at a marked input after 20 others", |_| {
        Box::new(Counting { seen: 0 })
    }),
];

const fn drill(
    name: &'static str,
    about: &'static str,
    open: fn(&crate::target::Workbench) -> Box<dyn Subject>,
) -> FuzzTarget {
    let patience = Duration::from_millis(500);
    FuzzTarget { name, about, share: 1, patience, renew: 1_000, generate, open }
}

fn generate(dice: &mut Dice) -> Vec<u8> {
    vec![dice.byte(), dice.byte()]
}

/// One input in 64 is marked.
fn is_marked(input: &[u8]) -> bool {
    input.first().is_some_and(|byte| byte % 64 == 7)
}

struct Counting {
    seen: u32,
}

impl Subject for Counting {
    fn check(&mut self, input: &[u8]) -> Checked {
        self.seen += 1;
        ensure(self.seen < 20 || !is_marked(input), || "marked, and not alone".to_owned())
    }
}
