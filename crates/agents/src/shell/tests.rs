//! Command lines and the commands in them; and that no line, whatever it holds, does harm.

use super::*;

fn told(line: &str) -> String {
    let commands = commands(line).into_iter().map(|command| {
        let mut words = vec![command.program];
        words.extend(command.args);
        words.join(",")
    });
    commands.collect::<Vec<_>>().join(" ; ")
}

/// A line, and its commands with their words.
const LINES: &[(&str, &str)] = &[
    // Plain words and separators.
    ("", ""),
    ("   ", ""),
    ("ls", "ls"),
    ("ls -la /tmp", "ls,-la,/tmp"),
    ("a && b", "a ; b"),
    ("a||b", "a ; b"),
    ("a;b;", "a ; b"),
    ("a | b |& c", "a ; b ; c"),
    ("a & b &", "a ; b"),
    ("a\nb\r\nc", "a ; b ; c"),
    ("a \\\n b", "a,b"),
    ("! a", "a"),
    // Quotes.
    ("echo 'a && b'", "echo,a && b"),
    ("echo \"a ; b\"", "echo,a ; b"),
    ("echo a\\ b \\&\\& c", "echo,a b,&&,c"),
    ("echo $'a\\n\\'b; c'", "echo,a\n'b; c"),
    ("echo $\"a|b\"", "echo,a|b"),
    ("echo \"a \\\" b\" c", "echo,a \" b,c"),
    ("echo \"C:\\dir\"", "echo,C:\\dir"),
    ("echo a'b'\"c\"d", "echo,abcd"),
    ("echo ''", "echo,"),
    ("echo 'open", "echo,open"),
    ("echo \"open", "echo,open"),
    ("'git' push", "git,push"),
    ("echo 日本 && ls ü", "echo,日本 ; ls,ü"),
    // Comments.
    ("a # b && c", "a"),
    ("# a\nb", "b"),
    ("a b#c", "a,b#c"),
    // Redirections.
    ("a > out 2>&1", "a"),
    ("a >>out <in b", "a,b"),
    ("a &> all", "a"),
    ("a 2>/dev/null | b", "a ; b"),
    ("a <<< 'b; c' d", "a,d"),
    ("> out a", "a"),
    ("a 2 > out", "a,2"),
    ("a >| out; b", "a ; b"),
    // Documents.
    ("cat <<EOF\na && b\nEOF\nc", "cat ; c"),
    ("cat <<'E O'\nx\nE O\nc", "cat ; c"),
    ("cat <<-EOF > f\n\tx\n\tEOF\nc", "cat ; c"),
    ("cat <<A <<B\n1\nA\n2\nB\nc", "cat ; c"),
    ("cat <<EOF\ngit push", "cat"),
    // Groups and words of the language.
    ("(a; b) && { c; d; }", "a ; b ; c ; d"),
    ("((1 + 2)) && a", "a"),
    ("if a; then b; else c; fi", "a ; b ; c"),
    ("for f in a b; do rm $f; done", "rm,$f"),
    ("for ((i=0; i<3; i++)); do a; done", "a"),
    ("while read -r l; do echo \"$l\"; done < f", "read,-r,l ; echo,$l"),
    ("case $x in a) b;; c|d) e;; esac", "b ; c ; e"),
    ("f() { a; }; f", "a ; f"),
    ("function f { a; }", "a"),
    ("[[ -f a && b > c ]] && d", "[[,-f,a,b,c,]] ; d"),
    ("[ -f a ] && b", "[,-f,a,] ; b"),
    // Substitutions.
    ("echo $(a b) c", "a,b ; echo,$(a b),c"),
    ("echo \"x $(a \"y z\") w\"", "a,y z ; echo,x $(a \"y z\") w"),
    ("echo `a b`", "a,b ; echo,`a b`"),
    ("diff <(a) <(b)", "a ; b ; diff,<(a),<(b)"),
    ("echo $((1+2)) ${x:-a b} $y", "echo,$((1+2)),${x:-a b},$y"),
    ("x=$(a) b", "a ; b"),
    // Assignments.
    ("A=1 B='x y' c", "c"),
    ("A=1", ""),
    ("a=(x y) b", "b"),
    ("'A=1' c", "A=1,c"),
    ("c A=1", "c,A=1"),
    // Wrappers.
    ("sudo -u me git push", "git,push"),
    ("env -u X A=1 git push", "git,push"),
    ("time -p a", "a"),
    ("nohup a &", "a"),
    ("timeout -k 5 10 a b", "a,b"),
    ("xargs -n 1 a b", "a,b"),
    ("command git push", "git,push"),
    ("command -v git", "command,-v,git"),
    ("nice -n 5 ionice -c 3 a", "a"),
    ("sudo", "sudo"),
    ("exec > log", "exec"),
    ("/usr/bin/git push", "git,push"),
    // Shells in shells.
    ("bash -c 'a && b c'", "a ; b,c"),
    ("sh -lc \"a; sh -c 'b'\"", "a ; b"),
    ("bash -o pipefail -c 'a | b'", "a ; b"),
    ("bash script.sh -c x", "bash,script.sh,-c,x"),
    ("su me -c 'a b'", "a,b"),
    ("eval \"a && b\"", "a ; b"),
    ("bash -c", "bash,-c"),
    // Unbalanced brackets, and operators without operands.
    (")", ""),
    ("a )", ""),
    ("$(", "$("),
    ("a ${x", "a,${x"),
    ("&& || ;; |", ""),
    ("a >", "a"),
    ("a <<", "a"),
];

