//! Clusters of the experiences of a project on one axis. They are computed outside of the writer's thread; their ids are
//! stored, so that a cluster keeps its id while experiences are added or deleted.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use cluster::Weighted;
use meaning::Vector;
use model::ghap::ExperienceAxis;
use model::{OpError, limits};
use rusqlite::{OptionalExtension, params};

use crate::aggregate::{Aggregate, json_ids};
use crate::cells::Cells as _;
use crate::ghaps::{self, Experience};
use crate::table_info::{Reference, TableInfo, WordColumn};
use crate::tx::{Rx, Tx};
use crate::{hash, record_ids};

/// The row of the registry.
pub(crate) struct Clusters;

impl Aggregate for Clusters {
    fn name(&self) -> &'static str {
        "clusters"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/clusters.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[TableInfo {
            name: "clusters",
            json: &["members"],
            words: AXIS,
            references: &[Reference::needed("project", "projects")],
            at: Some("at"),
            times: &["at"],
            ..TableInfo::PLAIN
        }];
        TABLES
    }

    /// Deletes the clusters of projects without ghaps.
    fn prune(&self, tx: &Tx<'_>, _now: i64) -> Result<(), OpError> {
        const PRUNE: &str = "DELETE FROM clusters WHERE NOT EXISTS \
             (SELECT 1 FROM ghaps g WHERE g.project = clusters.project)";
        tx.sql(|db| db.prepare_cached(PRUNE)?.execute([]).map(drop))
    }
}

/// The column with an axis.
pub(crate) const AXIS: &[WordColumn] = &[WordColumn {
    name: "axis",
    knows: |word| ExperienceAxis::parse(word).is_some(),
    fallback: "full",
}];

/// A cluster of experiences.
#[derive(Clone, Debug)]
pub struct ExperienceCluster {
    /// Its number, once it is stored.
    pub number: Option<i64>,
    /// The places of its members in the list of experiences, the most typical first.
    pub members: Vec<usize>,
    /// The similarity of each member to the weighted mean of the members.
    pub similarities: Vec<f64>,
    /// The mean weight of its members.
    pub weight: f64,
    /// Its most distinctive words.
    pub words: Vec<String>,
    /// The mean of its members' lessons, without the common direction.
    lessons: Vec<f64>,
}

/// The experiences of a project on an axis, and their clusters, the heaviest first.
#[derive(Clone, Debug)]
pub struct Clustering {
    pub project: i64,
    pub axis: ExperienceAxis,
    pub experiences: Vec<Experience>,
    pub clusters: Vec<ExperienceCluster>,
    /// The direction that is subtracted before lessons are compared, because any sentence is near to it. With several
    /// clusters it is the mean of all lessons. With one cluster, subtracting that mean would leave nothing to compare:
    /// then it is the common direction of all embeddings.
    common: Vec<f64>,
    fingerprint: i64,
}

impl Clustering {
    /// Experiences that are in no cluster.
    pub fn noise(&self) -> usize {
        self.experiences.len() - self.clusters.iter().map(|one| one.members.len()).sum::<usize>()
    }

    /// Whether all clusters have their numbers.
    pub fn is_stored(&self) -> bool {
        self.clusters.iter().all(|cluster| cluster.number.is_some())
    }

    /// The cosine of a text with the mean lesson of each cluster, both without the common direction; 0 for a text without
    /// words.
    pub fn similarities(&self, text: &str) -> Vec<f64> {
        let vector = Vector::of(text).map(|vector| minus(components(&vector), &self.common));
        let cosine = |cluster: &ExperienceCluster| {
            vector.as_ref().map_or(0.0, |vector| cosine(vector, &cluster.lessons))
        };
        self.clusters.iter().map(cosine).collect()
    }

    /// The part that [`store`] needs.
    pub fn unnumbered(&self) -> UnnumberedClusters {
        let ids = |cluster: &ExperienceCluster| {
            cluster.members.iter().map(|member| self.experiences[*member].id).collect()
        };
        UnnumberedClusters {
            project: self.project,
            axis: self.axis,
            fingerprint: self.fingerprint,
            members: self.clusters.iter().map(ids).collect(),
        }
    }

