//! Names of clusters of experiences, and of the values drawn from them.

use crate::OpError;
use crate::ghap::ExperienceAxis;

/// The id of a cluster on the wire: `AXIS_N`.
pub fn cluster_id(axis: ExperienceAxis, number: i64) -> String {
    format!("{}_{number}", axis.word())
}

/// The axis and the number of a cluster's id.
pub fn parse_cluster_id(id: &str) -> Result<(ExperienceAxis, i64), OpError> {
    let parsed = id.rsplit_once('_').and_then(|(axis, number)| {
        let axis = ExperienceAxis::parse(axis)?;
        let number: i64 = number.parse().ok().filter(|number| *number > 0)?;
        Some((axis, number)).filter(|_| cluster_id(axis, number) == id)
    });
    parsed.ok_or_else(|| {
        let axes: Vec<&str> = ExperienceAxis::ALL.iter().map(|axis| axis.word()).collect();
        let message = format!("`cluster_id` is not AXIS_N with an axis of {}", axes.join(", "));
        OpError::invalid("cluster_id", message)
            .hint("`get_clusters` lists the clusters of an axis.")
    })
}

/// The name of the value with this record id: `value_AXIS_N_8hex`. Record ids are unique, so names are too.
pub fn value_name(axis: ExperienceAxis, cluster: i64, id: i64) -> String {
    // An odd factor, so that different ids stay different.
    let mixed = (id as u32).wrapping_mul(0x9e37_79b1);
    format!("value_{}_{mixed:08x}", cluster_id(axis, cluster))
}

/// Whether a text has the form of a value's name.
pub fn is_value_name(name: &str) -> bool {
    let parts = name.strip_prefix("value_").and_then(|rest| rest.rsplit_once('_'));
    parts.is_some_and(|(cluster, hex)| {
        let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        parse_cluster_id(cluster).is_ok() && hex.len() == 8 && hex.chars().all(is_hex)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_id_is_an_axis_and_a_number() {
        for axis in ExperienceAxis::ALL {
            assert_eq!(parse_cluster_id(&cluster_id(*axis, 12)).ok(), Some((*axis, 12)));
        }
        for bad in ["", "full", "full_", "full_x", "full_-1", "full_0", "full_01", "cause_1", "12"]
        {
            let error = parse_cluster_id(bad).expect_err(bad);
            assert!(error.message.contains("full, strategy, surprise, root_cause"), "{error}");
        }
    }

    #[test]
    fn names_of_values_differ_for_every_record() {
        let names: std::collections::BTreeSet<String> =
            (1..5_000).map(|id| value_name(ExperienceAxis::RootCause, 7, id)).collect();
        assert_eq!(names.len(), 4_999);
        assert!(names.iter().all(|name| is_value_name(name)));
        for bad in ["value_full_1", "value_full_1_xyz", "full_1_00000000", "value_full_1_0000000G"]
        {
            assert!(!is_value_name(bad), "{bad}");
        }
    }
}
