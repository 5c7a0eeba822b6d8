//! Whether a hint applies to the caller's situation, and why, in words. The gate is strict: a condition on an unknown
//! value fails.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use git::RepoName;
use model::hint::{HintScope, Os, scope_error};
use model::situation::Situation;
use model::{OpError, limits};
use pattern::glob::{Glob, normal_path};

/// The caller's situation, with normalised paths.
pub(crate) struct HintSituation<'s> {
    cwd: Option<String>,
    repo: Option<Repo<'s>>,
    branch: Option<&'s str>,
    os: Option<&'s str>,
    env: &'s BTreeMap<String, String>,
    open: OpenFiles,
}

/// A repository as it was written and as it is compared.
struct Repo<'s> {
    text: &'s str,
    name: RepoName,
}

impl<'s> Repo<'s> {
    fn new(text: &'s str) -> Repo<'s> {
        Repo { text, name: RepoName::parse(text) }
    }
}

/// The open files with their parent directories, and every component of their paths.
#[derive(Default)]
struct OpenFiles {
    paths: BTreeSet<String>,
    steps: BTreeSet<String>,
}

impl<'s> HintSituation<'s> {
    /// The situation that the caller gives; missing members are taken from the surface's observation.
    pub(crate) fn new(
        context: Option<&'s Situation>,
        seen: &'s Situation,
    ) -> Result<HintSituation<'s>, OpError> {
        let Some(said) = context else { return Ok(HintSituation::of(seen)) };
        if let Some(os) = said.os.as_deref().filter(|os| Os::parse(os).is_none()) {
            let message = format!("'{os}' is not linux, darwin or windows");
            return Err(OpError::invalid("context.os", message));
        }
        let cwd = said.cwd.as_deref().or(seen.cwd.as_deref());
        let files = if said.files_open.is_empty() { &seen.files_open } else { &said.files_open };
        Ok(HintSituation {
            cwd: cwd.map(normal_path),
            repo: said.repo.as_deref().or(seen.repo.as_deref()).map(Repo::new),
            branch: said.branch.as_deref().or(seen.branch.as_deref()),
            os: said.os.as_deref().or(seen.os.as_deref()),
            env: if said.env.is_empty() { &seen.env } else { &said.env },
            open: OpenFiles::new(files),
        })
    }

    pub(crate) fn has_open_files(&self) -> bool {
        !self.open.paths.is_empty()
    }

