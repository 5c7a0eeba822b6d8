//! Projects in the store: recognised by remote, by root or by a user's alias, never by name.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use model::portable::PortableProject;
use model::project::{
    KnownAliases, Lead, Leads, MADE, Project, ProjectFacts, ProjectOverview, shown_name,
};
use model::{Code, OpError};
use rusqlite::{OptionalExtension, Row, params};

use crate::activity_counts;
use crate::aggregate::Aggregate;
use crate::cells::Cells as _;
use crate::listed::{is_hidden, is_listed};
use crate::passages;
use crate::pauses;
use crate::table_info::{Reference, TableInfo, TableRole, TextColumns};
use crate::tx::{Rx, Tx};

/// The row of the registry.
pub(crate) struct Projects;

impl Aggregate for Projects {
    fn name(&self) -> &'static str {
        "projects"
    }

    fn schema(&self) -> &'static str {
        include_str!("schema/projects.sql")
    }

    fn tables(&self) -> &'static [TableInfo] {
        const TABLES: &[TableInfo] = &[
            TableInfo {
                name: "projects",
                role: TableRole::Referred,
                times: &["created_at"],
                ..TableInfo::PLAIN
            },
            TableInfo {
                name: ALIAS_TABLE,
                references: &[Reference::needed("project", "projects")],
                ..TableInfo::PLAIN
            },
        ];
        TABLES
    }

    fn texts_left(&self) -> &'static [TextColumns] {
        const TEXTS: &[TextColumns] = &[
            TextColumns {
                from: "projects",
                id: "id",
                plain: &["key", "name", "root"],
                json: &[],
                indexed: &[],
                unindexed: &[],
            },
            TextColumns {
                from: "project_aliases",
                id: "project",
                plain: &["value"],
                json: &[],
                indexed: &[],
                unindexed: &[],
            },
        ];
        TEXTS
    }
}

/// The table of the values that lead to projects.
pub(crate) const ALIAS_TABLE: &str = "project_aliases";

/// Projects by the facts of their directory, as far as a group of writes has looked them up.
#[derive(Default)]
struct ResolvedProjects(RefCell<HashMap<ProjectFacts, Project>>);

const COLUMNS: &str = "SELECT id, key, name, root FROM projects ";
/// An alias of a project that does not exist leads nowhere.
pub(crate) const BY_ALIAS: &str = "SELECT project, firm FROM project_aliases WHERE value = ?1 \
     AND EXISTS (SELECT 1 FROM projects WHERE id = project)";
pub(crate) const ROOTS: &str =
    "SELECT value FROM project_aliases WHERE project = ?1 AND value LIKE '/%'";
pub(crate) const BEGAN_AT: &str =
    "SELECT EXISTS (SELECT 1 FROM sessions WHERE project = ?1 AND root = ?2)";
pub(crate) const BY_ID: &str = "SELECT id, key, name, root FROM projects WHERE id = ?1";

/// The project of this directory, created if there is none yet. New remotes and roots are stored as aliases, so
/// that either of the two may change. A new root changes nothing else: a clone of the same remote may come from
/// anyone, and must neither rename a project nor replace its root.
pub fn resolve(tx: &Tx<'_>, facts: &ProjectFacts, now: i64) -> Result<Project, OpError> {
    if let Some(project) = tx.cached::<ResolvedProjects>().0.borrow().get(facts) {
        return Ok(project.clone());
    }
    let project = look_up(tx, facts, now)?;
    let ResolvedProjects(resolved) = &*tx.cached();
    resolved.borrow_mut().insert(facts.clone(), project.clone());
    Ok(project)
}

