//! Settings from `config.toml` and the environment. A broken file is reported, never ignored.

use std::path::{Path, PathBuf};

use contract::config::days_by_type;
use contract::{Config, ConfigKey, ConfigKind, Table};
use model::observation::{RecordType, unknown_type};
use model::{Code, OpError, limits};
use toml_edit::{DocumentMut, Item, Value};

/// Loads the settings: defaults, then the file, then the environment.
pub fn load(
    table: &Table,
    file: &Path,
    var: &dyn Fn(&str) -> Option<String>,
) -> Result<Config, OpError> {
    let keys = table.config_keys();
    let mut config = Config::defaults(keys);
    let document = read(file)?;
    let mut entries = Vec::new();
    flatten(document.as_item(), String::new(), &mut entries);
    for (name, item) in entries {
        let key = keys.iter().find(|key| key.key == name).ok_or_else(|| {
            broken(file, &document, item, format!("there is no setting '{name}'"))
        })?;
        let text = text_of(item).ok_or_else(|| {
            broken(file, &document, item, format!("'{name}' is not of type {}", key.kind.word()))
        })?;
        set_checked(table, &mut config, key, &text)
            .map_err(|why| broken(file, &document, item, why))?;
    }
    for key in keys {
        let Some((name, value)) = from_env(key, var) else { continue };
        set_checked(table, &mut config, key, &value).map_err(|why| {
            OpError::new(Code::Invalid, format!("environment variable {name}: {why}"))
                .with("param", name)
        })?;
    }
    Ok(config)
}

/// Reads a single setting without validating the others, for the hook, which has little time.
pub fn one(
    key: &ConfigKey,
    file: &Path,
    var: &dyn Fn(&str) -> Option<String>,
) -> Result<String, OpError> {
    let mut value = from_env(key, var).map(|(_, value)| value);
    // Opening a named pipe at this path would block for ever.
    if value.is_none() && file.is_file() {
        let document = read(file)?;
        let mut entries = Vec::new();
        flatten(document.as_item(), String::new(), &mut entries);
        value =
            entries.iter().find(|(name, _)| name == key.key).and_then(|(_, item)| text_of(item));
    }
    let mut config = Config::defaults([key]);
    if let Some(value) = value {
        config.set(key, &value).map_err(|why| OpError::new(Code::Invalid, why))?;
    }
    Ok(config.text(key.key).to_owned())
}

/// The value that the environment gives a setting, and the variable's name. Our own name is tried first.
fn from_env(
    key: &ConfigKey,
    var: &dyn Fn(&str) -> Option<String>,
) -> Option<(&'static str, String)> {
    key.env.iter().find_map(|name| Some((*name, var(name)?)))
}

/// The settings file as it was loaded, to notice later changes.
pub(crate) struct LoadedFile {
    file: PathBuf,
    text: Option<String>,
}

impl LoadedFile {
    pub(crate) fn from(file: &Path) -> LoadedFile {
        LoadedFile { file: file.to_owned(), text: text(file).ok() }
    }

    /// A message if the file has changed since then, or is broken now.
    pub(crate) fn outdated(&self, table: &Table) -> Option<String> {
        if text(&self.file).ok() == self.text {
            return None;
        }
        Some(match load(table, &self.file, &|_| None) {
            Ok(_) => format!("{} was changed since the daemon started", self.file.display()),
            Err(error) => error.message,
        })
    }
}

/// Writes one setting into the file; everything else stays as it is.
pub fn set(table: &Table, file: &Path, name: &str, value: &str) -> Result<(), OpError> {
    let key = find(table.config_keys(), name)?;
    set_checked(table, &mut Config::defaults([key]), key, value).map_err(|why| {
        let hint = format!("`rekindle config get {name}` shows the value in force.");
        OpError::invalid("value", why).hint(hint)
    })?;
    let mut document = read(file)?;
    let item = match key.kind {
        ConfigKind::Integer | ConfigKind::UpTo(_) | ConfigKind::Port => {
            value.parse::<i64>().map(Value::from).unwrap_or_else(|_| value.into())
        }
        ConfigKind::Boolean => Value::from(matches!(value, "true" | "1" | "on" | "yes")),
        _ => value.into(),
    };
    match name.split_once('.') {
        Some((table, rest)) => {
            let table = document.entry(table).or_insert_with(toml_edit::table);
            table[rest] = toml_edit::value(item);
        }
        None => document[name] = toml_edit::value(item),
    }
    save(file, &document.to_string())
}

