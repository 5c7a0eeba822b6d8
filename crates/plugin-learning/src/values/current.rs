//! The clusters of a project as they are now, with their ids.

use contract::Cx;
use model::ghap::ExperienceAxis;
use model::value::{cluster_id, parse_cluster_id};
use model::{OpError, limits};
use store::clusters::{self, Clustering, ExperienceCluster};

/// The clusters of a project on an axis. New ones get their numbers; the computation itself does not occupy the writer.
pub(super) fn clusters_of(
    cx: &Cx<'_>,
    project: i64,
    axis: ExperienceAxis,
) -> Result<Clustering, OpError> {
    let mut clustering = cx.store.read(|rx| clusters::clusters(rx, project, axis))?;
    if !clustering.is_stored() {
        let (new, now) = (clustering.unnumbered(), cx.now);
        let numbers = cx.store.write_unanswered(move |tx| clusters::store(tx, &new, now))?;
        clustering.number(&numbers);
    }
    Ok(clustering)
}

/// The error of a project with too few experiences.
pub(super) fn too_few(axis: ExperienceAxis, count: usize) -> OpError {
    let (least, axis) = (limits::CLUSTERED_MIN, axis.word());
    let message = format!(
        "{} on the axis `{axis}`, and clusters need {least}",
        text::counted(count, "experience")
    );
    OpError::not_ready("insufficient_data", message)
        .with("count", count)
        .with("needed", least)
        .hint("Resolve more ghaps in this project.")
}

/// A cluster that a call names, among those of its project and axis.
pub(super) struct NamedCluster {
    pub(super) clustering: Clustering,
    /// The index of the cluster in `clustering`.
    pub(super) place: usize,
    pub(super) number: i64,
}

impl NamedCluster {
    /// An error if the id is malformed, or no such cluster exists at present.
    pub(super) fn of(cx: &Cx<'_>, id: &str) -> Result<NamedCluster, OpError> {
        let (axis, number) = parse_cluster_id(id)?;
        let missing = || {
            OpError::not_found(format!("there is no cluster {}", cluster_id(axis, number)))
                .hint("`get_clusters` lists the clusters of an axis.")
        };
        let known = cx.store.read(|rx| clusters::known(rx, number))?;
        let (project, _) = known.filter(|(_, of)| *of == axis).ok_or_else(missing)?;
        let clustering = clusters_of(cx, project, axis)?;
        let count = clustering.experiences.len();
        if count < limits::CLUSTERED_MIN {
            return Err(too_few(axis, count));
        }
        let is_named = |cluster: &ExperienceCluster| cluster.number == Some(number);
        let place = clustering.clusters.iter().position(is_named).ok_or_else(missing)?;
        Ok(NamedCluster { clustering, place, number })
    }

    pub(super) fn cluster(&self) -> Option<&ExperienceCluster> {
        self.clustering.clusters.get(self.place)
    }
}
