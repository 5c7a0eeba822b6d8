//! URLs: as git's config has them, normalised, and compared.

use super::Folder;
use crate::{REMOTE_BYTES_MAX, RepoName, normal_remote};

#[test]
fn a_config_is_read_as_git_reads_it() {
    let configs = [
        "[remote \"origin\"]\n\turl = https://h.org/a/b\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
        "; c\n[REMOTE \"origin\"] URL=https://h.org/a/b # why\n",
        "[remote \"origin\"]\r\n  url  =   https://h.org/a/b   \r\n",
        "\u{feff}[remote.origin]\nurl = https://h.org/a/b",
        "[remote \"origin\"]\nurl = \"https://h.org/a#b;c\" ; rest\n",
        "[remote \"origin\"]\nurl = https://h.org/\\\na/b\n",
        "[remote \"origin\"]\nurl = \"/with \\\"quotes\\\" and \\\\ \"tail\n",
        "[core]\nbare\n[remote \"or\\igin\"]\nurl = https://h.org/a/b\n",
        "[remote \"Origin\"]\nurl = https://h.org/no\n[remote \"origin\"]\nurl = /b/c\n",
        "[remote \"x\"]\npush = main\n[branch \"main\"]\nremote = origin\n[remote \"origin\"]\nurl = /b\n",
        "[url \"https://g.org/\"]\ninsteadOf = https://h.org/\ninsteadof = x:\n[remote \"origin\"]\nurl = x:a/b\n",
        "[url \"one:\"]\ninsteadOf = h\n[url \"two:\"]\ninsteadOf = ht\ninsteadOf = https://h.org\n[remote \"origin\"]\nurl = https://h.org/a/b\n",
        "[url \"one:\"]\ninsteadOf = ht\n[url \"two:\"]\ninsteadOf = ht\n[remote \"origin\"]\nurl = https://h.org/a/b\n",
        "[url \"one:\"]\npushInsteadOf = ht\n[remote \"origin\"]\nurl = https://h.org/a/b\n",
        "[url \"one:\"]\ninsteadOf = \"\"\n[remote \"origin\"]\nurl = https://h.org/a/b\n",
        "[url \"https://h.org/a/b\"]\ninsteadOf = me\n[remote \"origin\"]\nurl = me\n",
        "[core]\neditor = a\\bb\\tc\\nd\n[remote \"origin\"]\nurl = /b\n",
        "[include]\npath = elsewhere\n[remote \"origin\"]\nurl = /b\n",
    ];
    let folder = Folder::with_repository();
    folder.write("repo/.git/elsewhere", "[core]\n");
    for config in configs {
        folder.write("repo/.git/config", config);
        let facts = folder.agreed("repo");
        assert!(facts.remote.is_some(), "{config}");
    }
}

#[test]
fn origin_wins_then_the_only_remote() {
    let folder = Folder::with_repository();
    assert_eq!(folder.facts("repo").remote, None);
    folder.git("repo", &["remote", "add", "upstream", "https://h.org/up/repo"]);
    assert_eq!(folder.facts("repo").repo(), "https://h.org/up/repo");
    folder.git("repo", &["remote", "add", "fork", "https://h.org/me/repo"]);
    assert_eq!(folder.facts("repo").remote, None);
    folder.git("repo", &["remote", "add", "origin", "https://h.org/org/repo"]);
    folder.git("repo", &["remote", "set-url", "--add", "origin", "https://h.org/mirror/repo"]);
    assert_eq!(folder.facts("repo").repo(), "https://h.org/org/repo");
}

#[test]
fn without_a_remote_the_name_is_the_path_of_the_main_work_tree() {
    let folder = Folder::with_repository();
    let name = |path: &str| format!("file://{}", folder.join(path).display());
    assert_eq!(folder.facts("repo").repo(), name("repo"));
    folder.git("repo", &["worktree", "add", "-q", "-b", "dev", "../other"]);
    assert_eq!(folder.facts("other").repo(), name("repo"));
    folder.git("", &["clone", "-q", "repo", "copy"]);
    assert_eq!(folder.facts("copy").repo(), name("repo"));
    folder.git("copy", &["remote", "set-url", "origin", "../repo/./x/.."]);
    assert_eq!(folder.facts("copy").repo(), name("repo"));
}