/// Removes one setting from the file, so that its default applies; everything else stays as it is. Returns whether the
/// file had it.
pub fn unset(table: &Table, file: &Path, name: &str) -> Result<bool, OpError> {
    find(table.config_keys(), name)?;
    let mut document = read(file)?;
    let had = match name.split_once('.') {
        Some((table, rest)) => {
            let settings = document.get_mut(table).and_then(Item::as_table_like_mut);
            settings.and_then(|settings| settings.remove(rest)).is_some()
        }
        None => document.remove(name).is_some(),
    };
    if had {
        save(file, &document.to_string())?;
    }
    Ok(had)
}

/// Sets a value after checking it against the key's type and, for toolsets and types of records, against the table.
fn set_checked(
    table: &Table,
    config: &mut Config,
    key: &ConfigKey,
    value: &str,
) -> Result<(), String> {
    if key.kind == ConfigKind::Toolsets {
        table.toolset(value).map_err(|error| {
            format!("{}: {}. {}", key.key, error.message, error.hint.unwrap_or_default())
        })?;
    }
    if key.kind == ConfigKind::DaysByType {
        let known: Vec<&str> = table.record_types().collect();
        let given = days_by_type(value).unwrap_or_default();
        if let Some((kind, _)) = given.iter().find(|(kind, _)| !known.contains(&kind.word())) {
            let error = unknown_type(kind.word(), known);
            return Err(format!(
                "{}: {}. {}",
                key.key,
                error.message,
                error.hint.unwrap_or_default()
            ));
        }
        let is_kept = |kind: &RecordType| store::declared_kinds().any(|kept| kept == kind.word());
        if let Some((kind, _)) = given.iter().find(|(kind, _)| is_kept(kind)) {
            return Err(format!("{}: records of the type {} never expire", key.key, kind.word()));
        }
    }
    config.set(key, value)
}

/// The declared key of this name.
pub fn find<'k>(keys: &'k [ConfigKey], name: &str) -> Result<&'k ConfigKey, OpError> {
    keys.iter().find(|key| key.key == name).ok_or_else(|| {
        let known = keys.iter().map(|key| key.key);
        let meant = text::suggest::did_you_mean(name, known).map(|meant| format!("{meant} "));
        OpError::not_found(format!("there is no setting '{name}'"))
            .hint(format!("{}`rekindle config` lists them all.", meant.unwrap_or_default()))
    })
}

fn text(file: &Path) -> std::io::Result<String> {
    regular::read_text(file, limits::SMALL_FILE_BYTES_MAX)
}

fn read(file: &Path) -> Result<DocumentMut, OpError> {
    let text = match text(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(OpError::new(
                Code::Invalid,
                format!("cannot read {}: {error}", file.display()),
            )
            .hint("Check that you may read the file, or move it away to run with the defaults."));
        }
    };
    text.parse().map_err(|error: toml_edit::TomlError| {
        let line = error.span().map_or(0, |span| line_of(&text, span.start));
        OpError::new(
            Code::Invalid,
            format!("{}, line {line}: {}", file.display(), error.message().trim()),
        )
        .with("line", line)
        .hint("Fix the file, or move it away to run with the defaults.")
    })
}

fn broken(file: &Path, document: &DocumentMut, item: &Item, why: String) -> OpError {
    // Spans are lost when a document is made editable, so the line is searched in the rendered text.
    let text = document.to_string();
    let needle = item.to_string();
    let line = text.find(needle.trim()).map_or(0, |at| line_of(&text, at));
    OpError::new(Code::Invalid, format!("{}, line {line}: {why}", file.display()))
        .with("line", line)
        .hint("Correct or delete this line; after that, `rekindle config` lists all settings.")
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// Every leaf of the document with its dotted name.
fn flatten<'d>(item: &'d Item, name: String, out: &mut Vec<(String, &'d Item)>) {
    match item.as_table_like() {
        Some(table) => {
            for (part, item) in table.iter() {
                let name = if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
                flatten(item, name, out);
            }
        }
        None => out.push((name, item)),
    }
}

fn text_of(item: &Item) -> Option<String> {
    match item.as_value()? {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Boolean(flag) => Some(flag.value().to_string()),
        _ => None,
    }
}

/// Replaces the file atomically: a crash leaves the old or the new one.
fn save(file: &Path, text: &str) -> Result<(), OpError> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let write = || -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let temporary = file.with_extension("toml.new");
        let mut options = std::fs::OpenOptions::new();
        let mut out =
            options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        std::io::Write::write_all(&mut out, text.as_bytes())?;
        out.sync_all()?;
        std::fs::rename(&temporary, file)
    };
    write().map_err(|error| {
        OpError::unavailable(format!("cannot write {}: {error}", file.display()))
            .hint("Check that you may write to its directory.")
    })
}

#[cfg(test)]
mod tests;