    /// Sets the numbers that [`store`] returned.
    pub fn number(&mut self, numbers: &[i64]) {
        for (cluster, number) in self.clusters.iter_mut().zip(numbers) {
            cluster.number = Some(*number);
        }
    }
}

/// Clusters to be stored: the record ids of their members.
#[derive(Clone, Debug)]
pub struct UnnumberedClusters {
    project: i64,
    axis: ExperienceAxis,
    fingerprint: i64,
    members: Vec<BTreeSet<i64>>,
}

/// The projects with enough experiences for clusters on an axis, among these or all, and the largest number of
/// experiences in any of the searched projects.
pub fn clustered_projects(
    rx: &Rx<'_>,
    projects: Option<&[i64]>,
    axis: ExperienceAxis,
) -> Result<(Vec<i64>, usize), OpError> {
    const COUNTS: &str = "SELECT project, count(*) FROM ghaps WHERE status <> 'hypothesis' \
         AND (?1 IS NULL OR project IN (SELECT value FROM json_each(?1))) \
         GROUP BY project ORDER BY project";
    let wanted = projects.map(|ids| json_ids(ids.iter().copied()));
    let counts: Vec<(i64, usize)> = rx.sql(|db| {
        let mut counts = db.prepare_cached(COUNTS)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        counts.query_map([wanted], read)?.collect()
    })?;
    let (mut enough, mut most) = (Vec::new(), 0);
    for (project, resolved) in counts {
        // Not every experience is on every axis.
        let count = match axis {
            ExperienceAxis::Full | ExperienceAxis::Strategy => resolved,
            _ => ghaps::experiences(rx, project, axis)?.len(),
        };
        most = most.max(count);
        if count >= limits::CLUSTERED_MIN {
            enough.push(project);
        }
    }
    Ok((enough, most))
}

/// The clusters of a project on an axis; the stored ones if they were computed from the same experiences.
pub fn clusters(rx: &Rx<'_>, project: i64, axis: ExperienceAxis) -> Result<Clustering, OpError> {
    let mut experiences = ghaps::experiences(rx, project, axis)?;
    let oldest = experiences.len().saturating_sub(limits::CLUSTERED_MAX);
    experiences.drain(..oldest);
    let fingerprint = fingerprint(&experiences);
    let stored = current(rx, project, axis, fingerprint)?;
    let places: BTreeMap<i64, usize> =
        experiences.iter().enumerate().map(|(place, one)| (one.id, place)).collect();
    let groups: Vec<(Option<i64>, Vec<usize>)> = match stored.is_empty() {
        true => grouped(&experiences).into_iter().map(|members| (None, members)).collect(),
        false => stored
            .into_iter()
            .map(|(number, ids)| {
                let members = ids.iter().filter_map(|id| places.get(id).copied());
                (Some(number), members.collect())
            })
            .collect(),
    };
    let words = words::distinctive(&experiences, &groups);
    let common = match groups.len() {
        0 | 1 => meaning::common().to_vec(),
        _ => weighted_mean(experiences.iter().map(|one| (one.lesson.as_str(), 1.0))),
    };
    let mut clusters: Vec<ExperienceCluster> = groups
        .into_iter()
        .zip(words)
        .filter(|((_, members), _)| !members.is_empty())
        .map(|((number, members), words)| described(&experiences, number, &members, words, &common))
        .collect();
    let total = |cluster: &ExperienceCluster| cluster.weight * cluster.members.len() as f64;
    clusters.sort_by(|a, b| total(b).total_cmp(&total(a)).then(a.members.cmp(&b.members)));
    Ok(Clustering { project, axis, experiences, clusters, common, fingerprint })
}