#[test]
fn an_address_has_one_spelling() {
    let rows = [
        ("git@github.com:Org/repo.git", "github.com/Org/repo"),
        ("ssh://git@github.com/Org/repo", "github.com/Org/repo"),
        ("https://user:token@github.com/Org/repo.git/", "github.com/Org/repo"),
        ("https://GitHub.com:443/Org/repo", "github.com/Org/repo"),
        ("git://github.com:9418/Org/repo.git", "github.com/Org/repo"),
        ("ssh://git@Host.org:22/~me/repo", "host.org/~me/repo"),
        ("me@host.org:/~me/repo", "host.org/~me/repo"),
        ("ssh://git@host.org:2222/a/b.git", "host.org:2222/a/b"),
        ("ssh://git@host.org:443/a/b.git", "host.org:443/a/b"),
        ("https://host.org:/a/b", "host.org/a/b"),
        ("host.org:a/b/c", "host.org/a/b/c"),
        ("me@host.org:/srv/a.git", "host.org/srv/a"),
        ("[::1]:a/b.git", "[::1]/a/b"),
        ("git@[::1]:a/b", "[::1]/a/b"),
        ("ssh://git@[::1]:22/a/b", "[::1]/a/b"),
        ("ssh://git@[fe80::]:2200/a/b", "[fe80::]:2200/a/b"),
        ("https://gitlab.com/group/sub/repo.git", "gitlab.com/group/sub/repo"),
        ("https://h.org/@scope/repo", "h.org/@scope/repo"),
        ("/srv/git/repo.git/", "/srv/git/repo"),
        ("/srv/repo/.git", "/srv/repo"),
        ("file:///srv/git/repo", "/srv/git/repo"),
        ("file:///srv/git/re%70o", "/srv/git/repo"),
        ("file://github.com/acme/secret", "/acme/secret"),
        ("c:/code/repo.git", "c/code/repo"),
        ("/", "/"),
    ];
    for (url, normal) in rows {
        assert_eq!(normal_remote(url).as_deref(), Some(normal), "{url}");
    }
    let longest =
        format!("https://h.org/{}", "a".repeat(REMOTE_BYTES_MAX - "https://h.org/".len()));
    assert_eq!(normal_remote(&longest).as_deref(), longest.strip_prefix("https://"));
}

#[test]
fn an_ambiguous_url_has_no_normal_form() {
    let long = format!("https://h.org/{}", "a".repeat(REMOTE_BYTES_MAX));
    let refused = [
        "",
        "../sibling",
        "~/repo",
        "https://h.org",
        "https://h.org/",
        "git@h.org:",
        "git@h.org:/",
        "  https://h.org/a/b",
        "git@h.org:a?b",
        "git@h.org:a#b",
        "https://h.org/a/b?c",
        "https://h.org/a/b?",
        "https://h.org/a/b#c",
        "-oProxyCommand=x@h.org:a/b",
        "ssh://-oProxyCommand=x@h.org/a/b",
        "a@b@h.org:a/b",
        "a b@h.org:a/b",
        "ssh://me:word@h.org/~/a",
        "/srv/@[x]/y",
        &long,
    ];
    for url in refused {
        assert_eq!(normal_remote(url), None, "{url}");
    }
}

