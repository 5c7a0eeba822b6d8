//! Options of a program: short flags in one word (`-xw`), options with values of their own (`-u bob -S`), and programs
//! that run another one.

/// Programs that run another program with their own input: the name, the number of arguments before that program, and
/// the options with a value.
const RUNNERS: [(&str, usize, &str); 24] = [
    ("sudo", 0, "-u -g -p -C -D -h -R -r -T -t -U --user --group --prompt --chdir --host"),
    ("doas", 0, "-u -C"),
    ("env", 0, "-u -C --unset --chdir"),
    ("npx", 0, ""),
    ("bunx", 0, ""),
    ("pnpm", 0, ""),
    ("time", 0, "-f -o"),
    ("command", 0, ""),
    ("exec", 0, "-a"),
    ("nohup", 0, ""),
    ("setsid", 0, ""),
    ("nice", 0, "-n"),
    ("ionice", 0, "-c -n"),
    ("stdbuf", 0, "-i -o -e"),
    ("timeout", 1, "-k -s"),
    ("gtimeout", 1, "-k -s"),
    ("chroot", 1, ""),
    ("flock", 1, "-w"),
    ("taskset", 1, ""),
    ("ssh", 1, "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w"),
    ("docker", 2, "-e -u -w -H -c --env --user --workdir --host --context"),
    ("podman", 2, "-e -u -w --env --user --workdir"),
    ("kubectl", 2, "-n -c --namespace --container --context"),
    ("oc", 2, "-n -c --namespace --container --context"),
];

/// The text after a short flag in a word: nothing in `-xw`, the value in `-xwVALUE`. An option with a value ends the
/// flags of a word, so `-hweb` has no `-w`.
pub(super) fn after_short<'w>(values: &str, word: &'w [u8], flag: &str) -> Option<&'w [u8]> {
    let [b'-', wanted] = flag.as_bytes() else { return None };
    let letters = word.strip_prefix(b"-")?;
    for (index, letter) in letters.iter().enumerate() {
        if letter == wanted {
            return letters.get(index + 1..);
        }
        let in_flags = letter.is_ascii_alphanumeric() || *letter == b'#';
        if !in_flags || takes_value(values, &[b'-', *letter]) {
            return None;
        }
    }
    None
}

/// Whether an option is in this list of options with values.
fn takes_value(values: &str, option: &[u8]) -> bool {
    values.split(' ').any(|value| value.as_bytes() == option)
}

/// Whether the value of this option, or of the last of several short flags, is the next word.
pub(super) fn wants_next(values: &str, word: &[u8]) -> bool {
    if word.starts_with(b"--") {
        return takes_value(values, word);
    }
    let letters = word.strip_prefix(b"-").unwrap_or_default();
    let first = letters.iter().position(|letter| takes_value(values, &[b'-', *letter]));
    first.is_some_and(|first| first + 1 == letters.len())
}

/// Whether a pipe before these words reaches the program after them: they are programs that run another one, with their
/// options and arguments, settings of variables, and the program's directory.
pub(super) fn pass_input_on(words: &[u8]) -> bool {
    let (mut arguments, mut values, mut is_value) = (0, "", false);
    let mut words = words.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.all(|word| {
        let quotes = word.iter().take_while(|byte| b"\"'\\".contains(byte)).count();
        let name = word.get(quotes..).unwrap_or_default();
        if std::mem::take(&mut is_value) {
            return true;
        }
        if name.starts_with(b"-") {
            is_value = wants_next(values, name);
            return true;
        }
        let variable = name.iter().position(|byte| *byte == b'=').is_some_and(|equals| equals > 0);
        let directory = name.starts_with(b"/") && name.ends_with(b"/");
        if quotes == word.len() || directory || variable {
            return true;
        }
        // The argument of a runner may have the name of another: `docker exec`.
        if arguments > 0 {
            arguments -= 1;
            return !word.iter().any(|byte| b";&".contains(byte));
        }
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let runner = RUNNERS.iter().find(|row| row.0.as_bytes() == base);
        if let Some((_, count, options)) = runner {
            (arguments, values) = (*count, *options);
        }
        runner.is_some()
    })
}