    /// The situation that the surface observed.
    pub(crate) fn of(seen: &'s Situation) -> HintSituation<'s> {
        HintSituation {
            cwd: seen.cwd.as_deref().map(normal_path),
            repo: seen.repo.as_deref().map(Repo::new),
            branch: seen.branch.as_deref(),
            os: seen.os.as_deref(),
            env: &seen.env,
            open: OpenFiles::new(&seen.files_open),
        }
    }
}

impl OpenFiles {
    fn new(files: &[String]) -> OpenFiles {
        let mut open = OpenFiles::default();
        for file in files.iter().take(limits::HINT_OPEN_FILES_MAX) {
            let path = normal_path(file);
            open.steps.extend(path.split('/').filter(|step| !step.is_empty()).map(str::to_owned));
            let mut rest = path.as_str();
            while let Some((above, _)) =
                rest.rsplit_once('/').filter(|(above, _)| !above.is_empty())
            {
                open.paths.insert(above.to_owned());
                rest = above;
            }
            open.paths.insert(path);
        }
        open
    }
}

/// A text of a scope: compared exactly, or as a glob.
enum ScopeRule {
    Exact,
    Glob(Glob),
    /// Not a valid glob for this build, but for the one that stored it: it matches nothing.
    Broken,
}

impl ScopeRule {
    fn fits(&self, rule: &str, text: &str) -> bool {
        match self {
            ScopeRule::Exact => rule == text,
            ScopeRule::Glob(glob) => rule == text || glob.matches(text),
            ScopeRule::Broken => false,
        }
    }
}

/// The compiled part of a scope: rules in the order of its lists.
#[derive(Default)]
pub(crate) struct Gate {
    cwd: Vec<ScopeRule>,
    repo: Vec<RepoName>,
    branch: Vec<ScopeRule>,
}

/// The condition that failed.
pub(crate) enum FailedCondition<'g> {
    Cwd,
    Repo,
    Branch,
    Os,
    EnvUnset(&'g str),
    EnvOther(&'g str),
}

impl Gate {
    /// Compiles a scope's globs; `scope_invalid` if one is not valid.
    pub(crate) fn new(scope: Option<&HintScope>) -> Result<Gate, OpError> {
        Gate::compile(scope, |field, text, why| {
            Err(scope_error(field, format!("'{text}' is not a glob: {why}"))
                .hint("`*` matches inside one name, `**` any number of names, `{a,b}` a choice; write `\\` before a character that is meant as it is."))
        })
    }

    /// Compiles the globs of a stored scope. Those were valid when they were written, so an invalid one matches
    /// nothing.
    pub(crate) fn load(scope: Option<&HintScope>) -> Gate {
        Gate::compile(scope, |_, _, _| Ok(ScopeRule::Broken)).unwrap_or_default()
    }

    fn compile(
        scope: Option<&HintScope>,
        broken: impl Fn(&str, &str, &str) -> Result<ScopeRule, OpError>,
    ) -> Result<Gate, OpError> {
        let Some(scope) = scope else { return Ok(Gate::default()) };
        let glob = |field: &str, text: &String| {
            Glob::hint(text)
                .map(ScopeRule::Glob)
                .or_else(|error| broken(field, text, &error.message))
        };
        let branch = |text: &String| {
            if Glob::is_literal(text) { Ok(ScopeRule::Exact) } else { glob("branch", text) }
        };
        Ok(Gate {
            cwd: scope
                .cwd_glob
                .iter()
                .map(|text| glob("cwd_glob", text))
                .collect::<Result<_, _>>()?,
            repo: scope.repos().iter().map(|text| RepoName::parse(text)).collect(),
            branch: scope.branch.iter().map(branch).collect::<Result<_, _>>()?,
        })
    }

    fn cwd_that_fits<'t>(&self, scope: &'t HintScope, path: &str) -> Option<&'t String> {
        let mut rules = self.cwd.iter().zip(&scope.cwd_glob);
        rules.find(|(rule, text)| rule.fits(text, path)).map(|(_, text)| text)
    }

