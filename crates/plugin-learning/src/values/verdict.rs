//! Whether a value fits its cluster.

use contract::Cx;
use model::ghap::check_text;
use model::value::cluster_id;
use model::{OpError, limits};

use super::current::NamedCluster;
use super::wire::rounded;
use crate::declared::refuse_secrets;

/// The comparison of a value with its cluster and the others of the axis.
pub(super) struct ValueVerdict {
    pub(super) cluster: NamedCluster,
    /// The cosine with the mean lesson of the cluster.
    pub(super) similarity: f64,
    pub(super) is_valid: bool,
    pub(super) reason: String,
}

impl ValueVerdict {
    /// The id of the cluster on the wire.
    pub(super) fn cluster_id(&self) -> String {
        cluster_id(self.cluster.clustering.axis, self.cluster.number)
    }

    pub(super) fn of(cx: &Cx<'_>, text: &str, id: &str) -> Result<ValueVerdict, OpError> {
        check_text("text", text, limits::VALUE_CHARS_MAX)?;
        refuse_secrets(&[("text", text)])?;
        let cluster = NamedCluster::of(cx, id)?;
        let similarities = cluster.clustering.similarities(text);
        let similarity = similarities.get(cluster.place).copied().unwrap_or_default();
        let axis = cluster.clustering.axis;
        let nearer = similarities
            .iter()
            .zip(&cluster.clustering.clusters)
            .enumerate()
            .filter(|(place, (other, _))| *place != cluster.place && **other >= similarity)
            .max_by(|a, b| a.1.0.total_cmp(b.1.0))
            .map(|(_, (other, of))| (*other, cluster_id(axis, of.number.unwrap_or_default())));
        let least = limits::VALUE_SIMILARITY_MIN;
        let shown = rounded(similarity);
        let (is_valid, reason) = match nearer {
            _ if similarity < least => {
                (false, format!("the similarity {shown} to the cluster's lessons is below {least}"))
            }
            Some((other, id)) => (
                false,
                format!("it is nearer to the lessons of {id} ({} against {shown})", rounded(other)),
            ),
            None => (true, format!("the similarity {shown} is the highest of all clusters")),
        };
        Ok(ValueVerdict { cluster, similarity, is_valid, reason })
    }
}
