//! Whether a hint holds where the caller stands, and why, in words. The gate is strict: a condition
//! on something that is not known does not hold.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use git::RepoName;
use model::hint::{HintScope, Os, scope_error};
use model::situation::Situation;
use model::{OpError, limits};
use pattern::glob::{Glob, normal_path};

/// Where the caller stands, with paths in one notation.
pub(crate) struct Place<'s> {
    cwd: Option<String>,
    repo: Option<Repo<'s>>,
    branch: Option<&'s str>,
    os: Option<&'s str>,
    env: &'s BTreeMap<String, String>,
    open: OpenFiles,
}

/// A repository as it is written and as it is compared.
struct Repo<'s> {
    text: &'s str,
    name: RepoName,
}

impl<'s> Repo<'s> {
    fn new(text: &'s str) -> Repo<'s> {
        Repo { text, name: RepoName::parse(text) }
    }
}

/// The open files with the folders above them, and every step of their paths.
#[derive(Default)]
struct OpenFiles {
    paths: BTreeSet<String>,
    steps: BTreeSet<String>,
}

impl<'s> Place<'s> {
    /// What the caller says about where they stand; what they leave out is as the surface saw it.
    pub(crate) fn new(
        context: Option<&'s Situation>,
        seen: &'s Situation,
    ) -> Result<Place<'s>, OpError> {
        let Some(said) = context else { return Ok(Place::of(seen)) };
        if let Some(os) = said.os.as_deref().filter(|os| Os::parse(os).is_none()) {
            let message = format!("'{os}' is none of linux, darwin, windows");
            return Err(OpError::invalid("context.os", message));
        }
        let cwd = said.cwd.as_deref().or(seen.cwd.as_deref());
        let files = if said.files_open.is_empty() { &seen.files_open } else { &said.files_open };
        Ok(Place {
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

    /// Where the surface saw the caller.
    pub(crate) fn of(seen: &'s Situation) -> Place<'s> {
        Place {
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

/// A text of a scope that is compared as it is or as a glob.
enum Rule {
    Exact,
    Glob(Glob),
    /// Stored by a build that read it otherwise: nothing fits it.
    Broken,
}

impl Rule {
    fn fits(&self, rule: &str, text: &str) -> bool {
        match self {
            Rule::Exact => rule == text,
            Rule::Glob(glob) => rule == text || glob.matches(text),
            Rule::Broken => false,
        }
    }
}

/// The compiled part of a scope: rules in the order of its lists.
#[derive(Default)]
pub(crate) struct Gate {
    cwd: Vec<Rule>,
    repo: Vec<RepoName>,
    branch: Vec<Rule>,
}

/// The condition that does not hold.
pub(crate) enum Miss<'g> {
    Cwd,
    Repo,
    Branch,
    Os,
    EnvUnset(&'g str),
    EnvOther(&'g str),
}

impl Gate {
    /// Compiles a scope's globs; `scope_invalid` for one that is none.
    pub(crate) fn new(scope: Option<&HintScope>) -> Result<Gate, OpError> {
        Gate::compile(scope, |field, text, why| {
            Err(scope_error(field, format!("'{text}' is not a glob: {why}"))
                .hint("See the guide to hints for what a glob may hold."))
        })
    }

    /// The same for what the journal holds, which was good when it was written.
    pub(crate) fn load(scope: Option<&HintScope>) -> Gate {
        Gate::compile(scope, |_, _, _| Ok(Rule::Broken)).unwrap_or_default()
    }

    fn compile(
        scope: Option<&HintScope>,
        broken: impl Fn(&str, &str, &str) -> Result<Rule, OpError>,
    ) -> Result<Gate, OpError> {
        let Some(scope) = scope else { return Ok(Gate::default()) };
        let glob = |field: &str, text: &String| {
            Glob::hint(text).map(Rule::Glob).or_else(|error| broken(field, text, &error.message))
        };
        let branch = |text: &String| {
            if Glob::is_literal(text) { Ok(Rule::Exact) } else { glob("branch", text) }
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

    /// Whether every condition of the scope holds; else the first that does not.
    pub(crate) fn check<'g>(
        &self,
        scope: &'g HintScope,
        place: &Place<'_>,
    ) -> Result<(), Miss<'g>> {
        let holds = |given: bool, holds: bool, miss: Miss<'g>| {
            if given && !holds { Err(miss) } else { Ok(()) }
        };
        let cwd = place.cwd.as_deref();
        let cwd_fits = cwd.is_some_and(|cwd| self.cwd_that_fits(scope, cwd).is_some());
        holds(!scope.cwd_glob.is_empty(), cwd_fits, Miss::Cwd)?;
        let repo_fits =
            place.repo.as_ref().is_some_and(|repo| self.repo.iter().any(|one| one.is(&repo.name)));
        holds(!self.repo.is_empty(), repo_fits, Miss::Repo)?;
        let mut branches = self.branch.iter().zip(&scope.branch);
        let branch_fits =
            place.branch.is_some_and(|branch| branches.any(|(rule, text)| rule.fits(text, branch)));
        holds(!scope.branch.is_empty(), branch_fits, Miss::Branch)?;
        let os_fits = place.os.is_some_and(|os| scope.os.iter().any(|one| one.word() == os));
        holds(!scope.os.is_empty(), os_fits, Miss::Os)?;
        for name in &scope.env_required {
            holds(true, place.env.contains_key(name), Miss::EnvUnset(name))?;
        }
        for (name, values) in &scope.env_match {
            let Some(value) = place.env.get(name) else { return Err(Miss::EnvUnset(name)) };
            holds(true, values.as_slice().contains(value), Miss::EnvOther(name))?;
        }
        Ok(())
    }

    /// Why an eligible hint is eligible.
    pub(crate) fn reasons(&self, scope: Option<&HintScope>, place: &Place<'_>) -> Vec<String> {
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

    /// Whether an open file belongs to the component, or lies where the globs say.
    pub(crate) fn open_file(
        &self,
        component: &str,
        scope: Option<&HintScope>,
        place: &Place<'_>,
    ) -> bool {
        let open = &place.open;
        let in_globs =
            |path: &String| scope.is_some_and(|scope| self.cwd_that_fits(scope, path).is_some());
        open.steps.contains(component) || (!self.cwd.is_empty() && open.paths.iter().any(in_globs))
    }
}

impl Miss<'_> {
    /// The condition in words. The caller's own environment is not repeated.
    pub(crate) fn text(&self, scope: &HintScope, place: &Place<'_>) -> String {
        let against = |name: &str, value: Option<&str>, wanted: Vec<&str>, how: &str| {
            let wanted = wanted.join(", ");
            match value {
                Some(value) => format!("{name}={value} {how} [{wanted}]"),
                None => format!("{name} is not known, the hint wants one of [{wanted}]"),
            }
        };
        let texts = |list: &'_ [String]| list.iter().map(|text| Cow::from(text.clone())).collect();
        let list: Vec<Cow<'_, str>> = match self {
            Miss::Cwd => texts(&scope.cwd_glob),
            Miss::Repo => texts(scope.repos()),
            Miss::Branch => texts(&scope.branch),
            Miss::Os => scope.os.iter().map(|os| Cow::from(os.word())).collect(),
            Miss::EnvUnset(_) | Miss::EnvOther(_) => Vec::new(),
        };
        let wanted: Vec<&str> = list.iter().map(AsRef::as_ref).collect();
        match self {
            Miss::Cwd => against("cwd", place.cwd.as_deref(), wanted, "matches none of"),
            Miss::Repo => {
                against("repo", place.repo.as_ref().map(|repo| repo.text), wanted, "not in")
            }
            Miss::Branch => against("branch", place.branch, wanted, "not in"),
            Miss::Os => against("os", place.os, wanted, "not in"),
            Miss::EnvUnset(name) => format!("env {name} is not set"),
            // What a variable has to be is nobody's business but of who set it.
            Miss::EnvOther(name) => format!("env {name} has another value"),
        }
    }
}
