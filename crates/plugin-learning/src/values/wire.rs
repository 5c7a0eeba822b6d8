//! Shared by the operations about values: their toolset, the default axis, and numbers on the wire.

use model::ghap::ExperienceAxis;

/// The toolset of these operations.
pub(super) const TOOLSET: &str = "learning";

/// The axis of a call that names none.
pub(super) fn full() -> ExperienceAxis {
    ExperienceAxis::Full
}

/// A number on the wire, with four decimals.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