/// @capture_commands
#[test]
fn a_line_is_split_as_a_shell_splits_it() {
    for (line, expected) in LINES {
        assert_eq!(told(line), *expected, "{line:?}");
    }
}

/// @capture_commands
#[test]
fn git_subcommands_are_read_and_dry_runs_do_not_count() {
    let message = "git commit -m \"$(cat <<'EOF'\nfix: a && b\n\ngit push later (it's \"fine\")\nEOF\n)\" && ls";
    let table = [
        ("git commit -m x", "commit"),
        ("git -C dir commit", "commit"),
        ("git -c x=y commit -m \"a && b\"", "commit"),
        ("git --git-dir=/x --no-pager commit", "commit"),
        ("git --work-tree /x commit", "commit"),
        ("cd a && git add . && git commit -qm x", "add commit"),
        ("git log --grep commit", "log"),
        ("git log | grep push", "log"),
        ("echo \"git push\"", ""),
        ("git push origin HEAD", "push"),
        ("GIT_SSH=x sudo git push", "push"),
        ("bash -c 'git push'", "push"),
        ("git stash push", "stash"),
        ("git", ""),
        ("git --version", ""),
        ("digit commit", ""),
        (message, "commit"),
    ];
    for (line, expected) in table {
        let commands = commands(line);
        let told: Vec<&str> = commands.iter().filter_map(Simple::git_command).collect();
        assert_eq!(told.join(" "), expected, "{line}");
    }
    let does = |line: &str, what: &str| commands(line).iter().any(|command| command.is_git(what));
    for rehearsal in [
        "git push --dry-run",
        "git push --dry",
        "git push -n",
        "git push origin main -n",
        "git -C /w push -fn origin",
        "git push -o ci.skip -n",
        "git push -h",
    ] {
        assert!(!does(rehearsal, "push"), "{rehearsal}");
    }
    for real in ["git push -f", "git push -o -n", "git push -ono", "git push -- -n", "git push"] {
        assert!(does(real, "push"), "{real}");
    }
    for rehearsal in ["git commit --dry-run -m x", "git commit --porcelain", "git commit --short"] {
        assert!(!does(rehearsal, "commit"), "{rehearsal}");
    }
    for real in [
        "git commit -n -m x",
        "git commit -anm x",
        "git commit -m -h",
        "git commit -mhello",
        "git commit -Shash -m x",
        "git commit -F notes -- --dry-run",
    ] {
        assert!(does(real, "commit"), "{real}");
    }
    assert!(commands(message).iter().any(|command| command.program == "ls"));
}

const PARTS: &[&str] = &[
    "a", " ", "\n", "\\", "'", "\"", "$", "$(", ")", "(", "((", "))", "`", "{", "}", "${", "&",
    "&&", "|", ";", ";;", "<", ">", "<<", "<<-", "<<<", "EOF", "\nEOF\n", "#", "=", "A=1 ", "$'",
    "$\"", "[[", "]]", "bash -c ", "eval ", "sudo ", "timeout ", "for ", "case ", " in ", "ü",
    "😀", "\0", "\r\n", "2>&1", "<(", "@(", "f() ", "--", "git push",
];

#[test]
fn any_line_is_split_without_harm() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % end
    };
    for _ in 0..20_000 {
        let line: String = (0..below(40)).map(|_| PARTS[below(PARTS.len())]).collect();
        for command in commands(&line) {
            assert!(!command.program.is_empty(), "{line:?}");
        }
    }
}