    /// Checks every condition of the scope. Returns the first that failed.
    pub(crate) fn check<'g>(
        &self,
        scope: &'g HintScope,
        place: &HintSituation<'_>,
    ) -> Result<(), FailedCondition<'g>> {
        let holds = |given: bool, holds: bool, miss: FailedCondition<'g>| {
            if given && !holds { Err(miss) } else { Ok(()) }
        };
        let cwd = place.cwd.as_deref();
        let cwd_fits = cwd.is_some_and(|cwd| self.cwd_that_fits(scope, cwd).is_some());
        holds(!scope.cwd_glob.is_empty(), cwd_fits, FailedCondition::Cwd)?;
        let repo_fits =
            place.repo.as_ref().is_some_and(|repo| self.repo.iter().any(|one| one.is(&repo.name)));
        holds(!self.repo.is_empty(), repo_fits, FailedCondition::Repo)?;
        let mut branches = self.branch.iter().zip(&scope.branch);
        let branch_fits =
            place.branch.is_some_and(|branch| branches.any(|(rule, text)| rule.fits(text, branch)));
        holds(!scope.branch.is_empty(), branch_fits, FailedCondition::Branch)?;
        let os_fits = place.os.is_some_and(|os| scope.os.iter().any(|one| one.word() == os));
        holds(!scope.os.is_empty(), os_fits, FailedCondition::Os)?;
        for name in &scope.env_required {
            holds(true, place.env.contains_key(name), FailedCondition::EnvUnset(name))?;
        }
        for (name, values) in &scope.env_match {
            let Some(value) = place.env.get(name) else {
                return Err(FailedCondition::EnvUnset(name));
            };
            holds(true, values.as_slice().contains(value), FailedCondition::EnvOther(name))?;
        }
        Ok(())
    }

    /// Why the hint applies.
    pub(crate) fn reasons(
        &self,
        scope: Option<&HintScope>,
        place: &HintSituation<'_>,
    ) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(scope) = scope {
            let cwd = place.cwd.as_deref().and_then(|cwd| self.cwd_that_fits(scope, cwd));
            reasons.extend(cwd.map(|glob| format!("cwd matched {glob}")));
            if !self.repo.is_empty() {
                reasons.push("repo matched".to_owned());
            }
            let branch = place.branch.filter(|_| !scope.branch.is_empty());
            reasons.extend(branch.map(|branch| format!("branch={branch} allowed")));
            let os = place.os.filter(|_| !scope.os.is_empty());
            reasons.extend(os.map(|os| format!("os={os} matched")));
            if !scope.env_required.is_empty() {
                let names = scope.env_required.join(", ");
                reasons.push(format!("required env vars present: {names}"));
            }
            if !scope.env_match.is_empty() {
                reasons.push("env values matched".to_owned());
            }
        }
        if reasons.is_empty() {
            reasons.push("no scope restrictions".to_owned());
        }
        reasons
    }

    /// Whether an open file belongs to the component, or matches the globs.
    pub(crate) fn open_file(
        &self,
        component: &str,
        scope: Option<&HintScope>,
        place: &HintSituation<'_>,
    ) -> bool {
        let open = &place.open;
        let in_globs =
            |path: &String| scope.is_some_and(|scope| self.cwd_that_fits(scope, path).is_some());
        open.steps.contains(component) || (!self.cwd.is_empty() && open.paths.iter().any(in_globs))
    }
}

impl FailedCondition<'_> {
    /// The condition in words. Values of the caller's environment are not repeated.
    pub(crate) fn text(&self, scope: &HintScope, place: &HintSituation<'_>) -> String {
        let against = |name: &str, value: Option<&str>, wanted: Vec<&str>, how: &str| {
            let wanted = wanted.join(", ");
            match value {
                Some(value) => format!("{name}={value} {how} [{wanted}]"),
                None => format!("{name} is not known, the hint needs one of [{wanted}]"),
            }
        };
        let texts = |list: &'_ [String]| list.iter().map(|text| Cow::from(text.clone())).collect();
        let list: Vec<Cow<'_, str>> = match self {
            FailedCondition::Cwd => texts(&scope.cwd_glob),
            FailedCondition::Repo => texts(scope.repos()),
            FailedCondition::Branch => texts(&scope.branch),
            FailedCondition::Os => scope.os.iter().map(|os| Cow::from(os.word())).collect(),
            FailedCondition::EnvUnset(_) | FailedCondition::EnvOther(_) => Vec::new(),
        };
        let wanted: Vec<&str> = list.iter().map(AsRef::as_ref).collect();
        match self {
            FailedCondition::Cwd => against("cwd", place.cwd.as_deref(), wanted, "matches none of"),
            FailedCondition::Repo => {
                against("repo", place.repo.as_ref().map(|repo| repo.text), wanted, "not in")
            }
            FailedCondition::Branch => against("branch", place.branch, wanted, "not in"),
            FailedCondition::Os => against("os", place.os, wanted, "not in"),
            FailedCondition::EnvUnset(name) => format!("env {name} is not set"),
            // The required value of a variable may be private, so it is not shown.
            FailedCondition::EnvOther(name) => format!("env {name} has another value"),
        }
    }
}