/// A hash of all that decides the clusters.
fn fingerprint(experiences: &[Experience]) -> i64 {
    let facts: Vec<String> = experiences
        .iter()
        .map(|one| format!("{} {} {}", one.id, one.weight, hash::of(&[&one.text, &one.lesson])))
        .collect();
    hash::of(&facts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The members of each cluster.
fn grouped(experiences: &[Experience]) -> Vec<Vec<usize>> {
    let vectors: Vec<Vec<f32>> = experiences
        .iter()
        .map(|one| {
            let vector = Vector::of(&words::unlabelled(&one.text));
            vector.map_or_else(Vec::new, |vector| {
                components(&vector).into_iter().map(|value| value as f32).collect()
            })
        })
        .collect();
    let input: Vec<Weighted<'_>> = vectors
        .iter()
        .zip(experiences)
        .map(|(vector, one)| Weighted { vector, weight: one.weight as f32 })
        .collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, label) in cluster::clusters(&input).into_iter().enumerate() {
        let Some(label) = label else { continue };
        if groups.len() <= label {
            groups.resize(label + 1, Vec::new());
        }
        groups[label].push(place);
    }
    groups
}

/// The components of a normalised vector.
fn components(vector: &Vector) -> Vec<f64> {
    let reciprocal = f64::from(vector.reciprocal());
    vector.cells().iter().map(|cell| f64::from(*cell) * reciprocal).collect()
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

/// The weighted mean of the embeddings of some texts.
fn weighted_mean<'a>(texts: impl Iterator<Item = (&'a str, f64)>) -> Vec<f64> {
    let mut mean = vec![0.0; meaning::DIMENSIONS];
    let mut total = 0.0;
    for (text, weight) in texts {
        let Some(vector) = Vector::of(text) else { continue };
        total += weight;
        for (mean, value) in mean.iter_mut().zip(components(&vector)) {
            *mean += weight * value;
        }
    }
    mean.iter_mut().for_each(|value| *value /= total.max(f64::MIN_POSITIVE));
    mean
}

fn minus(vector: Vec<f64>, common: &[f64]) -> Vec<f64> {
    vector.into_iter().zip(common).map(|(value, common)| value - common).collect()
}

fn described(
    experiences: &[Experience],
    number: Option<i64>,
    members: &[usize],
    words: Vec<String>,
    common: &[f64],
) -> ExperienceCluster {
    let of = || members.iter().map(|member| &experiences[*member]);
    let texts: Vec<String> = of().map(|one| words::unlabelled(&one.text)).collect();
    let weights = || of().map(|one| one.weight.max(f64::MIN_POSITIVE));
    let mean = weighted_mean(texts.iter().map(String::as_str).zip(weights()));
    let similarity =
        |text: &String| Vector::of(text).map_or(0.0, |vector| cosine(&components(&vector), &mean));
    let mut ranked: Vec<(usize, f64)> =
        members.iter().copied().zip(texts.iter().map(similarity)).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (members, similarities): (Vec<usize>, Vec<f64>) = ranked.into_iter().unzip();
    ExperienceCluster {
        number,
        weight: of().map(|one| one.weight).sum::<f64>() / members.len().max(1) as f64,
        lessons: minus(weighted_mean(of().map(|one| one.lesson.as_str()).zip(weights())), common),
        members,
        similarities,
        words,
    }
}

/// The stored clusters of a project on an axis that were computed from these experiences: their numbers and the ids of
/// their members.
fn current(
    rx: &Rx<'_>,
    project: i64,
    axis: ExperienceAxis,
    fingerprint: i64,
) -> Result<Vec<(i64, Vec<i64>)>, OpError> {
    const CURRENT: &str = "SELECT id, members FROM clusters \
         WHERE project = ?1 AND axis = ?2 AND current = 1 AND fingerprint = ?3 ORDER BY id";
    let rows: Vec<(i64, String)> = rx.sql(|db| {
        let mut select = db.prepare_cached(CURRENT)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        select.query_map(params![project, axis.word(), fingerprint], read)?.collect()
    })?;
    Ok(rows.into_iter().map(|(id, members)| (id, parsed(&members))).collect())
}

fn parsed(members: &str) -> Vec<i64> {
    serde_json::from_str(members).unwrap_or_default()
}

