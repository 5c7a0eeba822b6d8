//! Whether a shell finds the program, and the line that makes it do so.

use std::path::{Path, PathBuf};

/// The advice for a user whose shell does not find the program; none if it does.
pub(super) fn advice(program: &Path) -> Option<String> {
    let dir = program.parent()?;
    if found(program) {
        return None;
    }
    let var = |name: &str| std::env::var(name).unwrap_or_default();
    let line = line(dir, Path::new(&var("HOME")), &var("SHELL"));
    Some(format!("Your shell does not find it: {} is not in PATH. Run `{line}`.", dir.display()))
}

/// Whether a directory of PATH has this program, or is the program's own directory.
fn found(program: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (wanted, dir) = (real(program), program.parent().map(real));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = program.file_name().unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|of| of.is_absolute())
        .any(|of| Some(real(&of)) == dir || real(&of.join(name)) == wanted)
}

/// The line that adds a directory to PATH: for good in fish, csh, tcsh, zsh and bash, in another shell until it ends.
fn line(dir: &Path, home: &Path, shell: &str) -> String {
    let shown = match dir.strip_prefix(home) {
        Ok(below) if home.is_absolute() => Path::new("$HOME").join(below),
        _ => PathBuf::from(dir),
    };
    let shown = shown.display();
    let shell = Path::new(shell).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let export = format!("export PATH=\"{shown}:$PATH\"");
    match shell {
        "fish" => format!("fish_add_path \"{shown}\""),
        "csh" | "tcsh" => format!("echo 'set path = (\"{shown}\" $path)' >> ~/.{shell}rc"),
        "zsh" => format!("echo '{export}' >> ~/.zshrc"),
        "bash" => format!("echo '{export}' >> ~/.bashrc"),
        _ => export,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_has_a_line_of_its_own() {
        let of = |shell: &str| line(Path::new("/home/u/.local/bin"), Path::new("/home/u"), shell);
        let export = "export PATH=\"$HOME/.local/bin:$PATH\"";
        assert_eq!(of("/usr/bin/bash"), format!("echo '{export}' >> ~/.bashrc"));
        assert_eq!(of("/bin/zsh"), format!("echo '{export}' >> ~/.zshrc"));
        assert_eq!(of("/usr/bin/fish"), "fish_add_path \"$HOME/.local/bin\"");
        let tcsh = "echo 'set path = (\"$HOME/.local/bin\" $path)' >> ~/.tcshrc";
        assert_eq!(of("/bin/tcsh"), tcsh);
        assert_eq!(of(""), export);
        let elsewhere = line(Path::new("/opt/tools"), Path::new("/home/u"), "sh");
        assert_eq!(elsewhere, "export PATH=\"/opt/tools:$PATH\"");
    }
}