fn look_up(tx: &Tx<'_>, facts: &ProjectFacts, now: i64) -> Result<Project, OpError> {
    let leads = Leads::of(facts, &AliasTable(tx))?;
    let found = match leads.project() {
        Some(id) => by_id(tx, id)?,
        None => None,
    };
    let Some(mut project) = found else {
        let key = match leads.is_replaced {
            true => facts.key_of_replacement(),
            false => facts.key().to_owned(),
        };
        let project = create(tx, key, facts, now)?;
        if let Some(root) = facts.root.as_ref().filter(|_| leads.root.is_some()) {
            // The directory has another repository than before: its root leads to the new project from
            // now on. The earlier project is still found by its remote, if it has one, or by its identity
            // on disk.
            put_alias(tx, project.id, root, false)?;
        }
        return Ok(project);
    };
    let new_root = facts.root.as_ref().filter(|_| leads.root.is_none());
    let new_remote = facts.remote_key.as_ref().filter(|_| leads.remote.is_none());
    for value in [new_root, new_remote].into_iter().flatten() {
        put_alias(tx, project.id, value, false)?;
    }
    if let Some(made) = facts.made.first() {
        learn(tx, project.id, made)?;
    }
    // From now on `.git` identifies a directory that became a repository: another one may be cloned into it.
    if let [_, directory] = &facts.made[..]
        && alias_of(tx, directory)?.is_some_and(|(of, _)| of == project.id)
    {
        remove_alias(tx, directory)?;
    }
    // The name in the settings file at its own root may change.
    let name = shown_name(facts.name.clone());
    if facts.root.is_some() && project.root == facts.root && project.name != name {
        project.name = name;
        forget_found(tx);
        tx.sql(|db| {
            let update = "UPDATE projects SET name = ?2 WHERE id = ?1";
            db.execute(update, params![project.id, project.name])
        })?;
    }
    Ok(project)
}

/// The project of this place, if there is one.
pub fn known(rx: &Rx<'_>, facts: &ProjectFacts) -> Result<Option<Project>, OpError> {
    let leads = Leads::of(facts, &AliasTable(rx))?;
    match leads.project() {
        Some(id) => by_id(rx, id),
        // The rows that lead to it may be lost: the next event finds it by its key, too.
        None if !leads.is_replaced => by_key(rx, facts.key()),
        None => Ok(None),
    }
}

/// The project of a line of an export, created if no alias or key leads to it. Its aliases lead to it from now on, unless
/// they lead elsewhere.
pub fn restore(tx: &Tx<'_>, new: &PortableProject) -> Result<Project, OpError> {
    let known = match alias_of(tx, &new.key)? {
        Some((id, _)) => by_id(tx, id)?,
        None => None,
    };
    let project = match known {
        Some(project) => project,
        None => {
            let facts = ProjectFacts {
                root: new.root.clone(),
                name: new.name.clone(),
                ..ProjectFacts::default()
            };
            create(tx, new.key.clone(), &facts, new.created_at)?
        }
    };
    for alias in new.aliases.iter().filter(|alias| !alias.starts_with(MADE)) {
        learn(tx, project.id, alias)?;
    }
    Ok(project)
}

/// The project with this root, if its directory was seen on disk or the user assigned the root.
pub fn seen_at_root(rx: &Rx<'_>, root: &str) -> Result<Option<Project>, OpError> {
    const SEEN: &str = "SELECT a.project FROM project_aliases a WHERE a.value = ?1 AND (a.firm OR \
         EXISTS (SELECT 1 FROM project_aliases b WHERE b.project = a.project AND b.value GLOB ?2))";
    let seen: Option<i64> = rx.sql(|db| {
        let mut select = db.prepare_cached(SEEN)?;
        select.query_row(params![root, format!("{MADE}*")], |row| row.cell(0)).optional()
    })?;
    seen.map_or(Ok(None), |id| by_id(rx, id))
}

/// Creates a project. If a project has this key already, because the rows that lead to it were lost, that project is
/// used.
fn create(tx: &Tx<'_>, key: String, facts: &ProjectFacts, now: i64) -> Result<Project, OpError> {
    let project = match by_key(tx, &key)? {
        Some(project) => project,
        None => insert(tx, key, facts, now)?,
    };
    let leading = [Some(&project.key), facts.remote_key.as_ref(), facts.root.as_ref()];
    for value in leading.into_iter().flatten().chain(facts.made.first()) {
        learn(tx, project.id, value)?;
    }
    Ok(project)
}

fn insert(tx: &Tx<'_>, key: String, facts: &ProjectFacts, now: i64) -> Result<Project, OpError> {
    let name = shown_name(facts.name.clone());
    let id = tx.sql(|db| {
        db.prepare_cached(
            "INSERT INTO projects (key, name, root, created_at) VALUES (?1, ?2, ?3, ?4)",
        )?
        .insert(params![key, name, facts.root, now])
    })?;
    Ok(Project { id, key, name, root: facts.root.clone() })
}