/// The project and the axis of a stored cluster, whether or not it is current.
pub fn known(rx: &Rx<'_>, number: i64) -> Result<Option<(i64, ExperienceAxis)>, OpError> {
    const KNOWN: &str = "SELECT project, axis FROM clusters WHERE id = ?1";
    let row: Option<(i64, String)> = rx.sql(|db| {
        let read = |row: &rusqlite::Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        db.prepare_cached(KNOWN)?.query_row([number], read).optional()
    })?;
    Ok(row.and_then(|(project, axis)| Some((project, ExperienceAxis::parse(&axis)?))))
}

/// The record ids of the experiences of a stored cluster; none if it is unknown.
pub fn member_ids(rx: &Rx<'_>, number: i64) -> Result<BTreeSet<i64>, OpError> {
    const MEMBERS: &str = "SELECT members FROM clusters WHERE id = ?1";
    let members: Option<String> =
        rx.sql(|db| db.prepare_cached(MEMBERS)?.query_row([number], |row| row.cell(0)).optional())?;
    Ok(members.iter().flat_map(|members| parsed(members)).collect())
}

/// Stores the clusters of a project on an axis, and returns their numbers. A cluster gets the number of a stored
/// cluster if it has at least half of the stored cluster's experiences; if several clusters do, the one with the most
/// of them gets it.
pub fn store(tx: &Tx<'_>, new: &UnnumberedClusters, at: i64) -> Result<Vec<i64>, OpError> {
    const RETIRE: &str = "UPDATE clusters SET current = 0 WHERE project = ?1 AND axis = ?2";
    const SAVE: &str = "INSERT INTO clusters (id, project, at, axis, current, fingerprint, members) \
         VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6) ON CONFLICT (id) DO UPDATE SET \
         project = excluded.project, at = excluded.at, current = 1, \
         fingerprint = excluded.fingerprint, members = excluded.members";
    let axis = new.axis.word();
    let continued = continued(&stored(tx, axis)?, &new.members);
    tx.sql(|db| db.prepare_cached(RETIRE)?.execute(params![new.project, axis]))?;
    let mut numbers = Vec::new();
    for (members, known) in new.members.iter().zip(continued) {
        let number = match known {
            Some(number) => number,
            None => record_ids::next(tx)?,
        };
        let members = json_ids(members.iter().copied());
        let given = params![number, new.project, at, axis, new.fingerprint, members];
        tx.sql(|db| db.prepare_cached(SAVE)?.execute(given))?;
        numbers.push(number);
    }
    Ok(numbers)
}

/// All stored clusters of an axis with the members that still exist. Clusters of other projects are included: a project
/// may have been split or merged since, and no two projects share an experience.
fn stored(rx: &Rx<'_>, axis: &str) -> Result<Vec<(i64, BTreeSet<i64>)>, OpError> {
    const STORED: &str = "SELECT c.id, (SELECT json_group_array(m.value) FROM json_each(c.members) m \
         WHERE EXISTS (SELECT 1 FROM ghaps g WHERE g.id = m.value)) FROM clusters c \
         WHERE c.axis = ?1 AND json_valid(c.members) ORDER BY c.id";
    let rows: Vec<(i64, String)> = rx.sql(|db| {
        let mut select = db.prepare_cached(STORED)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.cell(0)?, row.cell(1)?));
        select.query_map([axis], read)?.collect()
    })?;
    Ok(rows.into_iter().map(|(id, members)| (id, parsed(&members).into_iter().collect())).collect())
}

/// For each new cluster, the number of the stored cluster whose number it gets.
fn continued(stored: &[(i64, BTreeSet<i64>)], new: &[BTreeSet<i64>]) -> Vec<Option<i64>> {
    let mut pairs = Vec::new();
    for (number, old) in stored {
        for (place, members) in new.iter().enumerate() {
            let shared = members.intersection(old).count();
            if shared > 0 && shared * 2 >= old.len() {
                pairs.push((shared, *number, place));
            }
        }
    }
    // Most shared experiences first, then the older cluster.
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut continued = vec![None; new.len()];
    let mut used = BTreeSet::new();
    for (_, number, place) in pairs {
        if continued[place].is_none() && used.insert(number) {
            continued[place] = Some(number);
        }
    }
    continued
}
