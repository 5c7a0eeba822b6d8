//! Files of a context as absolute paths, resolved without a look at the disk: a file may not exist yet.

use std::path::Path;

use model::OpError;

/// The absolute path of a file, against the home directory and the directory of the call. Paths of Windows stay as they
/// are.
pub(crate) fn resolved(
    path: &str,
    home: Option<&str>,
    cwd: Option<&str>,
) -> Result<String, OpError> {
    if is_of_windows(path) {
        return Ok(path.to_owned());
    }
    let whole = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            home.map(|home| format!("{home}{rest}"))
        }
        _ if path.starts_with('/') => Some(path.to_owned()),
        _ => cwd.map(|cwd| format!("{cwd}/{path}")),
    };
    let whole = whole.ok_or_else(|| {
        OpError::invalid("items", "a relative path needs the directory that it is in")
            .hint("Name files by their absolute paths.")
    })?;
    Ok(place::straight(Path::new(&whole)).to_string_lossy().into_owned())
}

/// `C:\…`, `C:/…` or `\\host\…`.
fn is_of_windows(path: &str) -> bool {
    let mut letters = path.chars();
    let drive = [letters.next(), letters.next(), letters.next()];
    path.starts_with("\\\\")
        || matches!(drive, [Some(letter), Some(':'), Some('\\' | '/')] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_by_their_letters_alone() {
        let table = [
            ("/a/b", "/a/b"),
            ("/a//b/./c/../d/", "/a/b/d"),
            ("/../..", "/"),
            ("~", "/home/u"),
            ("~/notes.md", "/home/u/notes.md"),
            ("~other/x", "/srv/~other/x"),
            ("src/main.rs", "/srv/src/main.rs"),
            ("../x", "/x"),
            ("C:\\a\\..\\b", "C:\\a\\..\\b"),
            ("\\\\host\\share", "\\\\host\\share"),
        ];
        for (path, expected) in table {
            assert_eq!(resolved(path, Some("/home/u"), Some("/srv")).unwrap(), expected, "{path}");
        }
        assert!(resolved("src/main.rs", Some("/home/u"), None).is_err());
        assert!(resolved("~/x", None, None).is_err());
    }
}