#[test]
fn a_long_or_deep_line_is_split_in_linear_time() {
    for part in PARTS.iter().chain(&[
        "$(a ",
        "`a ",
        "a;",
        "bash -c '",
        "\"$(",
        "cat <<E\n",
        "a=(",
        "[[ a ",
        "x ( ",
    ]) {
        let line = part.repeat(1_000_000 / part.len());
        let words: usize = commands(&line).iter().map(|command| 1 + command.args.len()).sum();
        assert!(words <= limits::SHELL_LINE_BYTES_MAX, "{part:?}");
    }
}

/// @capture_own_exit
#[test]
fn the_exit_code_of_a_line_belongs_to_the_commands_that_decide_it() {
    let table = [
        ("run", "run"),
        ("cd x && run", "cd run"),
        ("a && run && b", "a run b"),
        ("a; run", "run"),
        ("a\nrun\n", "run"),
        ("a &&\n run", "a run"),
        ("run; a", "a"),
        ("run | tail -5", "tail"),
        ("run 2>&1 |& tee log", "tee"),
        ("yes | run", "run"),
        ("run || true", ""),
        ("run || exit 1", "run exit"),
        ("run || exit 0", ""),
        ("run && a || b", ""),
        ("a || run", ""),
        ("run &", ""),
        ("run & wait", "wait"),
        ("set -o pipefail; run | tail", "run tail"),
        ("set -euo pipefail\nrun | tail\nb", "run tail b"),
        ("set -o pipefail && run 2>&1 | tail -3", "run tail"),
        ("cd x && set -o pipefail && run | tail && b", "cd run tail b"),
        ("run | tail && set -o pipefail", "tail"),
        ("set -e; run; a", "run a"),
        ("set -e; set +e; run; a", "a"),
        ("run | tail; exit ${PIPESTATUS[0]}", "run tail exit"),
        ("run; exit $?", "run exit"),
        ("run; exit 0", "exit"),
        ("(cd x && run)", "cd run"),
        ("(cd x && run) | tail", "tail"),
        ("(run; a) && b", "a b"),
        ("{ run; } 2>&1 | tail", "tail"),
        ("{ a; run; }", "run"),
        ("! run", ""),
        ("time run", "run"),
        ("timeout 60 run -x", "run"),
        ("if run; then a; fi", ""),
        ("for i in 1 2; do run; done", ""),
        ("f() { run; }; a", ""),
        ("echo $(run)", "echo"),
        ("bash -c 'run'", "run"),
        ("bash -c 'run; a' && b", "a b"),
        ("bash -c 'run | tail'", "tail"),
        ("bash -eo pipefail -c 'run | tail; a'", "run tail a"),
        ("bash -lc 'run' | tail", "tail"),
        ("eval 'run || true'", ""),
        ("", ""),
        (")(", ""),
    ];
    for (line, expected) in table {
        let deciding: Vec<String> =
            commands(line).into_iter().filter(|it| it.decides).map(|it| it.program).collect();
        // Without `set` itself, which always succeeds.
        let deciding: Vec<&str> =
            deciding.iter().map(String::as_str).filter(|name| *name != "set").collect();
        assert_eq!(deciding.join(" "), expected, "{line}");
    }
}

#[test]
fn redirected_output_is_marked_as_hidden() {
    let table = [
        ("run", ""),
        ("run 2>&1", ""),
        ("run 2>/dev/null", ""),
        ("run >&1", ""),
        ("run > log", "run"),
        ("run >> log 2>&1", "run"),
        ("run 1>/dev/null", "run"),
        ("run &> log; a", "run"),
        (">log run", "run"),
        ("run | tail", "run"),
        ("run &", "run"),
        ("(a; run) > log; b", "a run"),
        ("{ a; run; } > log; b", "a run"),
        ("x=$(run)", "run"),
        ("bash -c 'run' | cat", "run"),
        ("run <in", ""),
        ("echo a1>log; b", "echo"),
    ];
    for (line, expected) in table {
        let hidden: Vec<String> =
            commands(line).into_iter().filter(|it| it.hidden).map(|it| it.program).collect();
        assert_eq!(hidden.join(" "), expected, "{line}");
    }
}

#[test]
fn deeply_nested_groups_are_handled() {
    for piece in ["(", "{ ", "(a;", "a && ("] {
        let line = piece.repeat(20_000);
        commands(&line);
        commands(&format!("{line} run {}", ")".repeat(20_000)));
    }
}