/// Makes the value an alias of the project unless some project already has this alias. Returns whether it was added.
fn learn(tx: &Tx<'_>, project: i64, value: &str) -> Result<bool, OpError> {
    if alias_of(tx, value)?.is_some() {
        return Ok(false);
    }
    put_alias(tx, project, value, false)?;
    Ok(true)
}

/// Drops cached alias lookups, because an alias changes.
fn forget_found(tx: &Tx<'_>) {
    tx.forget_cached();
    pauses::changed(tx);
}

fn put_alias(tx: &Tx<'_>, project: i64, value: &str, firm: bool) -> Result<(), OpError> {
    forget_found(tx);
    tx.sql(|db| {
        db.prepare_cached(
            "INSERT INTO project_aliases (value, project, firm) VALUES (?1, ?2, ?3) \
             ON CONFLICT (value) DO UPDATE SET project = excluded.project, firm = excluded.firm",
        )?
        .execute(params![value, project, firm])
        .map(drop)
    })
}

fn remove_alias(tx: &Tx<'_>, value: &str) -> Result<(), OpError> {
    forget_found(tx);
    const REMOVE: &str = "DELETE FROM project_aliases WHERE value = ?1";
    tx.sql(|db| db.prepare_cached(REMOVE)?.execute([value]).map(drop))
}

/// The aliases in the database.
struct AliasTable<'a, 'db>(&'a Rx<'db>);

impl KnownAliases for AliasTable<'_, '_> {
    type Error = OpError;

    fn lead(&self, alias: &str) -> Result<Option<Lead>, OpError> {
        alias_of(self.0, alias)
    }

    fn has_remote(&self, project: i64) -> Result<bool, OpError> {
        let Some(project) = by_id(self.0, project)? else { return Ok(false) };
        Ok(project.has_remote(&aliases(self.0, project.id)?))
    }
}

/// Where every remote, root and name leads.
pub(crate) fn leads(rx: &Rx<'_>) -> Result<BTreeMap<String, Lead>, OpError> {
    rx.sql(|db| {
        const LEADS: &str = "SELECT value, project, firm FROM project_aliases \
             WHERE project IN (SELECT id FROM projects)";
        let mut select = db.prepare_cached(LEADS)?;
        select.query_map([], |row| Ok((row.cell(0)?, (row.cell(1)?, row.cell(2)?))))?.collect()
    })
}

fn alias_of(rx: &Rx<'_>, value: &str) -> Result<Option<Lead>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached(BY_ALIAS)?;
        select.query_row([value], |row| Ok((row.cell(0)?, row.cell(1)?))).optional()
    })
}

fn by_key(rx: &Rx<'_>, key: &str) -> Result<Option<Project>, OpError> {
    let select = format!("{COLUMNS} WHERE key = ?1");
    rx.sql(|db| db.prepare_cached(&select)?.query_row([key], read).optional())
}

pub fn by_id(rx: &Rx<'_>, id: i64) -> Result<Option<Project>, OpError> {
    rx.sql(|db| db.prepare_cached(BY_ID)?.query_row([id], read).optional())
}

/// The id and the name of every project.
pub(crate) fn names(rx: &Rx<'_>) -> Result<Vec<(i64, String)>, OpError> {
    rx.sql(|db| {
        let mut select = db.prepare_cached("SELECT id, name FROM projects")?;
        select.query_map([], |row| Ok((row.cell(0)?, row.text(1)?.into_owned())))?.collect()
    })
}