/// A relative path starts in the home directory of the login.
#[test]
fn a_login_is_part_of_a_path_in_its_home_directory() {
    let rows = [
        ("alice@host.org:x", "host.org/~alice/x"),
        ("mallory@host.org:x", "host.org/~mallory/x"),
        ("mallory@host.org:~alice/x", "host.org/~alice/x"),
        ("ssh://host.org/~alice/x.git", "host.org/~alice/x"),
        ("alice@host.org:~/x", "host.org/~alice/x"),
        ("ssh://alice@host.org/~/x", "host.org/~alice/x"),
        ("alice@[host.org:2222]:x", "host.org:2222/~alice/x"),
        // A login does not matter for an absolute path, nor at a forge.
        ("alice@host.org:/srv/x", "host.org/srv/x"),
        ("ssh://alice@host.org/srv/x", "host.org/srv/x"),
        ("org-4711@github.com:acme/x", "github.com/acme/x"),
        ("git@host.org:acme/x", "host.org/acme/x"),
        ("gitea@host.org:acme/x", "host.org/acme/x"),
    ];
    for (url, normal) in rows {
        assert_eq!(normal_remote(url).as_deref(), Some(normal), "{url}");
    }
}

/// A URL without a path names no repository, and the text before an `@` may be a password.
#[test]
fn no_credential_survives() {
    for url in [
        "https://user:hunter2@h.org/a/b",
        "https://hunter2@h.org/a/b",
        "ssh://hunter2:hunter2@h.org/a/b",
        "ssh://user:p@hunter2@h.org/a/b",
    ] {
        assert_eq!(normal_remote(url).as_deref(), Some("h.org/a/b"), "{url}");
    }
    for url in [
        "https://user:p@hunter2@h.org/a/b",
        "https://user:hun/hunter2@h.org/a/b",
        "https://user:443/hunter2@h.org/a/b",
        "https://user:443/hun/hunter2@h.org/a/b",
        "https://user:pa#hunter2@h.org/a/b",
        "https://h.org/a/b?private_token=hunter2",
        "https://h.org/a/b.git#hunter2",
        "https://user:hunter2",
        "ssh://user:22%2fhunter2@h.org/a/b",
        "user:hunter2@h.org:a/b",
    ] {
        assert_eq!(normal_remote(url), None, "{url}");
    }
}

#[test]
fn a_repository_is_the_same_in_all_its_spellings() {
    let same = [
        ("git:org/repo", "git:org/repo"),
        ("org/repo", "git:org/repo"),
        ("github.com/org/repo", "git:org/repo"),
        ("localhost:3000/org/repo", "git:org/repo"),
        ("https://github.com/org/repo.git", "git:org/repo"),
        ("git@github.com:org/repo.git", "git:org/repo"),
        ("git@github.com:org/repo.git", "https://github.com/org/repo"),
        ("git://github.com/org/repo", "github.com/org/repo"),
        ("gitlab.com/group/sub/repo", "git:group/sub/repo"),
        ("git:my.group/sub/repo", "https://gitlab.com/my.group/sub/repo"),
        ("file:///srv/repo/", "file:///srv/repo"),
        ("/srv/repo.git", "file:///srv/repo"),
        ("HTTPS://GitHub.com/org/repo", "https://github.com/org/repo"),
        ("ssh://git@h.org:443/org/repo", "ssh://me@h.org:443/org/repo"),
        ("anything", "anything"),
    ];
    let other = [
        ("git:org/repo", "git:org/other"),
        ("git:repo", "git:org/repo"),
        ("git:Org/repo", "git:org/repo"),
        ("https://gitlab.com/org/repo", "https://github.com/org/repo"),
        ("https://github.com:8443/org/repo", "https://github.com/org/repo"),
        ("ssh://git@h.org:443/org/repo", "https://h.org/org/repo"),
        ("https://evil.example:/@github.com/org/repo", "https://github.com/org/repo"),
        ("git@evil.example:@github.com:org/repo", "git@github.com:org/repo"),
        ("file:///srv/repo", "git:srv/repo"),
        ("git:", "git:org/repo"),
        ("me@github.com/org/repo", "git:org/repo"),
    ];
    let is = |one: &str, two: &str| RepoName::parse(one).is(&RepoName::parse(two));
    for (one, two) in same {
        assert!(is(one, two) && is(two, one), "{one} {two}");
    }
    for (one, two) in other {
        assert!(!is(one, two) && !is(two, one), "{one} {two}");
    }
}