/// The projects that this text means: one by `project://KEY`, by key or by alias, else all with this
/// current or former name.
pub fn find(rx: &Rx<'_>, text: &str) -> Result<Vec<Project>, OpError> {
    let exact = text.strip_prefix("project://");
    let mut values = vec![exact.unwrap_or(text).to_owned()];
    values.extend(exact.and_then(model::entry::decode));
    // The key of a project may be a path at which there is another one now.
    for key in values.iter().filter(|_| exact.is_some()) {
        if let Some(project) = by_key(rx, key)? {
            return Ok(vec![project]);
        }
    }
    // A root is kept without a slash at its end.
    values.push(text.trim_end_matches('/').to_owned());
    for value in &values {
        if let Some((id, _)) = alias_of(rx, value)? {
            return Ok(by_id(rx, id)?.into_iter().collect());
        }
    }
    // The rows that lead to a project may be lost.
    for value in &values {
        if let Some(project) = by_key(rx, value)? {
            return Ok(vec![project]);
        }
    }
    if exact.is_some() {
        return Ok(Vec::new());
    }
    // Aliases are searched by their last part too: it is the name of a project whose directory was
    // moved, or of a second clone.
    let named = |collation: &str| {
        rx.sql(|db| {
            let select = format!(
                "{COLUMNS} WHERE name = ?1 COLLATE {collation} OR id IN (SELECT project \
                 FROM project_aliases WHERE value = ?1 COLLATE {collation} \
                 OR substr(value, -length(?1) - 1) = '/' || ?1 COLLATE {collation}) ORDER BY id"
            );
            db.prepare_cached(&select)?.query_map([text], read)?.collect::<Result<Vec<_>, _>>()
        })
    };
    for collation in ["BINARY", "NOCASE"] {
        let found = named(collation)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    // An earlier build may have stored the name in another form than the one that is shown.
    let all = latest(rx)?.into_iter().map(|(project, _)| project);
    Ok(all.filter(|project| project.name == text).collect())
}

/// All projects, those with the latest events first, each with the time of its last event. No records are counted.
pub fn latest(rx: &Rx<'_>) -> Result<Vec<(Project, Option<i64>)>, OpError> {
    const LATEST: &str = "SELECT id, key, name, root, \
           (SELECT max(last_at) FROM sessions WHERE project = p.id) AS last_at \
         FROM projects p ORDER BY last_at DESC, id DESC";
    rx.sql(|db| {
        let mut select = db.prepare_cached(LATEST)?;
        select.query_map([], |row| Ok((read(row)?, row.cell(4)?)))?.collect()
    })
}

/// All projects with the counts of their records, those with the latest events first.
pub fn list(rx: &Rx<'_>) -> Result<Vec<ProjectOverview>, OpError> {
    let latest = latest(rx)?;
    let Some(totals) = activity_counts::totals(rx)? else {
        return latest
            .into_iter()
            .map(|(project, last_at)| overview(rx, project, last_at))
            .collect();
    };
    let sessions = sessions_by_project(rx)?;
    let overview = |(project, last_at): (Project, Option<i64>)| {
        let of = totals.iter().filter(|total| total.project == project.id);
        let (mut prompts, mut observations) = (0, 0);
        for total in of {
            match total.observations() {
                Some(_) => observations += total.records,
                None => prompts += total.records,
            }
        }
        let sessions = sessions.get(&project.id).copied().unwrap_or_default();
        let aliases = aliases(rx, project.id)?;
        Ok(ProjectOverview { project, aliases, sessions, prompts, observations, last_at })
    };
    latest.into_iter().map(overview).collect()
}

/// The number of listed sessions by project.
fn sessions_by_project(rx: &Rx<'_>) -> Result<BTreeMap<i64, u64>, OpError> {
    // Hidden sessions are few. All sessions are counted in an index that has only the project, and the hidden ones are
    // subtracted.
    let counts = format!(
        "SELECT project, sum(number) FROM (SELECT project, count(*) AS number FROM sessions \
         GROUP BY project UNION ALL SELECT project, -count(*) FROM sessions s WHERE {} \
         GROUP BY project) GROUP BY project",
        is_hidden("s")
    );
    rx.sql(|db| {
        let mut select = db.prepare_cached(&counts)?;
        select.query_map([], |row| Ok((row.cell(0)?, row.cell(1)?)))?.collect()
    })
}

/// A project with the counts of its records.
pub fn overview(
    rx: &Rx<'_>,
    project: Project,
    last_at: Option<i64>,
) -> Result<ProjectOverview, OpError> {
    let counts = format!(
        "SELECT (SELECT count(*) FROM sessions s WHERE project = ?1 AND {}), \
         (SELECT count(*) FROM prompts WHERE project = ?1), \
         (SELECT count(*) FROM observations WHERE project = ?1)",
        is_listed("s")
    );
    let (sessions, prompts, observations) = rx.sql(|db| {
        let mut select = db.prepare_cached(&counts)?;
        select.query_row([project.id], |row| Ok((row.cell(0)?, row.cell(1)?, row.cell(2)?)))
    })?;
    let aliases = aliases(rx, project.id)?;
    Ok(ProjectOverview { project, aliases, sessions, prompts, observations, last_at })
}

/// All remotes, roots and names that lead to a project.
pub fn aliases(rx: &Rx<'_>, project: i64) -> Result<Vec<String>, OpError> {
    const ALIASES: &str = "SELECT value FROM project_aliases WHERE project = ?1 ORDER BY value";
    let mut aliases: Vec<String> = rx
        .sql(|db| db.prepare_cached(ALIASES)?.query_map([project], |row| row.cell(0))?.collect())?;
    aliases.retain(|value| !value.starts_with(MADE));
    Ok(aliases)
}

/// These projects, or all projects for `None`. An empty list stays empty.
pub(crate) fn these_or_all<'a>(
    rx: &Rx<'_>,
    these: Option<&'a [i64]>,
) -> Result<Cow<'a, [i64]>, OpError> {
    match these {
        Some(these) => Ok(Cow::Borrowed(these)),
        None => ids(rx).map(Cow::Owned),
    }
}

/// The directories that lead to these projects.
pub fn roots(rx: &Rx<'_>, these: &[i64]) -> Result<Vec<String>, OpError> {
    let mut roots = Vec::new();
    for id in these {
        let of: Vec<String> =
            rx.sql(|db| db.prepare_cached(ROOTS)?.query_map([id], |row| row.cell(0))?.collect())?;
        roots.extend(of);
    }
    Ok(roots)
}

/// Whether sessions of the project began at one of these roots.
pub fn began_at(rx: &Rx<'_>, project: i64, roots: &[String]) -> Result<bool, OpError> {
    for root in roots {
        let found = rx.sql(|db| {
            db.prepare_cached(BEGAN_AT)?.query_row(params![project, root], |row| row.cell(0))
        })?;
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Every project's id.
pub fn ids(rx: &Rx<'_>) -> Result<Vec<i64>, OpError> {
    rx.sql(|db| {
        db.prepare_cached("SELECT id FROM projects")?.query_map([], |row| row.cell(0))?.collect()
    })
}

/// Makes a root, a remote or a name lead to the project, because a person says so.
pub fn alias(tx: &Tx<'_>, project: i64, value: &str) -> Result<(), OpError> {
    match alias_of(tx, value)? {
        Some((other, _)) if other != project => {
            let other = by_id(tx, other)?.map_or_else(String::new, |project| project.name);
            Err(OpError::new(Code::Conflict, format!("{value} leads to the project {other}"))
                .hint("`rekindle project merge` joins the two projects; `rekindle project split` takes a directory out of the other one."))
        }
        _ => put_alias(tx, project, value, true),
    }
}

/// Removes an alias of the project. An error if it is the key or the root of the project, or if sessions began there.
pub fn unalias(tx: &Tx<'_>, project: i64, value: &str) -> Result<(), OpError> {
    const BEGAN: &str = "SELECT count(*) FROM sessions WHERE project = ?1 AND root = ?2";
    let known = by_id(tx, project)?;
    let name = known.as_ref().map(|project| project.name.as_str()).unwrap_or_default();
    if alias_of(tx, value)?.is_none_or(|(of, _)| of != project) {
        return Err(OpError::not_found(format!("{value} is not an alias of {name}"))
            .with("param", "alias")
            .hint("`rekindle project list` shows the aliases of each project."));
    }
    let is_own = |one: &Project| one.key == value || one.root.as_deref() == Some(value);
    if known.as_ref().is_some_and(is_own) {
        let message = format!("{value} is what the project {name} is known by");
        return Err(OpError::invalid("alias", message)
            .hint("`rekindle project merge` joins it with another project."));
    }
    let began: u64 = tx.sql(|db| {
        db.prepare_cached(BEGAN)?.query_row(params![project, value], |row| row.cell(0))
    })?;
    if began > 0 {
        let message = format!("{} began in {value}", text::counted(began, "session"));
        return Err(OpError::new(Code::Conflict, message).with("param", "alias").hint(
            "`rekindle project split` makes the directory a project of its own, with its sessions.",
        ));
    }
    remove_alias(tx, value)
}

/// Makes one project of two: everything of `from` belongs to `into` afterwards, and all its names
/// lead there.
pub fn merge(tx: &Tx<'_>, from: i64, into: i64) -> Result<(), OpError> {
    if from == into {
        return Err(OpError::invalid("into", "a project cannot be merged with itself")
            .hint("Name two different projects; `rekindle project list` shows them."));
    }
    forget_found(tx);
    pauses::carry_over(tx, from, into)?;
    tx.registry().merge_project(tx, from, into)?;
    activity_counts::discard(tx)?;
    tx.sql(|db| {
        db.execute("DELETE FROM pauses WHERE project = ?1", [from])?;
        db.execute("DELETE FROM projects WHERE id = ?1", [from]).map(drop)
    })?;
    passages::merged(tx, from, into)
}

/// Makes a project of its own out of one root of a project: the sessions that were first seen
/// there move, and from now on that root leads to it.
pub fn split(tx: &Tx<'_>, project: i64, root: &str, now: i64) -> Result<Project, OpError> {
    let leads_here = alias_of(tx, root)?.is_some_and(|(of, _)| of == project);
    let whole = by_id(tx, project)?.is_some_and(|project| project.key == root);
    if !leads_here || whole {
        let message = format!(
            "{root} is not a root of the project, or is the root that identifies the project"
        );
        return Err(OpError::invalid("root", message)
            .hint("`rekindle project list` shows the roots of each project."));
    }
    let name = root.rsplit('/').find(|part| !part.is_empty()).unwrap_or(root);
    let (root_alone, name) = (Some(root.to_owned()), name.to_owned());
    let facts = ProjectFacts { root: root_alone, name, ..ProjectFacts::default() };
    let new = create(tx, root.to_owned(), &facts, now)?;
    put_alias(tx, new.id, root, true)?;
    pauses::carry_over(tx, project, new.id)?;
    tx.registry().split_project(tx, (project, root), new.id)?;
    activity_counts::discard(tx)?;
    tx.sql(|db| {
        let update = "UPDATE sessions SET project = ?3 WHERE project = ?1 AND root = ?2";
        db.execute(update, params![project, root, new.id])?;
        // The old project is shown under a root that is still its own.
        let update = "UPDATE projects SET root = (SELECT root FROM sessions \
             WHERE project = ?1 AND root IS NOT NULL ORDER BY last_at DESC LIMIT 1) \
             WHERE id = ?1 AND root = ?2";
        db.execute(update, params![project, root]).map(drop)
    })?;
    passages::moved(tx, new.id)?;
    Ok(new)
}

/// Deletes a project that has no records, no alias set by the user and no pause. Returns whether it is gone.
pub(crate) fn remove_unused(tx: &Tx<'_>, project: i64) -> Result<bool, OpError> {
    const IS_USED: &str = "SELECT 1 FROM project_aliases WHERE project = ?1 AND firm = 1 \
         UNION ALL SELECT 1 FROM pauses WHERE project = ?1";
    if tx.sql(|db| db.prepare_cached(IS_USED)?.exists([project]))? {
        return Ok(false);
    }
    remove_empty(tx, project)
}

/// Deletes an alias that is the root of no session and that the user did not make. Returns whether it is gone. The next
/// event of its directory stores it again.
pub(crate) fn remove_unused_alias(tx: &Tx<'_>, alias: i64) -> Result<bool, OpError> {
    const REMOVE: &str = "DELETE FROM project_aliases WHERE id = ?1 AND firm = 0 \
         AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.root = project_aliases.value)";
    forget_found(tx);
    Ok(tx.sql(|db| db.prepare_cached(REMOVE)?.execute([alias]))? == 1)
}

/// Deletes a project that has no records. Returns whether it did.
pub(crate) fn remove_empty(tx: &Tx<'_>, project: i64) -> Result<bool, OpError> {
    forget_found(tx);
    for records in tx.registry().records() {
        let any = format!("SELECT 1 FROM ({}) WHERE project = ?1", records.documents());
        if tx.sql(|db| db.prepare_cached(&any)?.exists([project]))? {
            return Ok(false);
        }
    }
    tx.sql(|db| {
        db.execute("DELETE FROM pauses WHERE project = ?1", [project])?;
        db.execute("DELETE FROM project_aliases WHERE project = ?1", [project])?;
        Ok(db.execute("DELETE FROM projects WHERE id = ?1", [project])? == 1)
    })
}

/// A project's name in its plain form, which an earlier build did not enforce. Empty for a missing project.
pub(crate) fn name(row: &Row<'_>, at: usize) -> rusqlite::Result<String> {
    let stored: String = row.cell(at)?;
    Ok(if stored.is_empty() { stored } else { shown_name(stored) })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Project> {
    Ok(Project { id: row.cell(0)?, key: row.cell(1)?, name: name(row, 2)?, root: row.cell(3)? })
}
